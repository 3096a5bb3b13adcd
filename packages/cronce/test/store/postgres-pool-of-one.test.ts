import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { type Server, startPostgres } from '../../../../scripts/servers/index.ts'
import { type Cronce, cronce } from '../../src/index.ts'
import { postgres } from '../../src/postgres.ts'

let server: Server
let pool: pg.Pool
let app: Cronce

before(async () => {
  server = await startPostgres({ settings: { fsync: 'off' } })
  pool = new pg.Pool({ connectionString: server.url, max: 1 })
  app = cronce({ store: postgres(pool, { migrate: 'auto' }), logger: false, signals: false })
  await app.start()
})

after(async () => {
  await app.stop()
  await pool.end()
  await server.stop()
})

/** In a transaction on the only connection of the pool. */
async function inTransaction<Value>(work: (tx: pg.PoolClient) => Promise<Value>): Promise<Value> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    return await work(client)
  } finally {
    await client.query('rollback')
    client.release()
  }
}

const LIMIT = { timeout: 120_000 }

test('a lock within a transaction on the only connection gives up when its wait is over', LIMIT, async () => {
  let entered = 0
  const enter = () => ++entered

  const waiting = inTransaction(() => app.lock('ledger', { wait: '1s' }, enter))

  // Not STORE_FULL_OF_CONNECTIONS, which comes when the store's own patience is over.
  await assert.rejects(waiting, { code: 'LOCK_BUSY' })
  assert.equal(await app.lock('ledger', enter), 1)
})

test('a key within a transaction on the only connection gives up when its wait is over', LIMIT, async () => {
  let calls = 0
  const call = () => ++calls

  const waiting = inTransaction(() => app.once('order-7', { wait: '1s' }, call))

  await assert.rejects(waiting, { code: 'LOCK_BUSY' })
  assert.equal(await app.once('order-7', call), 1)
})

test('a lock gives up when its signal is aborted while the store does not answer', LIMIT, async () => {
  const reason = new Error('the request was cancelled')
  const cancelled = new AbortController()

  const waiting = inTransaction(() => {
    setTimeout(() => cancelled.abort(reason), 200)
    return app.lock('ledger', { signal: cancelled.signal }, () => {})
  })

  await assert.rejects(waiting, reason)
})

test('a schedule of an exactly-once job is made in a transaction on the only connection', LIMIT, async () => {
  const wanted = { job: 'pay', every: '1h', guarantee: 'exactly-once' } as const

  const made = await inTransaction((tx) => app.schedules.create('pay:ada', wanted, { tx }))

  assert.equal(made.policy.guarantee, 'exactly-once')
})
