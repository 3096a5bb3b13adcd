/** Real servers for tests: private, on loopback, and gone with the process that started them. */
export { ServerError, type ServerErrorCode } from './errors.ts'
export { type EtcdOptions, startEtcd } from './etcd.ts'
export { findChromium, type Obtain, obtain } from './obtain.ts'
export { type PgbouncerOptions, startPgbouncer } from './pgbouncer.ts'
export { type PostgresOptions, startPostgres } from './postgres.ts'
export type { Program } from './programs.ts'
export { type RedisOptions, startRedis } from './redis.ts'
export type { Server } from './server.ts'
