import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import pg from 'pg'
import { type Server, startPostgres } from '../../../../scripts/servers/index.ts'
import { startProxy } from '../../../../verification/chaos/proxy.ts'
import { type Cronce, cronce } from '../../src/app/cronce.ts'
import type { EventOf } from '../../src/model/event.ts'
import { postgres } from '../../src/store/postgres/postgres.ts'
import { collect, until } from './fleet.ts'
import { createDatabase, openPool } from './postgres-fleet.ts'

const EVERY_MS = 200
/** On a busy machine the server may be away for longer than a hundred fires. */
const MISFIRE = { late: 'all', limit: 1_000 } as const
const MAX_CONNECTIONS = 20

let server: Server
before(async () => {
  server = await startPostgres({ settings: { max_connections: String(MAX_CONNECTIONS) } })
})
after(() => server.stop())

interface Bench {
  readonly url: string
  readonly database: string
  /** The user's own. */
  readonly sql: pg.Pool
  readonly app: Cronce<pg.ClientBase>
  /** Codes of what the store failed with. */
  readonly failures: string[]
  /** All connections of the application end, so that the next ones find what has changed. */
  reconnect(): Promise<void>
  /** Something more than what was done when it was asked has been done. */
  goesOn(): Promise<void>
}

/** An application with a job that writes a row at every fire, however it reaches the server. */
async function startBench(
  context: TestContext,
  open: (url: string) => Parameters<typeof postgres>[0] = (url) => url,
): Promise<Bench> {
  const url = await createDatabase(server.url)
  const sql = openPool(url)
  await sql.query('create table effects (schedule text not null, due_at bigint not null)')
  const app = cronce<pg.ClientBase>({
    store: postgres(open(url), { migrate: 'auto', timeoutMs: 10_000 }),
    logger: false,
    app: 'shop',
    signals: false,
  })
  context.after(async () => {
    await app.stop()
    await sql.end()
  })
  const failures: string[] = []
  app.on('store.failed', ({ error }: EventOf<'store.failed'>) => failures.push(error.code ?? error.message))
  const policy = {
    guarantee: 'exactly-once',
    overlap: 'queue-all',
    misfire: MISFIRE,
    retry: { attempts: 100, backoff: { cap: '1s' } },
  } as const
  app.job('pay', { every: EVERY_MS, ...policy }, async (run) => {
    const { schedule, dueAt } = run.fire
    await run.transaction((tx) => tx.query('insert into effects values ($1, $2)', [schedule, dueAt]))
  })
  await app.start()
  return {
    url,
    database: new URL(url).pathname.slice(1),
    sql,
    app,
    failures,
    reconnect: () => endOthers(server.url, new URL(url).pathname.slice(1)),
    async goesOn() {
      const before = await countEffects(sql)
      await until('it goes on', async () => (await countEffects(sql)) > before + 2)
    },
  }
}

async function countEffects(sql: pg.Pool): Promise<number> {
  const { rows } = await sql.query('select count(*)::int as count from effects').catch(() => ({ rows: [{ count: 0 }] }))
  return rows[0].count
}

/** Every instant from the first until now has one fire that succeeded, and one row. */
async function assertEachOnce({ app, sql }: Bench): Promise<void> {
  const { rows: clock } = await sql.query('select floor(extract(epoch from now()) * 1000) as now')
  const now = Number(clock[0].now)
  const isOver = async (): Promise<boolean> => {
    const { nextAt, open } = await app.schedules.get('pay')
    return nextAt! > now && open.every(({ dueAt }) => dueAt > now)
  }
  // After a long outage hundreds of fires run one after the other: no limit on all of them, only on the next one.
  while (!(await isOver())) {
    const before = await countEffects(sql)
    await until('one more fire is over', async () => (await countEffects(sql)) > before || (await isOver()))
  }
  const { rows } = await sql.query('select due_at from effects where due_at <= $1 order by due_at', [now])
  const paid = rows.map(({ due_at }) => Number(due_at))
  const fires = await collect(app.fires.all({ schedule: 'pay', order: 'earliest', to: now + 1 }))
  assert.deepEqual(
    fires.map(({ dueAt, state, reason }) => [dueAt, state, reason]),
    paid.map((dueAt) => [dueAt, 'succeeded', 'completed']),
  )
  assert.deepEqual(
    paid,
    paid.map((_, index) => paid[0]! + index * EVERY_MS),
  )
}

async function endOthers(admin: string, database: string): Promise<void> {
  const client = new pg.Client(admin)
  await client.connect()
  await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [database])
  await client.end()
}

async function asAdmin(...statements: string[]): Promise<void> {
  const client = new pg.Client(server.url)
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

/** Set for the whole database, and effective for new connections. */
const SETTINGS: Readonly<Record<string, readonly [set: string, reset: string, code: string]>> = {
  'a database that can be read only': [
    'set default_transaction_read_only = on',
    'reset default_transaction_read_only',
    'STORE_READONLY',
  ],
  'a statement_timeout that nothing can keep': [
    `set statement_timeout = '1ms'`,
    'reset statement_timeout',
    'STORE_TIMEOUT',
  ],
}

for (const [name, [set, reset, code]] of Object.entries(SETTINGS)) {
  test(`${name}: reported, waited for, and each fire is run once`, async (context) => {
    const bench = await startBench(context)
    await bench.goesOn()
    await asAdmin(`alter database ${bench.database} ${set}`)
    await bench.reconnect()
    await until('it says so', () => bench.failures.includes(code))
    await asAdmin(`alter database ${bench.database} ${reset}`)
    await bench.reconnect()
    await bench.goesOn()
    await assertEachOnce(bench)
  })
}

for (const level of ['repeatable read', 'serializable']) {
  test(`a database whose transactions are ${level}: fires go on, each once`, async (context) => {
    const bench = await startBench(context)
    await asAdmin(`alter database ${bench.database} set default_transaction_isolation = '${level}'`)
    await bench.reconnect()
    await bench.goesOn()
    await assertEachOnce(bench)
  })
}

test('connections that end at random, all the time: each fire is run once', async (context) => {
  const bench = await startBench(context)
  // Ending an idle connection goes unnoticed, so this repeats until one is noticed.
  for (let turn = 0; turn < 5 || (bench.failures.length === 0 && turn < 80); turn++) {
    await bench.reconnect()
    await bench.goesOn()
  }
  assert.ok(bench.failures.length > 0, 'nothing was noticed')
  await assertEachOnce(bench)
})

test('a server without a connection to spare: reported, waited for, and each fire is run once', async (context) => {
  const bench = await startBench(context)
  await bench.goesOn()
  const hogs: pg.Client[] = []
  const free = () => Promise.all(hogs.splice(0).map((client) => client.end()))
  context.after(free)
  const takePlace = async (): Promise<void> => {
    const hog = new pg.Client(server.url)
    hog.on('error', () => {})
    await hog.connect().then(
      () => hogs.push(hog),
      () => {},
    )
  }
  await until('it says so', async () => {
    await hogs[0]?.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [bench.database])
    // A client that reconnects finds its place taken sooner or later: sooner if many want it.
    await Promise.all(Array.from({ length: MAX_CONNECTIONS / 2 }, takePlace))
    return bench.failures.includes('STORE_FULL_OF_CONNECTIONS')
  })
  await free()
  await bench.goesOn()
  await assertEachOnce(bench)
})

test('a pool that the user has used up: waited for, and each fire is run once', async (context) => {
  let pool: pg.Pool | undefined
  const bench = await startBench(context, (url) => {
    pool = openPool(url)
    return pool
  })
  context.after(() => pool!.end())
  await bench.goesOn()
  const taken = await Promise.all([pool!.connect(), pool!.connect(), pool!.connect()])
  await until('it says so', () => bench.failures.includes('STORE_FULL_OF_CONNECTIONS'))
  for (const client of taken) client.release()
  await bench.goesOn()
  await assertEachOnce(bench)
})

test('user transactions that deadlock: one gives way, is tried again, and all is there once', async (context) => {
  const url = await createDatabase(server.url)
  // Two transactions at a time take more than the connections of a store's own.
  const pool = openPool(url)
  await pool.query('create table accounts (id int primary key, sum int not null)')
  await pool.query('insert into accounts values (1, 0), (2, 0)')
  const app = cronce<pg.ClientBase>({
    store: postgres(pool, { migrate: 'auto' }),
    logger: false,
    app: 'shop',
    signals: false,
  })
  context.after(async () => {
    await app.stop()
    await pool.end()
  })
  const policy = { guarantee: 'exactly-once', retry: { attempts: 5, backoff: { base: 50 } } } as const
  const both = Promise.withResolvers<void>()
  let met = 0
  app.job('move', policy, async (run) => {
    const [first, second] = run.fire.schedule === 'there' ? [1, 2] : [2, 1]
    await run.transaction(async (tx) => {
      await tx.query('update accounts set sum = sum + 1 where id = $1', [first])
      if (++met === 2) both.resolve()
      if (run.attempt === 1) await both.promise
      await tx.query('update accounts set sum = sum + 1 where id = $1', [second])
    })
  })
  await app.start()
  for (const name of ['there', 'back']) await app.schedules.create(name, { job: 'move', ...policy })
  for (const name of ['there', 'back']) await app.schedules.trigger(name)
  await until('both are done', async () => (await collect(app.fires.all({ outcome: 'succeeded' }))).length === 2)
  const { rows } = await pool.query('select sum from accounts')
  assert.deepEqual(
    rows.map(({ sum }) => sum),
    [2, 2],
  )
  const fires = await collect(app.fires.all({}))
  assert.deepEqual(fires.map(({ attempt }) => attempt).sort(), [1, 2])
})

test('a commit whose answer is lost is looked up, and never run again', async (context) => {
  const url = await createDatabase(server.url)
  const sql = openPool(url)
  context.after(() => sql.end())
  await sql.query('create table effects (schedule text not null, due_at bigint not null)')
  const proxy = await startProxy({ host: '127.0.0.1', port: server.port })
  context.after(() => proxy.close())
  const throughProxy = Object.assign(new URL(url), { port: String(proxy.port) }).href
  const pool = openPool(throughProxy)
  context.after(() => pool.end())
  // The answer to the commit is lost: as late as anything can be lost.
  const transaction = async <Value>(work: (tx: pg.PoolClient) => Promise<Value>): Promise<Value> => {
    const client = await pool.connect()
    client.on('error', () => {})
    try {
      await client.query('begin')
      const value = await work(client)
      proxy.mode('lose-answers')
      const committed = client.query('commit')
      committed.catch(() => {})
      await until('it is committed', async () => (await sql.query('select 1 from effects')).rows.length > 0)
      proxy.cut()
      proxy.mode('pass')
      await committed
      return value
    } finally {
      client.release(true)
    }
  }
  const app = cronce<pg.ClientBase>({
    store: postgres(throughProxy, { migrate: 'auto', timeoutMs: 3_000, transaction: transaction as never }),
    logger: false,
    app: 'shop',
    signals: false,
  })
  context.after(() => app.stop())
  let calls = 0
  app.job('pay', { guarantee: 'exactly-once', retry: { attempts: 3 } }, async (run) => {
    calls++
    const { schedule, dueAt } = run.fire
    await run.transaction((tx) => tx.query('insert into effects values ($1, $2)', [schedule, dueAt]))
  })
  await app.start()
  await app.schedules.trigger('pay')
  const fire = await until('it has ended', async () => {
    const [found] = await collect(app.fires.all({ schedule: 'pay' })).catch(() => [])
    return found !== undefined && found.state !== 'open' && found
  })
  assert.deepEqual([fire.state, fire.attempt, calls], ['succeeded', 1, 1])
  assert.equal((await sql.query('select 1 from effects')).rows.length, 1)
  // While there is a way to leave by.
  await app.stop()
})
