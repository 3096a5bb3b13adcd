import { QueueError } from './queue-error.ts'

/** Runs a statement and returns its rows. */
export type AskDatabase = (text: string) => Promise<readonly unknown[]>

/** Tells two servers apart, and the databases of one server, and needs no rights. */
const IDENTITY = `select oid::text || ' ' || extract(epoch from pg_postmaster_start_time())::text as answer
from pg_catalog.pg_database where datname = current_database()`

/** Otherwise the job would be written into a database in which no worker of the queue looks. */
export async function demandSameDatabase(
  target: string,
  inTransaction: AskDatabase,
  inQueue: AskDatabase,
): Promise<void> {
  const [own, other] = [await inTransaction(IDENTITY), await inQueue(IDENTITY)].map(
    ([row]) => (row as { readonly answer?: unknown } | undefined)?.answer,
  )
  if (own !== undefined && own === other) return
  throw new QueueError(
    'QUEUE_DATABASE_DIFFERENT',
    `The option transaction of ${target}() needs the queue and the store of cronce in one database, but they are in two.`,
    { hint: 'Leave out transaction: jobs then have a key by which a repeated enqueue adds nothing.', retryable: false },
  )
}
