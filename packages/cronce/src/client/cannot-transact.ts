import { CronceError } from '../errors.ts'

/** What `exactly-once` is answered on a store without transactions. */
export function cannotTransact(message: string): CronceError {
  return new CronceError('STORE_CANNOT_TRANSACT', message, {
    hint:
      'The effects would have to be committed together with the fire, in one transaction of the same database: use PostgreSQL or SQLite. ' +
      'Or at-least-once, with run.once around each effect, and run.token or run.idempotencyKey where it is kept.',
  })
}
