import { demandOptions } from '../store-options.ts'
import { settleIdentity } from './identity.ts'
import { type MigrationStatus, migrateUp, migrationStatus, requireMigrated, type UpOptions } from './migrate.ts'
import { migrationSql } from './migration-sql.ts'
import { openDatabase, type Target } from './open.ts'
import { grantsSql, type Roles } from './roles.ts'
import { DEFAULT_SCHEMA, quoteSchema } from './schema-name.ts'
import { schemaOfUrl } from './schema-of-url.ts'

/** Options of `migrator()`. */
export interface MigratorOptions {
  /** @default `?schema=` of the URL, or 'cronce' */
  readonly schema?: string | undefined
  readonly warn?: ((code: string, message: string) => void) | undefined
}

/** `cronce migrate` for programs that deploy by themselves. */
export interface Migrator {
  /** Its address for messages, without secrets. */
  readonly name: string
  readonly schema: string
  /** The state of the schema, and what `up` would do. */
  status(): Promise<MigrationStatus>
  /** What `up` would do, as a text for psql. */
  sql(options?: { readonly roles?: Roles | undefined }): Promise<string>
  /** Migrate, with the rights of a role that may create tables. Of several concurrent calls, one does it. */
  up(options?: Pick<UpOptions, 'roles' | 'onProgress'>): Promise<MigrationStatus>
  /** Confirm that the original of this copy is gone for good: instances will run what is due here. Returns the epoch. */
  adopt(): Promise<number>
  close(): Promise<void>
}

/** Connects on first use, with one connection. */
export function migrator(target: Target, options: MigratorOptions = {}): Migrator {
  demandOptions('migrator()', options, ['schema', 'warn'] satisfies (keyof MigratorOptions)[])
  const named = typeof target === 'string' ? schemaOfUrl(target) : { url: target, schema: undefined }
  const { schema = named.schema ?? DEFAULT_SCHEMA, warn = () => {} } = options
  quoteSchema(schema)
  const database = openDatabase(named.url, { connections: 1, prepare: false, session: false, warn })
  return {
    name: database.name,
    schema,
    status: () => migrationStatus(database, schema),
    async sql({ roles = {} } = {}) {
      const { applied } = await migrationStatus(database, schema)
      return migrationSql(schema, { after: applied.at(-1)?.number ?? 0, grants: grantsSql(schema, roles) })
    },
    up: (given = {}) => migrateUp(database, schema, given),
    async adopt() {
      await requireMigrated(database, schema)
      return settleIdentity(database, schema, { adopt: true, warn })
    },
    close: () => database.close(),
  }
}

/** The complete migration as a text for psql, without using a database. */
export function migrationText(schema: string = DEFAULT_SCHEMA, roles: Roles = {}): string {
  return migrationSql(schema, { grants: grantsSql(schema, roles) })
}
