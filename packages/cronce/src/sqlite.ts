export { type SqliteOptions, sqlite, sqliteFromUrl } from './store/sqlite/sqlite.ts'
