import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import postgres from 'postgres'
import { type Server, startPgbouncer, startPostgres } from '../../../../scripts/servers/index.ts'
import { startProxy } from '../../../../verification/chaos/proxy.ts'
import type { Database } from '../../src/store/postgres/database.ts'
import type { StoreError } from '../../src/store/store-error.ts'
import { answers, asking, ECHO, eventually, failure, openFor, startWorker } from './postgres-connection-kit.ts'
import { afterwards } from './sqlite-kit.ts'

const PID = asking('select pg_backend_pid()::text as answer')

let server: Server

before(async () => {
  server = await startPostgres({ settings: { fsync: 'off' } })
})

after(() => server.stop())

function withPort(url: string, port: number): string {
  const own = new URL(url)
  own.port = String(port)
  return own.href
}

async function countConnections(database: Database, where = 'true'): Promise<number> {
  const sql = `select count(*)::text as answer from pg_stat_activity
                where backend_type = 'client backend' and pid <> pg_backend_pid() and ${where}`
  return Number(await database.ask(asking(sql), []))
}

describe('connections from a URL', () => {
  test('two for statements and one for the session, however many ask', async (context) => {
    const watcher = openFor(context, server.url, { connections: 1 })
    await watcher.ask(ECHO, [''])
    const before = await countConnections(watcher)
    const database = openFor(context, server.url)
    await database.session()
    const texts = Array.from({ length: 50 }, (_, n) => `${n}`)
    assert.deepEqual(await Promise.all(texts.map((text) => database.ask(ECHO, [text]))), texts)
    assert.equal(await countConnections(watcher), before + 3)
  })

  test('a connection that the server ended is replaced', async (context) => {
    const watcher = openFor(context, server.url)
    const database = openFor(context, server.url)
    const pid = await database.ask(PID, [])
    await watcher.script(`select pg_terminate_backend(${pid})`)
    await eventually('it is gone', async () => (await countConnections(watcher, `pid = ${pid}`)) === 0)
    // A request before this process has noticed is answered as lost.
    await eventually('another one answers', async () => (await database.ask(PID, []).catch(() => pid)) !== pid)
  })

  test('a statement that was under way then has an unknown outcome', async (context) => {
    const watcher = openFor(context, server.url)
    const database = openFor(context, server.url)
    const pid = await database.ask(PID, [])
    const asked = failure(database.ask(asking("select pg_sleep(60)::text || 'x' as answer"), []))
    await eventually('it sleeps', async () => (await countConnections(watcher, `wait_event = 'PgSleep'`)) === 1)
    await watcher.script(`select pg_terminate_backend(${pid})`)
    const { code, notApplied } = await asked
    assert.deepEqual([code, notApplied], ['STORE_LOST', false])
    assert.equal(await database.ask(ECHO, ['again']), 'again')
  })

  test('a call during a restart of the server gets an answer when it is back', async (context) => {
    const database = openFor(context, server.url)
    await database.ask(ECHO, [''])
    await server.kill()
    // The first request may be sent before this process learns that its connection has ended.
    const asked = database.ask(ECHO, ['patient']).catch((error: unknown) => {
      assert.equal((error as StoreError).code, 'STORE_LOST')
      return database.ask(ECHO, ['patient'])
    })
    await server.restart()
    assert.equal(await asked, 'patient')
  })

  test('an unreachable server is reported, without the password', async (context) => {
    const password = new URL(server.url).password
    const database = openFor(context, withPort(server.url, 1), { timeoutMs: 200 })
    const error = await failure(database.ask(ECHO, ['']))
    assert.deepEqual([error.code, error.notApplied], ['STORE_UNREACHABLE', true])
    assert.ok(!`${error.message} ${database.name} ${JSON.stringify(error)}`.includes(password))
  })

  test('a wrong password is reported at once, and not tried again', async (context) => {
    const url = new URL(server.url)
    url.password = 'wrong'
    const { code, notApplied } = await failure(openFor(context, url.href).ask(ECHO, ['']))
    assert.deepEqual([code, notApplied], ['STORE_FORBIDDEN', true])
  })

  test('a call that waits too long for a connection has sent nothing', async (context) => {
    const database = openFor(context, server.url, { timeoutMs: 1_500 })
    // Both connections are there: making one takes longer than the deadline on a busy machine.
    await Promise.all([answers(database), answers(database)])
    const slow = asking("select pg_sleep(6)::text || 'x' as answer")
    const [first, second, third] = await Promise.all(
      [slow, slow, ECHO].map((statement) => failure(database.ask(statement, statement === ECHO ? [''] : []))),
    )
    assert.deepEqual([first!.code, first!.notApplied], ['STORE_SILENT', false])
    assert.deepEqual([second!.code, second!.notApplied], ['STORE_SILENT', false])
    // Whether it still waited for a used connection or already for a new one depends on a millisecond.
    assert.match(third!.code, /^STORE_(FULL_OF_CONNECTIONS|UNREACHABLE)$/)
    assert.equal(third!.notApplied, true)
  })

  test('a server without connections to spare is reported as full', async (context) => {
    const url = new URL(server.url)
    url.username = 'limited'
    const watcher = openFor(context, server.url)
    await watcher.script(`create role limited login password '${url.password}' connection limit 1`)
    const other = new pg.Client(url.href)
    await other.connect()
    const database = openFor(context, url.href, { timeoutMs: 1_500 })
    const { code, notApplied } = await failure(database.ask(ECHO, ['']))
    assert.deepEqual([code, notApplied], ['STORE_FULL_OF_CONNECTIONS', true])
    await other.end()
    await answers(database)
  })

  test('calls on a closed database, and calls that wait in it, fail with STORE_CLOSED', async (context) => {
    const database = openFor(context, server.url)
    await database.ask(ECHO, [''])
    const slow = Array.from({ length: 3 }, () => failure(database.ask(asking('select pg_sleep(60)::text'), [])))
    await database.close()
    assert.deepEqual(
      (await Promise.all(slow)).map(({ code }) => code),
      ['STORE_LOST', 'STORE_CLOSED', 'STORE_CLOSED'],
    )
    assert.equal((await failure(database.ask(ECHO, ['']))).code, 'STORE_CLOSED')
  })

  test('a process that leaves it open can end', async (context) => {
    const worker = startWorker(context, { task: 'leave open', url: server.url })
    const exited = once(worker.process, 'exit')
    assert.equal(await worker.said(), 'done')
    assert.deepEqual(await exited, [0, null])
  })

  test('without pg it is postgres.js that does it all', async (context) => {
    const worker = startWorker(context, { task: 'ask', url: server.url }, ['pg'])
    assert.deepEqual(await worker.said(), ['asked', 'transacted', 'heard', true])
  })

  test('without a driver it reports how to get one', async (context) => {
    const worker = startWorker(context, { task: 'ask', url: server.url }, ['pg', 'postgres'])
    assert.match(String(await worker.said()), /^STORE_DRIVER_MISSING: .*pg was looked for in \//)
  })
})

describe('a network that swallows', () => {
  for (const [driver, open] of Object.entries({
    'a URL': (url: string) => url,
    'a pool of pg': (url: string) => new pg.Pool({ connectionString: url }),
    'postgres.js': (url: string) => postgres(url, { max: 1 }),
  })) {
    test(`the answer to ${driver}: the outcome is unknown, and the next call works`, async (context) => {
      const proxy = await startProxy({ host: '127.0.0.1', port: server.port })
      afterwards(context, () => proxy.close())
      const watcher = openFor(context, server.url)
      await watcher.script('create table if not exists kept (text text)')
      const target = open(withPort(server.url, proxy.port))
      if (typeof target !== 'string') afterwards(context, () => target.end())
      const database = openFor(context, target, { timeoutMs: 1_200 })
      const keep = { name: 'keep', sql: 'insert into kept values ($1::text) returning text as answer' }
      await answers(database)
      proxy.mode('lose-answers')
      const { code, notApplied } = await failure(database.ask(keep, [driver]))
      assert.deepEqual([code, notApplied], ['STORE_SILENT', false])
      proxy.mode('pass')
      const count = asking(`select count(*)::text as answer from kept where text = '${driver}'`)
      // postgres.js first asks for the types of parameters, and so loses the answer to that.
      assert.equal(await watcher.ask(count, []), driver === 'postgres.js' ? '0' : '1')
      await answers(database)
    })
  }

  test('the connection: a session notices it by itself', async (context) => {
    const proxy = await startProxy({ host: '127.0.0.1', port: server.port })
    afterwards(context, () => proxy.close())
    const database = openFor(context, withPort(server.url, proxy.port), { timeoutMs: 1_000 })
    const session = (await database.session())!
    const changes: string[] = []
    session.onChange((change) => changes.push(change))
    proxy.mode('black-hole')
    await session.hold(1n)
    assert.equal(session.isHolding(), false)
    await eventually('it is lost', () => changes.includes('lost'))
    proxy.mode('pass')
    await eventually('it holds again', () => session.isHolding())
    assert.deepEqual(changes, ['lost', 'back'])
  })
})

describe('errors of the server, in our words', () => {
  const cases = {
    '40001': 'STORE_CONFLICT',
    '40P01': 'STORE_CONFLICT',
    '55P03': 'STORE_CONFLICT',
    '57014': 'STORE_TIMEOUT',
    '25006': 'STORE_READONLY',
    '42501': 'STORE_FORBIDDEN',
    '42P01': 'STORE_NOT_MIGRATED',
    '3F000': 'STORE_NOT_MIGRATED',
    '53100': 'STORE_FULL',
    '53400': 'STORE_FULL_OF_CONNECTIONS',
    '22012': 'STORE_REFUSED',
    '22021': 'STORE_REFUSED',
    '54000': 'STORE_REFUSED',
    '53200': 'STORE_FAILED',
    '58030': 'STORE_FAILED',
    XX000: 'STORE_FAILED',
  }
  for (const [state, code] of Object.entries(cases)) {
    test(`${state} is ${code}, and nothing was written`, async (context) => {
      const database = openFor(context, server.url)
      const script = `do $$ begin raise exception 'no' using errcode = '${state}'; end $$`
      const error = await failure(database.script(script))
      assert.deepEqual([error.code, error.notApplied], [code, true])
      assert.ok('hint' in error && typeof error.hint === 'string')
      assert.equal(await database.ask(ECHO, ['again']), 'again')
    })
  }

  test('a standby or a demoted primary is not asked twice on the same connection', async (context) => {
    const database = openFor(context, server.url)
    const pid = await database.ask(PID, [])
    const { code } = await failure(database.script('begin read only; create table no (a int)'))
    assert.equal(code, 'STORE_READONLY')
    assert.notEqual(await database.ask(PID, []), pid)
  })
})

describe("the user's own", () => {
  test('pool of pg serves, is not closed, and its losses do not end the process', async (context) => {
    const pool = new pg.Pool({ connectionString: server.url, max: 2 })
    afterwards(context, () => pool.end())
    const database = openFor(context, pool)
    const watcher = openFor(context, server.url)
    const pid = await database.ask(PID, [])
    await watcher.script(`select pg_terminate_backend(${pid})`)
    await eventually('it is gone', () => pool.totalCount === 0)
    assert.equal(await database.ask(ECHO, ['more']), 'more')
    await database.close()
    assert.equal((await pool.query('select 1 as one')).rows[0].one, 1)
  })

  test('pool that is used up is reported; nothing was sent', async (context) => {
    const pool = new pg.Pool({ connectionString: server.url, max: 1 })
    afterwards(context, () => pool.end())
    const database = openFor(context, pool, { timeoutMs: 800 })
    const client = await pool.connect()
    const { code, notApplied } = await failure(database.ask(ECHO, ['']))
    assert.deepEqual([code, notApplied], ['STORE_FULL_OF_CONNECTIONS', true])
    client.release()
    await answers(database)
  })

  test('sql of postgres.js serves, and is not closed', async (context) => {
    const sql = postgres(server.url, { max: 2 })
    afterwards(context, () => sql.end())
    const database = openFor(context, sql)
    assert.equal(await database.ask(ECHO, ['asked']), 'asked')
    assert.equal(await database.transaction((tx) => database.askIn(tx, ECHO, ['in'])), 'in')
    assert.ok(await database.session())
    await database.close()
    assert.deepEqual([...(await sql`select 1 as one`)], [{ one: 1 }])
  })

  test('query function serves for statements, and for nothing else', async (context) => {
    const pool = new pg.Pool({ connectionString: server.url, max: 1 })
    afterwards(context, () => pool.end())
    const warnings: string[] = []
    const query = (text: string, values?: unknown[]) => pool.query(text, values)
    const database = openFor(context, { query }, { warn: (code) => warnings.push(code) })
    assert.equal(await database.ask(ECHO, ['asked']), 'asked')
    assert.equal(database.transactions, false)
    assert.equal((await failure(database.transaction(async () => {}))).code, 'STORE_CANNOT_TRANSACT')
    assert.deepEqual([await database.session(), await database.session()], [null, null])
    assert.deepEqual(warnings, ['STORE_NO_LOCK'])
  })
})

describe('prepared statements', () => {
  const prepared = asking("select count(*)::text as answer from pg_prepared_statements where name like 'cronce%'")

  test('are used on a direct connection', async (context) => {
    const database = openFor(context, server.url, { connections: 1 })
    await database.ask(ECHO, [''])
    await database.ask(ECHO, [''])
    assert.equal(await database.ask(prepared, []), '2')
  })

  test('are not used through a pooler, or when they are not wanted', async (context) => {
    const bouncer = await startPgbouncer({ upstream: server, poolSize: 1 })
    afterwards(context, () => bouncer.stop())
    for (const [url, prepare] of [
      [bouncer.url, undefined],
      [server.url, false],
    ] as const) {
      const database = openFor(context, url, { prepare, connections: 1 })
      await database.ask(ECHO, [''])
      assert.equal(await database.ask(prepared, []), '0')
    }
  })

  test('that were removed are not needed', async (context) => {
    const database = openFor(context, server.url, { connections: 1 })
    await database.ask(ECHO, [''])
    await database.script('deallocate all')
    const { notApplied } = await failure(database.ask(ECHO, ['']))
    assert.equal(notApplied, true)
    assert.equal(await database.ask(ECHO, ['again']), 'again')
  })
})
