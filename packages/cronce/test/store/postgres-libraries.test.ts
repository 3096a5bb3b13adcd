import { after, before, describe } from 'node:test'
import { sql as drizzleSql } from 'drizzle-orm'
import { drizzle as drizzleOnPg } from 'drizzle-orm/node-postgres'
import { drizzle as drizzleOnPostgresJs } from 'drizzle-orm/postgres-js'
import knexOn from 'knex'
import { Kysely, sql as kyselySql, PostgresDialect } from 'kysely'
import type pg from 'pg'
import postgresJs from 'postgres'
import { type Server, startPostgres } from '../../../../scripts/servers/index.ts'
import { type PostgresOptions, postgres } from '../../src/store/postgres/postgres.ts'
import { type Database, ruleFor, type StoreUnderTest } from '../../src/testing/conformance/bench.ts'
import { fencingRules } from '../../src/testing/conformance/fencing.ts'
import { instanceRules } from '../../src/testing/conformance/instances.ts'
import { stepRules } from '../../src/testing/conformance/steps.ts'
import { transactionRules } from '../../src/testing/conformance/transactions.ts'
import { createDatabase, inTransaction, openPool } from '../processes/postgres-fleet.ts'

/** How a library writes a row in a transaction of its own, and opens one. */
interface Library {
  /** What `postgres()` is given. */
  readonly target: Parameters<typeof postgres>[0]
  readonly options: PostgresOptions
  /** Typed by each library; by the time a row is written, all that is known is that it is its own. */
  readonly write: (tx: never, text: string) => Promise<unknown>
  readonly transaction: Database<never>['transaction']
  readonly close: () => Promise<unknown>
}

const INSERT = 'insert into texts values '

const LIBRARIES: Readonly<Record<string, (url: string) => Library>> = {
  'a pool of pg': (url) => {
    const pool = openPool(url)
    return {
      target: pool,
      options: {},
      write: (tx: pg.ClientBase, text) => tx.query(`${INSERT} ($1)`, [text]),
      transaction: (work) => inTransaction(pool, (tx) => work(tx as never)),
      close: () => pool.end(),
    }
  },
  'postgres.js': (url) => {
    const sql = postgresJs(url, { max: 3 })
    return {
      target: sql,
      options: {},
      write: (tx: postgresJs.TransactionSql, text) => tx`insert into texts values (${text})`,
      transaction: async (work) => {
        await sql.begin((tx) => work(tx as never))
      },
      close: () => sql.end(),
    }
  },
  'Drizzle on pg': (url) => {
    const pool = openPool(url)
    const db = drizzleOnPg(pool)
    return {
      target: pool,
      options: { transaction: (work) => db.transaction(work) },
      write: (tx: typeof db, text) => tx.execute(drizzleSql`insert into texts values (${text})`),
      transaction: (work) => db.transaction((tx) => work(tx as never)),
      close: () => pool.end(),
    }
  },
  'Drizzle on postgres.js': (url) => {
    const sql = postgresJs(url, { max: 3 })
    const db = drizzleOnPostgresJs(sql)
    return {
      target: sql,
      options: { transaction: (work) => db.transaction(work) },
      write: (tx: typeof db, text) => tx.execute(drizzleSql`insert into texts values (${text})`),
      transaction: (work) => db.transaction((tx) => work(tx as never)),
      close: () => sql.end(),
    }
  },
  Kysely: (url) => {
    const pool = openPool(url)
    const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
    return {
      target: pool,
      options: { transaction: (work) => db.transaction().execute(work) },
      write: (tx: typeof db, text) => kyselySql`insert into texts values (${text})`.execute(tx),
      transaction: (work) => db.transaction().execute((tx) => work(tx as never)),
      close: () => db.destroy(),
    }
  },
  // Beside connections of the store's own: it has a pool, but none that others could use.
  Knex: (url) => {
    const knex = knexOn({ client: 'pg', connection: url, pool: { min: 0, max: 3 } })
    return {
      target: url,
      options: { transaction: (work) => knex.transaction(work) },
      write: async (tx: typeof knex, text) => tx.raw(`${INSERT} (?)`, [text]),
      transaction: (work) => knex.transaction((tx) => work(tx as never)),
      close: () => knex.destroy(),
    }
  },
}

let server: Server
before(async () => {
  // Nothing crashes here.
  server = await startPostgres({ settings: { fsync: 'off' } })
})
after(() => server.stop())

const { CRONCE_LONG } = process.env
/** Of the libraries on top of the drivers one each time, all of them in the long runs. On a pool of pg all rules are tested elsewhere. */
const EACH_TIME = ['postgres.js', 'Drizzle on pg']
const tested = Object.entries(LIBRARIES).filter(([name]) => CRONCE_LONG === '1' || EACH_TIME.includes(name))

for (const [name, open] of tested) {
  describe(`transactions of ${name}`, () => {
    let under: StoreUnderTest<never>
    before(async () => {
      under = await prepare(open)
    })
    after(() => under.dispose())
    const rule = ruleFor(() => under as StoreUnderTest)
    transactionRules(rule)
    // It alone decides by the server's types how to write what it is given.
    if (name === 'postgres.js') for (const rules of [stepRules, instanceRules, fencingRules]) rules(rule)
  })
}

async function prepare(open: (url: string) => Library): Promise<StoreUnderTest<never>> {
  const url = await createDatabase(server.url)
  const user = openPool(url)
  await user.query('create table texts (text text not null)')
  const { target, options, write, transaction, close } = open(url)
  return {
    source: postgres(target, { ...options, migrate: 'auto' }) as StoreUnderTest<never>['source'],
    database: {
      write: async (tx, text) => void (await write(tx, text)),
      read: async () => (await user.query('select text from texts')).rows.map((row: { text: string }) => row.text),
      transaction,
    },
    dispose: async () => {
      await close()
      await user.end()
    },
  }
}
