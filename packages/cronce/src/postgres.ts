export type { PostgresTransaction, TransactionOf, TransactionOpener } from './store/postgres/library.ts'
export type { AppliedMigration, MigrationEntry, MigrationProgress, MigrationStatus } from './store/postgres/migrate.ts'
export { type Migrator, type MigratorOptions, migrationText, migrator } from './store/postgres/migrator.ts'
export { type PostgresOptions, postgres } from './store/postgres/postgres.ts'
export {
  type ViewedSchedule,
  type ViewedSchedules,
  type ViewQuery,
  viewSchedules,
} from './store/postgres/read-views.ts'
export type { Roles } from './store/postgres/roles.ts'
