import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { sql as drizzleSql } from 'drizzle-orm'
import { drizzle as drizzleOnPg } from 'drizzle-orm/node-postgres'
import { drizzle as drizzleOnPostgresJs } from 'drizzle-orm/postgres-js'
import knexOn from 'knex'
import { Kysely, sql as kyselySql, PostgresDialect } from 'kysely'
import postgresJs from 'postgres'
import { generatePrisma, prismaSchemaOf } from '../../../../scripts/docs/prisma.ts'
import { type Server, startPostgres } from '../../../../scripts/servers/index.ts'
import { postgres } from '../../src/store/postgres/postgres.ts'
import type { StoreSource } from '../../src/store/store.ts'
import { type Database, ruleFor, type StoreUnderTest } from '../../src/testing/conformance/bench.ts'
import { fencingRules } from '../../src/testing/conformance/fencing.ts'
import { instanceRules } from '../../src/testing/conformance/instances.ts'
import { stepRules } from '../../src/testing/conformance/steps.ts'
import { transactionRules } from '../../src/testing/conformance/transactions.ts'
import { createDatabase, inTransaction, openPool } from '../processes/postgres-fleet.ts'

/** A store through a library, and how that library opens a transaction and writes a row. `Tx` is inferred from the source. */
interface Library<Tx> {
  readonly source: StoreSource<Tx>
  readonly write: (tx: Tx, text: string) => Promise<unknown>
  readonly transaction: (work: (tx: Tx) => Promise<void>) => Promise<unknown>
  readonly close: () => Promise<unknown>
}

const ROOT = join(import.meta.dirname, '../../../..')
const INSERT = 'insert into texts values '
const OPTIONS = { migrate: 'auto' } as const

const LIBRARIES: Readonly<Record<string, (url: string) => Promise<StoreUnderTest>>> = {
  'a pool of pg': (url) => {
    const pool = openPool(url)
    return underTest(url, {
      source: postgres(pool, OPTIONS),
      write: (tx, text) => tx.query(`${INSERT} ($1)`, [text]),
      transaction: (work) => inTransaction(pool, work),
      close: () => pool.end(),
    })
  },
  'postgres.js': (url) => {
    const sql = postgresJs(url, { max: 3 })
    return underTest(url, {
      source: postgres(sql, OPTIONS),
      write: async (tx, text) => tx`insert into texts values (${text})`,
      transaction: (work) => sql.begin(work),
      close: () => sql.end(),
    })
  },
  'Drizzle on pg': (url) => {
    const pool = openPool(url)
    const db = drizzleOnPg(pool)
    return underTest(url, {
      source: postgres(db, OPTIONS),
      write: (tx, text) => tx.execute(drizzleSql`insert into texts values (${text})`),
      transaction: (work) => db.transaction(work),
      close: () => pool.end(),
    })
  },
  'Drizzle on postgres.js': (url) => {
    const sql = postgresJs(url, { max: 3 })
    const db = drizzleOnPostgresJs(sql)
    return underTest(url, {
      source: postgres(db, OPTIONS),
      write: async (tx, text) => tx.execute(drizzleSql`insert into texts values (${text})`),
      transaction: (work) => db.transaction(work),
      close: () => sql.end(),
    })
  },
  Kysely: (url) => {
    const pool = openPool(url)
    const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
    return underTest(url, {
      source: postgres(pool, { ...OPTIONS, transaction: db }),
      write: (tx, text) => kyselySql`insert into texts values (${text})`.execute(tx),
      transaction: (work) => db.transaction().execute(work),
      close: () => db.destroy(),
    })
  },
  Knex: (url) => {
    const knex = knexOn({ client: 'pg', connection: url, pool: { min: 0, max: 3 } })
    return underTest(url, {
      source: postgres(url, { ...OPTIONS, transaction: knex }),
      write: async (tx, text) => tx.raw(`${INSERT} (?)`, [text]),
      transaction: (work) => knex.transaction(work),
      close: () => knex.destroy(),
    })
  },
  Prisma: async (url) => {
    const { client, remove } = await openPrisma(url)
    return underTest(url, {
      source: postgres(url, { ...OPTIONS, transaction: client }),
      write: (tx, text) => tx.$executeRawUnsafe(`${INSERT} ($1)`, text),
      transaction: (work) => client.$transaction(work),
      close: async () => {
        await client.$disconnect()
        await remove()
      },
    })
  },
}

let server: Server
before(async () => {
  // Nothing crashes here.
  server = await startPostgres({ settings: { fsync: 'off' } })
})
after(() => server.stop())

const { CRONCE_LONG } = process.env
/** The others in the long runs. On a pool of pg all rules are tested elsewhere. */
const EACH_TIME = ['postgres.js', 'Drizzle on pg', 'Prisma']
const tested = Object.entries(LIBRARIES).filter(([name]) => CRONCE_LONG === '1' || EACH_TIME.includes(name))

for (const [name, open] of tested) {
  describe(`transactions of ${name}`, () => {
    let under: StoreUnderTest
    before(async () => {
      under = await open(await createDatabase(server.url))
    })
    after(() => under.dispose())
    const rule = ruleFor(() => under)
    transactionRules(rule)
    // postgres.js alone decides by the types of the server how to write the values that it is given.
    if (name === 'postgres.js') for (const rules of [stepRules, instanceRules, fencingRules]) rules(rule)
  })
}

async function underTest<Tx>(url: string, library: Library<Tx>): Promise<StoreUnderTest> {
  const user = openPool(url)
  await user.query('create table texts (text text not null)')
  const database: Database<Tx> = {
    write: async (tx, text) => void (await library.write(tx, text)),
    read: async () => (await user.query<{ text: string }>('select text from texts')).rows.map(({ text }) => text),
    transaction: async (work) => void (await library.transaction(work)),
  }
  const under: StoreUnderTest<Tx> = {
    source: library.source,
    database,
    dispose: async () => {
      await library.close()
      await user.end()
    },
  }
  // The rules hand every transaction back to the library that it came from, and look at none of them.
  return under as StoreUnderTest
}

/** What this test uses of a generated client. Its own types are checked with the recipes of the docs. */
interface PrismaClient {
  $transaction(work: (tx: PrismaTransaction) => Promise<void>): Promise<void>
  $disconnect(): Promise<void>
}

interface PrismaTransaction {
  $executeRawUnsafe(text: string, ...values: unknown[]): Promise<number>
}

/** The real client, generated from the schema in docs/postgres.md. */
async function openPrisma(url: string): Promise<{ readonly client: PrismaClient; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'cronce-prisma-'))
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  await generatePrisma(prismaSchemaOf(await readFile(join(ROOT, 'docs/postgres.md'), 'utf8')), folder)
  const require = createRequire(import.meta.url)
  const { PrismaPg } = require('@prisma/adapter-pg') as { PrismaPg: new (options: object) => object }
  const generated: { PrismaClient: new (options: object) => PrismaClient } = await import(
    join(folder, 'generated/prisma/client.ts')
  )
  return {
    client: new generated.PrismaClient({ adapter: new PrismaPg({ connectionString: url, max: 3 }) }),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
