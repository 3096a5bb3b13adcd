import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Server, startPostgres } from '../../../../scripts/servers/index.ts'
import { connect } from '../../src/index.ts'
import { migrator, postgres } from '../../src/postgres.ts'
import { ECHO, failure, openFor } from './postgres-connection-kit.ts'
import { afterwards } from './sqlite-kit.ts'

/** Mistakes in the URL of a PostgreSQL store, and in what is done with it: each error names its fix. */
describe('mistakes with PostgreSQL', () => {
  let server: Server
  before(async () => {
    server = await startPostgres({ settings: { fsync: 'off' } })
  })
  after(() => server.stop())

  const changed = (change: (url: URL) => void): string => {
    const url = new URL(server.url)
    change(url)
    return url.href
  }
  const told = async (promise: Promise<unknown>): Promise<string> => {
    const error = await failure(promise)
    return `${error.code}: ${error.message} ${(error as { hint?: string }).hint}`
  }

  test('a database that does not exist', async (context) => {
    const url = changed((to) => {
      to.pathname = '/nope'
    })
    assert.match(
      await told(openFor(context, url).ask(ECHO, [''])),
      /^STORE_NOT_FOUND: .*"nope" does not exist\. Create it, or check its name in the URL\.$/,
    )
  })

  test('a server without TLS', async (context) => {
    const url = changed((to) => to.searchParams.set('sslmode', 'require'))
    const database = openFor(context, url, { timeoutMs: 300 })
    assert.match(
      await told(database.ask(ECHO, [''])),
      /does not support SSL.* sslmode=disable: this server has no TLS\.$/,
    )
  })

  test('a host that accepts connections and gives no answer', async (context) => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    afterwards(context, () => void silent.close())
    const { port } = silent.address() as AddressInfo
    const database = openFor(context, `postgres://127.0.0.1:${port}/x`, { timeoutMs: 200 })
    assert.match(
      await told(database.ask(ECHO, [''])),
      /^STORE_UNREACHABLE: .*no answer within \d+ ms, the limit that timeoutMs sets/,
    )
  })

  test('a URL without // is not taken for the default host', () => {
    assert.throws(() => postgres('postgres:127.0.0.1/x'), {
      code: 'STORE_INVALID',
      hint: 'Write postgres://USER@HOST/DATABASE.',
    })
  })

  test('?schema= names the schema of the tables, for the store and for migrations; public is the one of Prisma', async () => {
    const url = changed((to) => to.searchParams.set('schema', 'jobs'))
    const tables = migrator(url)
    assert.equal(tables.schema, 'jobs')
    await tables.up()
    await tables.close()
    const client = await connect({ store: `${url}&application_name=x`, logger: false })
    await client.schedules.create('a', { job: 'a' })
    await client.close()
    assert.equal(migrator(changed((to) => to.searchParams.set('schema', 'public'))).schema, 'cronce')
    assert.equal(migrator(url, { schema: 'other' }).schema, 'other')
    const admin = new pg.Client({ connectionString: server.url })
    await admin.connect()
    const { rows } = await admin.query('select schedule from jobs.schedules')
    await admin.end()
    assert.deepEqual(rows, [{ schedule: 'a' }])
  })

  test('a pool whose database has no tables is named, with the whole command', async (context) => {
    const pool = new pg.Pool({ connectionString: server.url })
    afterwards(context, () => pool.end())
    const text = await told(connect({ store: postgres(pool), logger: false }))
    assert.match(text, /the database of the pool \(postgres:\/\/127\.0\.0\.1:\d+\/postgres\) has no tables of cronce/)
    assert.match(text, /npx cronce migrate up --store URL --runtime ROLE/)
    assert.ok(!text.includes(new URL(server.url).password || '\0'))
  })

  test('a transaction that was idle for too long is reported as such, for every error of its next statement', async (context) => {
    const url = changed((to) => to.searchParams.set('options', '-c idle_in_transaction_session_timeout=200ms'))
    const database = openFor(context, url)
    const wait = (tx: unknown): Promise<unknown> =>
      sleep(1_000).then(() => (tx as { query(text: string): Promise<unknown> }).query('select 1'))
    const expected =
      'STORE_LOST: The transaction was idle for more than 200 ms, and the server ended it. Compute first, open it last.'
    assert.equal(await told(database.transaction(wait)), expected)
    assert.equal(await told(database.transaction(() => sleep(1_000))), expected)
    const error = await failure(
      database.transaction(() => Promise.reject(Object.assign(new Error('mine'), { code: 'X' }))),
    )
    assert.equal(error.message, 'mine')
  })
})
