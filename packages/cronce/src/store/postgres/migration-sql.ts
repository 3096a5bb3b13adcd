import { MIGRATIONS, type Migration } from './migrations/migrations.ts'
import { quoteSchema, quoteText } from './schema-name.ts'

/** A session that holds a table blocks the migration, and the migration blocks every session behind it: fail instead of waiting. */
const LOCK_TIMEOUT = '30s'

/**
 * One migration, to be run as one transaction. Its row comes first: of two that got here in spite of the lock, one fails before
 * it has changed anything.
 */
export function migrationScript(name: string, migration: Migration, createSchema: boolean): string {
  const schema = quoteSchema(name)
  return `set local lock_timeout = '${LOCK_TIMEOUT}';
set local standard_conforming_strings = on;
select pg_advisory_xact_lock(hashtextextended(${quoteText(`cronce migrate ${name}`)}, 0));
${createSchema ? `create schema if not exists ${schema};\n` : ''}${migration.number === 1 ? ledger(schema) : ''}insert into ${schema}._migrations (number, name, breaking)
values (${migration.number}, ${quoteText(migration.name)}, ${migration.breaking});
${migration.sql(schema).trim()}
`
}

function ledger(schema: string): string {
  return `create table if not exists ${schema}._migrations (
  number integer primary key,
  name text not null,
  breaking boolean not null,
  applied_at timestamptz not null default clock_timestamp()
);
`
}

export interface SqlOptions {
  /** Migrations up to this number are there already. @default 0 */
  readonly after?: number | undefined
  /** More statements to run after them. */
  readonly grants?: string | undefined
  readonly migrations?: readonly Migration[] | undefined
}

/** The complete migration as a script for psql, for operators who change their tables themselves. */
export function migrationSql(name: string, options: SqlOptions = {}): string {
  const { after = 0, grants = '', migrations = MIGRATIONS } = options
  const wanted = migrations.filter(({ number }) => number > after)
  const parts = wanted.map((migration) => {
    const kind = migration.breaking ? ', breaking' : ''
    return `-- ${migration.number}: ${migration.name}${kind}\nbegin;\n${migrationScript(name, migration, migration.number === 1)}commit;\n`
  })
  if (grants !== '') parts.push(`-- Who may do what\nbegin;\n${grants}commit;\n`)
  if (parts.length === 0) return '-- Nothing to do.\n'
  const head = `-- cronce: the schema ${quoteSchema(name)}. Run it as the role that is to own the tables:
-- psql --set ON_ERROR_STOP=1 --file FILE`
  return `${head}\n\n${parts.join('\n')}`
}
