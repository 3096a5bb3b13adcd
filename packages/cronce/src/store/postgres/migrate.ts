import { StoreError } from '../store-error.ts'
import type { Database, Statement } from './database.ts'
import { migrationScript } from './migration-sql.ts'
import { MIGRATIONS, type Migration } from './migrations/migrations.ts'
import { grantsSql, namesMade, type Roles } from './roles.ts'
import { DEFAULT_SCHEMA, quoteSchema } from './schema-name.ts'

const OLDEST_SERVER = 13

/** A migration, applied or not. */
export interface MigrationEntry {
  readonly number: number
  readonly name: string
  readonly breaking: boolean
}

/** A migration that the database has. */
export interface AppliedMigration extends MigrationEntry {
  /** Epoch milliseconds. */
  readonly appliedAt: number
}

/** Which migrations the database has, and which it lacks. */
export interface MigrationStatus {
  readonly schema: string
  /** `newer`: by a newer version, with which this one can work; `too-new`: with which it can't. */
  readonly state: 'none' | 'behind' | 'current' | 'newer' | 'too-new'
  readonly applied: readonly AppliedMigration[]
  /** What `up` would do, in order. */
  readonly pending: readonly MigrationEntry[]
}

/** `us`: applied by this process. `another`: another process had applied it. */
export interface MigrationProgress extends MigrationEntry {
  readonly by: 'us' | 'another'
}

export interface UpOptions {
  /** Roles that get their grants, even if there is nothing to migrate. */
  readonly roles?: Roles | undefined
  readonly onProgress?: ((progress: MigrationProgress) => void) | undefined
  readonly migrations?: readonly Migration[] | undefined
}

/** What can be seen without any right on the tables. */
interface Look {
  readonly version: number
  readonly encoding: string
  readonly role: string
  readonly schema: boolean
  readonly usage: boolean
  readonly table: boolean
  readonly readable: boolean
  /** Whether this role may read the views: its other rights may be missing on purpose. */
  readonly views: boolean
  /** Tables that this role may not both read and write, functions that it may not call. */
  readonly denied: readonly string[]
}

const LOOK: Statement = {
  name: 'migrate-look',
  sql: `
select json_build_object(
         'version', current_setting('server_version_num')::integer,
         'encoding', current_setting('server_encoding'),
         'role', current_user,
         'schema', n.oid is not null,
         'usage', coalesce(has_schema_privilege(n.oid, 'usage'), false),
         'table', m.oid is not null,
         'readable', coalesce(has_table_privilege(m.oid, 'select'), false),
         'views', coalesce((
           select bool_and(has_table_privilege(c.oid, 'select'))
             from pg_catalog.pg_class c
            where c.relnamespace = n.oid and c.relkind = 'v' and has_schema_privilege(n.oid, 'usage')
         ), false),
         'denied', coalesce((
           select json_agg(name order by name)
             from (
               select c.relname as name
                 from pg_catalog.pg_class c
                where c.relnamespace = n.oid and c.relkind in ('r', 'p') and left(c.relname, 1) = '_' and c.oid <> m.oid
                  and not (has_table_privilege(c.oid, 'select') and has_table_privilege(c.oid, 'insert')
                       and has_table_privilege(c.oid, 'update') and has_table_privilege(c.oid, 'delete'))
                union all
               select p.proname
                 from pg_catalog.pg_proc p
                where p.pronamespace = n.oid and left(p.proname, 1) = '_' and not has_function_privilege(p.oid, 'execute')
             ) denied
         ), '[]')
       )::text as answer
  from (values (true)) one
  left join pg_catalog.pg_namespace n on n.nspname = $1::text
  left join pg_catalog.pg_class m on m.relnamespace = n.oid and m.relname = '_migrations' and m.relkind = 'r'`,
}

function appliedStatement(schema: string): Statement {
  return {
    name: 'migrate-applied',
    sql: `
select coalesce(json_agg(json_build_object(
         'number', number, 'name', name, 'breaking', breaking,
         'appliedAt', floor(extract(epoch from applied_at) * 1000)::bigint) order by number), '[]')::text as answer
  from ${schema}._migrations`,
  }
}

/** The state of the schema, and what is to be done. Changes nothing. */
export async function migrationStatus(
  database: Database,
  name: string,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<MigrationStatus> {
  return statusOf(database, name, await lookAt(database, name), migrations)
}

/** Bring the schema up to date. Of several concurrent calls, one does it and the others find it done. */
export async function migrateUp(database: Database, name: string, options: UpOptions = {}): Promise<MigrationStatus> {
  const { roles = {}, onProgress, migrations = MIGRATIONS } = options
  const look = await lookAt(database, name)
  const before = await statusOf(database, name, look, migrations)
  if (before.state === 'too-new') throw tooNew(before, migrations)
  for (const { number } of before.pending) {
    const migration = migrations.find((known) => known.number === number)!
    const { breaking } = migration
    const by = await applyMigration(database, name, migration, number === 1 && !look.schema)
    onProgress?.({ number, name: migration.name, breaking, by })
  }
  const grants = grantsSql(name, roles)
  if (grants !== '') await database.script(grants)
  return migrationStatus(database, name, migrations)
}

async function applyMigration(
  database: Database,
  name: string,
  migration: Migration,
  createSchema: boolean,
): Promise<MigrationProgress['by']> {
  try {
    await database.script(migrationScript(name, migration, createSchema))
    return 'us'
  } catch (error) {
    // Another process may have applied it, or the answer was lost: its row tells.
    const found = await migrationStatus(database, name).catch(() => null)
    if (found?.applied.some(({ number }) => number === migration.number)) return 'another'
    throw error
  }
}

/** Whether instances can work on the schema with their rights. Names the command that helps. */
export async function requireMigrated(
  database: Database,
  name: string,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  const look = await lookAt(database, name)
  const status = await statusOf(database, name, look, migrations)
  if (status.state === 'too-new') throw tooNew(status, migrations)
  if (status.pending.length > 0) throw notMigrated(database, status)
  const [denied] = look.denied
  if (denied !== undefined) throw forbidden(look, name, denied)
}

async function lookAt(database: Database, name: string): Promise<Look> {
  // Checked first: a name that PostgreSQL would truncate is never found, and never ours.
  quoteSchema(name)
  const look = JSON.parse(await database.ask(LOOK, [name])) as Look
  if (look.version < OLDEST_SERVER * 10_000) {
    throw new StoreError(
      'STORE_UNSUPPORTED',
      `The server of ${database.name} is PostgreSQL ${Math.floor(look.version / 10_000)}.`,
      { hint: `Use PostgreSQL ${OLDEST_SERVER} or later.` },
    )
  }
  if (look.encoding !== 'UTF8') {
    throw new StoreError(
      'STORE_UNSUPPORTED',
      `${database.name} stores texts as ${look.encoding}, which can't hold every text.`,
      { hint: "Use a database with the encoding UTF8: create database … encoding 'UTF8' template template0." },
    )
  }
  return look
}

async function statusOf(
  database: Database,
  name: string,
  look: Look,
  migrations: readonly Migration[],
): Promise<MigrationStatus> {
  if (look.table && !(look.usage && look.readable)) throw forbidden(look, name, 'what is in it')
  const applied = look.table
    ? (JSON.parse(await database.ask(appliedStatement(quoteSchema(name)), [])) as AppliedMigration[])
    : []
  requireFormat(name, applied, migrations)
  const done = new Set(applied.map(({ number }) => number))
  const pending = migrations
    .filter(({ number }) => !done.has(number))
    .map(({ number, name, breaking }) => ({ number, name, breaking }))
  return { schema: name, state: stateOf(applied, pending, migrations), applied, pending }
}

/** The tables of versions before the first release cannot be migrated: they keep two histories. */
function requireFormat(schema: string, [first]: readonly MigrationEntry[], [known]: readonly Migration[]): void {
  if (first === undefined || first.number !== known?.number || first.name === known.name) return
  throw new StoreError(
    'STORE_SCHEMA_OLDER',
    `The schema "${schema}" has tables of a version of cronce from before its first release, which this version cannot read.`,
    { hint: `Use another schema, or drop this one with all its records: drop schema ${quoteSchema(schema)} cascade.` },
  )
}

function stateOf(
  applied: readonly AppliedMigration[],
  pending: readonly MigrationEntry[],
  migrations: readonly Migration[],
): MigrationStatus['state'] {
  const unknown = applied.filter(({ number }) => !migrations.some((known) => known.number === number))
  if (unknown.some(({ breaking }) => breaking)) return 'too-new'
  if (applied.length === 0) return 'none'
  if (pending.length > 0) return 'behind'
  return unknown.length > 0 ? 'newer' : 'current'
}

function notMigrated({ name }: Database, { schema, state, pending }: MigrationStatus): StoreError {
  const message =
    state === 'none'
      ? `${name} has no tables of cronce in the schema "${schema}".`
      : `The schema "${schema}" of ${name} is older than this version: ${pending.length} to be migrated.`
  const hint = `Run: npx ${command('up', schema)} --store URL --runtime ROLE, with a role that may create tables; ROLE is the role of the instances, if it is another one.`
  return new StoreError('STORE_NOT_MIGRATED', message, { hint })
}

function tooNew({ schema, applied }: MigrationStatus, migrations: readonly Migration[]): StoreError {
  return new StoreError(
    'STORE_SCHEMA_NEWER',
    `The schema "${schema}" was migrated to ${applied.at(-1)?.number} by a newer cronce; this one knows ${migrations.length}, and can't work on it.`,
    { hint: 'Deploy the newer version here too.' },
  )
}

function forbidden({ role, views }: Look, schema: string, what: string): StoreError {
  const grant = `${command('up', schema)} --runtime ${role} --store URL, with the role that owns the tables`
  if (views) {
    const named = namesMade('view').map((view) => `${schema}.${view}`)
    return new StoreError('STORE_VIEWS_ONLY', `The role "${role}" may only read the views of the schema "${schema}".`, {
      hint: `With this role use cronce list, or read the views with SQL: ${named.join(', ')}. All other commands need the role of the instances.`,
    })
  }
  return new StoreError(
    'STORE_FORBIDDEN',
    `The role "${role}" may not use the schema "${schema}": ${what} lacks a grant.`,
    { hint: `Run: ${grant}. For a role that only reads, write --viewer instead of --runtime.` },
  )
}

function command(verb: string, schema: string): string {
  return `cronce migrate ${verb}${schema === DEFAULT_SCHEMA ? '' : ` --schema ${schema}`}`
}
