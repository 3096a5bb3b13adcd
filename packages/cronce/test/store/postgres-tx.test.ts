import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import { drizzle as drizzleOnPg } from 'drizzle-orm/node-postgres'
import { drizzle as drizzleOnPostgresJs } from 'drizzle-orm/postgres-js'
import knexOn from 'knex'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import postgres from 'postgres'
import { type Server, startPostgres } from '../../../../scripts/servers/index.ts'
import { startProxy } from '../../../../verification/chaos/proxy.ts'
import type { Database } from '../../src/store/postgres/database.ts'
import { asking, ECHO, eventually, failure, openFor } from './postgres-connection-kit.ts'
import { afterwards } from './sqlite-kit.ts'

/** Question marks and repeated parameters, which libraries rewrite. */
const KEEP = {
  name: 'keep',
  sql: `insert into kept select $1::text where '{"a?":1}'::jsonb ? 'a?' and $1::text <> $2::text returning text as answer`,
}

let server: Server
let pool: pg.Pool

before(async () => {
  server = await startPostgres({ settings: { fsync: 'off' } })
  pool = new pg.Pool({ connectionString: server.url, max: 3 })
  await pool.query('create table kept (text text)')
})

after(async () => {
  await pool.end()
  await server.stop()
})

async function kept(text: string): Promise<number> {
  const { rows } = await pool.query('select from kept where text = $1', [text])
  return rows.length
}

async function sessionsOf(application: string): Promise<number> {
  const { rows } = await pool.query('select from pg_stat_activity where application_name = $1', [application])
  return rows.length
}

type Tx = { query(text: string): Promise<unknown> }

function transaction<Value>(database: Database, work: (tx: Tx) => Promise<Value>): Promise<Value> {
  return database.transaction((tx) => work(tx as Tx))
}

describe('a statement in a transaction of', () => {
  const sql = () => postgres(server.url, { max: 1, onnotice: () => {} })
  const libraries: Record<
    string,
    (context: TestContext) => [object, (work: (tx: unknown) => Promise<void>) => unknown]
  > = {
    pg: () => [
      pool,
      async (work) => {
        const client = await pool.connect()
        await client.query('begin')
        await work(client)
        await client.query('commit')
        client.release()
      },
    ],
    'postgres.js': (context) => {
      const db = sql()
      afterwards(context, () => db.end())
      return [db, (work) => db.begin(work)]
    },
    'Drizzle on pg': () => {
      const db = drizzleOnPg(pool)
      return [db, (work) => db.transaction(work)]
    },
    'Drizzle on postgres.js': (context) => {
      const client = sql()
      afterwards(context, () => client.end())
      const db = drizzleOnPostgresJs(client)
      return [db, (work) => db.transaction(work)]
    },
    Kysely: () => {
      const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
      return [db, (work) => db.transaction().execute(work)]
    },
    Knex: (context) => {
      const db = knexOn({ client: 'pg', connection: server.url })
      afterwards(context, () => db.destroy())
      return [db, (work) => db.transaction(work)]
    },
  }
  for (const [name, open] of Object.entries(libraries)) {
    test(`${name} is committed with it; outside of one it is refused`, async (context) => {
      const database = openFor(context, server.url)
      const [outside, begin] = open(context)
      await begin(async (tx) => {
        assert.equal(await database.askIn(tx, KEEP, [name, 'other']), name)
        assert.equal(await kept(name), 0)
      })
      assert.equal(await kept(name), 1)
      assert.equal((await failure(database.askIn(outside, KEEP, [name, 'other']))).code, 'TRANSACTION_NOT_OPEN')
      assert.equal(await kept(name), 1)
    })
  }

  test('no value, or of a value that is not a transaction', async (context) => {
    const database = openFor(context, server.url)
    for (const tx of [null, 1, 'begin', {}, () => {}]) {
      assert.equal((await failure(database.askIn(tx, ECHO, ['']))).code, 'TRANSACTION_NOT_OPEN')
    }
    const client = await pool.connect()
    assert.equal((await failure(database.askIn(client, ECHO, ['']))).code, 'TRANSACTION_NOT_OPEN', 'not begun')
    client.release()
  })
})

describe('a transaction', () => {
  test('that threw is rolled back, and the very error comes out', async (context) => {
    const database = openFor(context, server.url)
    const own = new Error('own')
    const thrown = await transaction(database, async (tx) => {
      await tx.query("insert into kept values ('thrown')")
      throw own
    }).catch((error: unknown) => error)
    assert.equal(thrown, own)
    assert.equal(await kept('thrown'), 0)
  })

  test('in which a statement failed unnoticed is not taken for committed', async (context) => {
    const database = openFor(context, server.url)
    const failed = transaction(database, async (tx) => {
      await tx.query("insert into kept values ('aborted')")
      await tx.query('select 1 / 0').catch(() => {})
    })
    const { code, notApplied } = await failure(failed)
    assert.deepEqual([code, notApplied], ['TRANSACTION_ABORTED', true])
  })

  for (const end of ['commit', 'rollback', 'commit; begin']) {
    test(`that was ended from within by ${end} is noticed`, async (context) => {
      const database = openFor(context, server.url)
      const { code, notApplied } = await failure(
        transaction(database, async (tx) => {
          await tx.query(end)
        }),
      )
      assert.deepEqual([code, notApplied], ['TRANSACTION_ENDED', false])
      assert.equal(await database.ask(ECHO, ['again']), 'again')
    })
  }

  test('whose commit fails was rolled back', async (context) => {
    const database = openFor(context, server.url)
    await database.script(`create table parents (id int primary key);
      create table children (parent int references parents deferrable initially deferred)`)
    const failed = transaction(database, (tx) => tx.query('insert into children values (1)'))
    const { code, notApplied } = await failure(failed)
    assert.deepEqual([code, notApplied], ['STORE_FAILED', true])
  })

  for (const way of ['on its own connection', "the user's way"]) {
    test(`${way}, whose commit has no answer: the outcome is unknown`, async (context) => {
      const proxy = await startProxy({ host: '127.0.0.1', port: server.port })
      afterwards(context, () => proxy.close())
      const url = new URL(server.url)
      url.port = String(proxy.port)
      url.searchParams.set('application_name', way)
      const own = new pg.Pool({ connectionString: url.href })
      own.on('error', () => {})
      const db = drizzleOnPg(own)
      const options = way === "the user's way" ? { transaction: db.transaction.bind(db) as never } : {}
      const database = openFor(context, url.href, { timeoutMs: 1_200, ...options })
      const asked = database.transaction(async (tx, requireOpen) => {
        await database.askIn(tx, KEEP, [way, 'other'])
        await requireOpen()
        proxy.mode('lose-answers')
      })
      const { code, notApplied } = await failure(asked)
      assert.deepEqual([code, notApplied], ['STORE_SILENT', false])
      await eventually('it was committed all the same', async () => (await kept(way)) === 1)
      // Our own connection has ended by then, and the server has noticed; the user's connection stays.
      const open = way === "the user's way" ? 1 : 0
      await eventually('its session is over', async () => (await sessionsOf(way)) === open)
      proxy.mode('pass')
      // A pool waits for its clients, and this one was left with one that never ends.
      if (way !== "the user's way") await own.end()
      else own.end().catch(() => {})
    })
  }

  test('that loses its connection before the commit was not applied', async (context) => {
    const database = openFor(context, server.url)
    const asked = transaction(database, async (tx) => {
      await tx.query("insert into kept values ('lost')")
      await tx.query('select pg_terminate_backend(pg_backend_pid())').catch(() => {})
    })
    const { code, notApplied } = await failure(asked)
    assert.deepEqual([code, notApplied], ['STORE_LOST', true])
  })

  test('whose work hangs is ended by the server, and its rows are free', async (context) => {
    const setting = "select current_setting('idle_in_transaction_session_timeout') as answer"
    const calm = openFor(context, server.url)
    assert.equal(await calm.transaction((tx) => calm.askIn(tx, asking(setting), [])), '15s')
    const url = new URL(server.url)
    url.searchParams.set('options', '-c idle_in_transaction_session_timeout=100')
    const database = openFor(context, url.href)
    const { promise, resolve } = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const asked = transaction(database, async (tx) => {
      await tx.query("set local application_name = 'asleep'; insert into kept values ('asleep')")
      begun.resolve()
      await promise
    })
    const failed = failure(asked)
    await begun.promise
    await eventually('it is ended', async () => (await sessionsOf('asleep')) === 0)
    resolve()
    const { code, notApplied } = await failed
    assert.deepEqual([code, notApplied], ['STORE_LOST', true])
    assert.equal(await kept('asleep'), 0)
  })

  test('does not keep others from asking, and comes after the one before it', async (context) => {
    const database = openFor(context, server.url)
    const { promise, resolve } = Promise.withResolvers<void>()
    const order: string[] = []
    const first = transaction(database, async () => {
      order.push('first')
      await promise
    })
    await eventually('the first has begun', () => order.length > 0)
    const second = transaction(database, async () => {
      order.push('second')
    })
    assert.equal(await database.ask(ECHO, ['asked']), 'asked')
    assert.deepEqual(order, ['first'])
    resolve()
    await Promise.all([first, second])
    assert.deepEqual(order, ['first', 'second'])
  })

  test('leaves nothing behind on the connection for later queries', async (context) => {
    const database = openFor(context, server.url)
    await transaction(database, (tx) =>
      tx.query("set statement_timeout = '1234ms'; create temporary table kept (a int)"),
    )
    const left = asking(
      "select current_setting('statement_timeout') || coalesce(to_regclass('pg_temp.kept')::text, '') as answer",
    )
    assert.deepEqual(await Promise.all([database.ask(left, []), database.ask(left, [])]), ['0', '0'])
  })

  test('that is never opened is not waited for', async (context) => {
    const database = openFor(context, server.url, { timeoutMs: 100, transaction: () => new Promise(() => {}) })
    const { code, notApplied } = await failure(transaction(database, async () => {}))
    assert.deepEqual([code, notApplied], ['STORE_FULL_OF_CONNECTIONS', true])
    const forgetful = openFor(context, server.url, { transaction: async () => undefined as never })
    assert.equal((await failure(transaction(forgetful, async () => {}))).code, 'TRANSACTION_NOT_OPEN')
  })
})
