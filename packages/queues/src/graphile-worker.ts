import type { Run } from 'cronce'
import { type QueryIn, queryIn } from 'cronce/internal'
import { asHandler, type QueueHandler } from './as-handler.ts'
import { type HeldQueue, holdJob, type JobEnd, type WatchedJob } from './hold-job.ts'
import { type QueueTargetOptions, readOptions } from './queue-options.ts'
import { demandSameDatabase } from './same-database.ts'
import { readTransaction, type TransactionOption } from './transaction-option.ts'

export type { QueueHandler } from './as-handler.ts'
export type { FireMessage } from './fire-message.ts'
export type { HeldResult } from './hold-job.ts'
export { QueueError, type QueueErrorCode } from './queue-error.ts'
export type { QueueTargetOptions } from './queue-options.ts'
export type { TransactionOption } from './transaction-option.ts'

/** What cronce calls of the `WorkerUtils` of graphile-worker. */
export interface WorkerUtilsLike {
  withPgClient<Value>(work: (client: PgClientLike) => Promise<Value>): Promise<Value>
}

export interface PgClientLike {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>
}

export interface GraphileWorkerOptions<Input = unknown> extends QueueTargetOptions<Input>, TransactionOption {
  /** How to add the job. Its key is cronce's. */
  readonly options?: GraphileJobOptions | undefined
  /** The schema of graphile-worker. @default 'graphile_worker' */
  readonly schema?: string | undefined
}

/** As in a `TaskSpec`. */
export interface GraphileJobOptions {
  readonly queueName?: string | undefined
  readonly runAt?: Date | undefined
  readonly maxAttempts?: number | undefined
  readonly priority?: number | undefined
  readonly flags?: readonly string[] | undefined
}

const DEFAULT_SCHEMA = 'graphile_worker'
const MORE = ['transaction', 'schema']
const OWN = ['jobKey', 'jobKeyMode']

/** A handler that has a task of graphile-worker do the work. */
export function graphileWorker<Input = unknown>(
  utils: WorkerUtilsLike,
  options: GraphileWorkerOptions<Input> = {},
): QueueHandler<Input> {
  const { isHeld, pollMs, nameOf, dataOf } = readOptions('graphileWorker', options, { more: MORE, own: OWN })
  const isInTransaction = readTransaction('graphileWorker', options)
  const { schema = DEFAULT_SCHEMA, options: spec = {} } = options
  const place = `"${schema.replaceAll('"', '""')}"`
  const ask: QueryIn = (text, values) =>
    utils.withPgClient(async (client) => (await client.query(text, [...values])).rows as Awaited<ReturnType<QueryIn>>)
  return asHandler(isHeld, async (run) => {
    const task = nameOf(run)
    const data = await dataOf(run)
    const add = (query: QueryIn, key: string): Promise<string> => addJob(query, place, { task, data, key, spec })
    if (isInTransaction) {
      return run.transaction(async (tx) => {
        const query = queryIn(tx)
        await demandSameDatabase(
          'graphileWorker',
          (text) => query(text, []),
          (text) => ask(text, []),
        )
        return { jobId: await add(query, run.idempotencyKey()) }
      })
    }
    if (!isHeld) return { jobId: await add(ask, run.idempotencyKey()) }
    const held: HeldQueue = {
      name: `queue of ${schema}`,
      add: (key) => add(ask, key),
      watch: (id) => watchJob(ask, place, id, run),
    }
    return holdJob(run, held, pollMs)
  })
}

interface NewJob {
  readonly task: string
  readonly data: object
  readonly key: string
  readonly spec: GraphileJobOptions
}

/** `unsafe_dedupe` is the only mode that adds nothing while a worker has the first job. */
async function addJob(query: QueryIn, place: string, { task, data, key, spec }: NewJob): Promise<string> {
  const { queueName, runAt, maxAttempts, priority, flags } = spec
  const values = [
    task,
    JSON.stringify(data),
    key,
    ...[queueName, runAt?.toISOString(), maxAttempts, priority].map((value) =>
      value === undefined ? null : String(value),
    ),
    flags === undefined ? null : JSON.stringify(flags),
  ]
  const text = `select (${place}.add_job(identifier => $1::text, payload => $2::text::json, job_key => $3::text,
  queue_name => $4::text, run_at => $5::text::timestamptz, max_attempts => $6::text::int, priority => $7::text::int,
  flags => (select array_agg(value) from json_array_elements_text($8::text::json)), job_key_mode => 'unsafe_dedupe')).id::text as answer`
  const [row] = await query(text, values as string[])
  return String((row as { readonly answer: unknown }).answer)
}

interface JobRow {
  readonly attempts: number
  readonly error: string | null
  readonly is_over: boolean
}

function watchJob(ask: QueryIn, place: string, id: string, run: Pick<Run, 'log'>): WatchedJob {
  let error: string | null = null
  return {
    async look() {
      const text = `select attempts, last_error as error, attempts >= max_attempts and locked_at is null as is_over
from ${place}.jobs where id = $1::text::bigint`
      const [row] = (await ask(text, [id])) as unknown as readonly JobRow[]
      if (row === undefined) return ended('succeeded', null, null)
      if (row.error !== null && row.error !== error) run.log.warn(`An attempt of the job failed: ${row.error}`)
      error = row.error
      return row.is_over ? ended('failed', row.attempts, row.error) : 'open'
    },
    async cancel(why) {
      const text = `select id::text from ${place}.permanently_fail_jobs(array[$1::text::bigint], $2::text)`
      const failed = await ask(text, [id, why])
      return failed.length > 0 ? null : 'A worker has the job, or had it, and is not told to end it.'
    },
  }
}

/** graphile-worker deletes a job that has succeeded, and keeps neither what it returned nor how often it ran. */
function ended(outcome: JobEnd['outcome'], attempts: number | null, message: string | null): JobEnd {
  const error = outcome === 'failed' ? { message: message ?? 'no reason', stack: null } : null
  return { outcome, result: null, attempts, stalled: null, error }
}
