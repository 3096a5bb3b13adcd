export type { AppliedMigration, MigrationEntry, MigrationProgress, MigrationStatus } from './store/postgres/migrate.ts'
export { type Migrator, type MigratorOptions, migrationText, migrator } from './store/postgres/migrator.ts'
export { type PostgresOptions, type PostgresTransaction, postgres } from './store/postgres/postgres.ts'
export type { Roles } from './store/postgres/roles.ts'
