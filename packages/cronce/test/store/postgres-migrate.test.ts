import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { Pool } from 'pg'
import postgresJs from 'postgres'
import { obtain, type Server, startPgbouncer, startPostgres } from '../../../../scripts/servers/index.ts'
import type { Database } from '../../src/store/postgres/database.ts'
import { migrateUp, migrationStatus, requireMigrated } from '../../src/store/postgres/migrate.ts'
import { migrationSql } from '../../src/store/postgres/migration-sql.ts'
import { MIGRATIONS, type Migration } from '../../src/store/postgres/migrations/migrations.ts'
import { migrator } from '../../src/store/postgres/migrator.ts'
import { plainDatabase, urlWith } from './plain-database.ts'
import { renderSchema } from './render-schema.ts'

/** Rendered by this test, so that changes of the schema are seen in reviews. */
const REVIEWED = new URL('postgres-schema.sql', import.meta.url)
const HEAD = '-- Rendered by postgres-migrate.test.ts. To write it anew, run that test with UPDATE_SCHEMA=1.\n\n'

const NEXT: Migration = {
  number: MIGRATIONS.length + 1,
  name: 'another column',
  breaking: false,
  sql: (schema) => `alter table ${schema}._apps add column colour text;`,
}
const LATER: Migration = {
  number: MIGRATIONS.length + 2,
  name: 'another meaning',
  breaking: true,
  sql: (schema) => `alter table ${schema}._apps rename column colour to shade;`,
}

describe('Migrations of PostgreSQL', () => {
  let server: Server
  let database: Database
  before(async () => {
    server = await startPostgres({ settings: { fsync: 'off' } })
    database = await plainDatabase(server.url)
  })
  after(async () => {
    await database.close()
    await server.stop()
  })

  test('nothing is made by looking', async () => {
    const status = await migrationStatus(database, 'looked_at')
    assert.deepEqual([status.state, status.applied, status.pending.length], ['none', [], MIGRATIONS.length])
    assert.deepEqual(await database.script("select 1 from pg_namespace where nspname = 'looked_at'"), [])
    await assert.rejects(requireMigrated(database, 'looked_at'), (error: Error & { hint?: string }) => {
      assert.match(error.hint!, /cronce migrate up --schema looked_at/)
      return (error as { code?: string }).code === 'STORE_NOT_MIGRATED'
    })
  })

  test('up does what status shows, reports each step, and finds nothing to do the second time', async () => {
    const told: string[] = []
    const up = () => migrateUp(database, 'fresh', { onProgress: ({ number, by }) => told.push(`${number} by ${by}`) })
    const { state, applied, pending } = await up()
    assert.deepEqual([state, applied.length, pending], ['current', MIGRATIONS.length, []])
    assert.deepEqual(
      told,
      MIGRATIONS.map(({ number }) => `${number} by us`),
    )
    await up()
    assert.equal(told.length, MIGRATIONS.length)
    await requireMigrated(database, 'fresh')
  })

  test('what is made is what was reviewed', async () => {
    await migrateUp(database, 'reviewed')
    const made = await renderSchema(database, 'reviewed')
    const { UPDATE_SCHEMA: update } = process.env
    if (update !== undefined) await writeFile(REVIEWED, HEAD + made)
    assert.equal(HEAD + made, await readFile(REVIEWED, 'utf8'), 'to accept it, run this test with UPDATE_SCHEMA=1')
  })

  test('of many at once, each migration is done by one and found by the others', async (t) => {
    const others = await Promise.all(Array.from({ length: 4 }, () => plainDatabase(server.url)))
    t.after(() => Promise.all(others.map((other) => other.close())))
    const done: string[] = []
    const states = await Promise.all(
      others.map((other) =>
        migrateUp(other, 'race', {
          migrations: [...MIGRATIONS, NEXT],
          onProgress: ({ number, by }) => by === 'us' && done.push(String(number)),
        }),
      ),
    )
    assert.deepEqual(
      states.map(({ state }) => state),
      others.map(() => 'current'),
    )
    assert.deepEqual(done.sort(), ['1', '2'])
  })

  test('a migration that fails leaves nothing behind', async () => {
    const broken = { ...NEXT, sql: (schema: string) => `create table ${schema}.half (a int); select 1 / 0;` }
    await migrateUp(database, 'broken')
    await assert.rejects(migrateUp(database, 'broken', { migrations: [...MIGRATIONS, broken] }), /division by zero/)
    const status = await migrationStatus(database, 'broken', [...MIGRATIONS, broken])
    assert.deepEqual([status.state, status.applied.length], ['behind', MIGRATIONS.length])
    assert.deepEqual(await database.script("select to_regclass('broken.half')::text as half"), [{ half: null }])
  })

  test('one release back works on what a newer one made, unless that breaks it', async () => {
    await migrateUp(database, 'newer', { migrations: [...MIGRATIONS, NEXT] })
    assert.equal((await migrationStatus(database, 'newer')).state, 'newer')
    await requireMigrated(database, 'newer')
    await migrateUp(database, 'newer')

    await migrateUp(database, 'newer', { migrations: [...MIGRATIONS, NEXT, LATER] })
    assert.equal((await migrationStatus(database, 'newer')).state, 'too-new')
    await assert.rejects(requireMigrated(database, 'newer'), { code: 'STORE_SCHEMA_NEWER' })
    await assert.rejects(migrateUp(database, 'newer'), { code: 'STORE_SCHEMA_NEWER' })
    await assert.rejects(requireMigrated(database, 'newer', [...MIGRATIONS, NEXT]), { code: 'STORE_SCHEMA_NEWER' })
  })

  test('a newer version on an older schema reports what to run', async () => {
    await migrateUp(database, 'older')
    await assert.rejects(requireMigrated(database, 'older', [...MIGRATIONS, NEXT]), { code: 'STORE_NOT_MIGRATED' })
  })

  test('tables of a version with another format are refused, with a hint', async () => {
    const old = { ...MIGRATIONS[0]!, name: 'tables, functions and views', sql: () => '' }
    await migrateUp(database, 'old_format', { migrations: [old] })
    for (const work of [requireMigrated, migrateUp, migrationStatus]) {
      await assert.rejects(work(database, 'old_format'), (error: Error & { code?: string; hint?: string }) => {
        assert.match(error.hint!, /drop schema "old_format" cascade/)
        return error.code === 'STORE_SCHEMA_OLDER'
      })
    }
  })

  test('the SQL for psql makes the same, and what is there already is left out', async () => {
    await psql(server, migrationSql('by "hand"'))
    await requireMigrated(database, 'by "hand"')
    const all = [...MIGRATIONS, NEXT]
    const rest = migrationSql('by "hand"', { after: MIGRATIONS.length, migrations: all })
    assert.doesNotMatch(rest, /create /)
    await psql(server, rest)
    assert.equal((await migrationStatus(database, 'by "hand"', all)).state, 'current')
    assert.equal(migrationSql('x', { after: MIGRATIONS.length }), '-- Nothing to do.\n')
  })

  test('the owner of a schema need not be able to make schemas', async (t) => {
    await database.script("create role tenant login password 'tenant'; create schema own authorization tenant")
    const tenant = await plainDatabase(urlWith(server.url, { user: 'tenant', password: 'tenant' }))
    t.after(() => tenant.close())
    await migrateUp(tenant, 'own')
    await requireMigrated(tenant, 'own')
    await assert.rejects(migrateUp(tenant, 'not_own'), { code: 'STORE_FORBIDDEN' })
  })

  test('over every kind of connection, also through a pooler that shares its connections', async (t) => {
    const bouncer = await startPgbouncer({ upstream: server, poolSize: 1 })
    const pool = new Pool({ connectionString: server.url })
    const sql = postgresJs(server.url)
    t.after(() => Promise.all([pool.end(), sql.end(), bouncer.stop()]))
    const ways = {
      bouncer: bouncer.url,
      pool,
      sql,
      query: { query: (text: string, values: unknown[]) => pool.query(text, values) },
    }
    for (const [schema, target] of Object.entries(ways)) {
      const way = migrator(target, { schema })
      const states = [(await way.status()).state, (await way.up()).state, await way.adopt(), await way.sql()]
      await way.close()
      assert.deepEqual(states, ['none', 'current', 1, '-- Nothing to do.\n'], schema)
    }
  })

  test('names that PostgreSQL would cut or keeps to itself are refused', async () => {
    for (const name of ['', 'x'.repeat(64), 'é'.repeat(32), 'pg_mine', 'information_schema', 'a\0b']) {
      await assert.rejects(migrationStatus(database, name), { code: 'STORE_OPTIONS_INVALID' }, JSON.stringify(name))
    }
  })

  test('a database that cannot hold every text is refused', async (t) => {
    await database.script("create database latin encoding 'LATIN1' template template0")
    const latin = await plainDatabase(urlWith(server.url, { database: 'latin' }))
    t.after(() => latin.close())
    await assert.rejects(migrateUp(latin, 'cronce'), { code: 'STORE_UNSUPPORTED' })
  })
})

async function psql(server: Server, sql: string): Promise<void> {
  const child = promisify(execFile)(await obtain('psql'), [
    '--no-psqlrc',
    '--set',
    'ON_ERROR_STOP=1',
    '--quiet',
    server.url,
  ])
  child.child.stdin!.end(sql)
  await child
}
