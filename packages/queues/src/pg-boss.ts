import { createHash } from 'node:crypto'
import type { Run } from 'cronce'
import { type QueryIn, queryIn } from 'cronce/internal'
import { asHandler, type QueueHandler } from './as-handler.ts'
import { type HeldQueue, holdJob, type JobEnd, resultOf, type WatchedJob } from './hold-job.ts'
import { QueueError } from './queue-error.ts'
import { type QueueTargetOptions, readOptions } from './queue-options.ts'
import { demandSameDatabase } from './same-database.ts'
import { readTransaction, type TransactionOption } from './transaction-option.ts'

export type { QueueHandler } from './as-handler.ts'
export type { FireMessage } from './fire-message.ts'
export type { HeldResult } from './hold-job.ts'
export { QueueError, type QueueErrorCode } from './queue-error.ts'
export type { QueueTargetOptions } from './queue-options.ts'
export type { TransactionOption } from './transaction-option.ts'

/** What cronce calls of a `PgBoss`. */
export interface PgBossLike {
  send(name: string, data?: object | null, options?: object): Promise<string | null>
  getJobById(name: string, id: string): Promise<PgBossJobLike | null>
  cancel(name: string, id: string): Promise<unknown>
  getDb(): PgBossDatabase
}

export interface PgBossDatabase {
  executeSql(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>
}

export interface PgBossJobLike {
  readonly state: string
  readonly output: unknown
  readonly retryCount: number
}

export interface PgBossOptions<Input = unknown> extends QueueTargetOptions<Input>, TransactionOption {
  /** Options of `send`, such as `retryLimit`. `id` and `db` are cronce's. */
  readonly options?: object | undefined
}

/** A handler that has a queue of pg-boss do the work. The queue must exist. */
export function pgBoss<Input = unknown>(boss: PgBossLike, options: PgBossOptions<Input> = {}): QueueHandler<Input> {
  const { isHeld, pollMs, nameOf, dataOf } = readOptions('pgBoss', options, {
    more: ['transaction'],
    own: ['id', 'db'],
  })
  const isInTransaction = readTransaction('pgBoss', options)
  const send = async (name: string, data: object, id: string, more: object): Promise<string> => {
    const sent = await boss.send(name, data, { ...options.options, ...more, id })
    // No row was added: there is one with this id, or a policy of the queue does not allow another one.
    if (sent === null && (await boss.getJobById(name, id)) === null) throw refused(name)
    return id
  }
  return asHandler(isHeld, async (run) => {
    const name = nameOf(run)
    const data = await dataOf(run)
    if (isInTransaction) {
      const jobId = uuidOf(run.idempotencyKey())
      return run.transaction(async (tx) => {
        const query = queryIn(tx)
        const db = databaseOf(query)
        await demandSameDatabase(
          'pgBoss',
          (text) => query(text, []),
          async (text) => (await boss.getDb().executeSql(text)).rows,
        )
        return { jobId: await send(name, data, jobId, { db }) }
      })
    }
    if (!isHeld) return { jobId: await send(name, data, uuidOf(run.idempotencyKey()), {}) }
    const held: HeldQueue = {
      name: `queue ${name}`,
      add: (key) => send(name, data, uuidOf(key), {}),
      watch: (id) => watchJob(boss, name, id, run),
    }
    return holdJob(run, held, pollMs)
  })
}

function databaseOf(query: QueryIn): PgBossDatabase {
  return { executeSql: async (text, values = []) => ({ rows: await query(text, values as string[]) }) }
}

/** pg-boss wants a UUID: version 8, whose bits are free, of a hash of the key. */
function uuidOf(key: string): string {
  const hex = createHash('sha256').update(key).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

function watchJob(boss: PgBossLike, name: string, id: string, run: Pick<Run, 'log'>): WatchedJob {
  let retries = 0
  return {
    async look() {
      const job = await boss.getJobById(name, id)
      if (job === null) return 'missing'
      if (job.retryCount > retries)
        run.log.warn(
          `pg-boss runs the job again, as retry ${job.retryCount}: it failed, took too long, or its worker died.`,
        )
      retries = job.retryCount
      return endOf(job) ?? 'open'
    },
    async cancel() {
      const job = await boss.getJobById(name, id)
      await boss.cancel(name, id)
      if (job?.state !== 'active') return null
      return 'A worker has the job. pg-boss ignores what it reports, but does not tell it to end.'
    },
  }
}

function endOf({ state, output, retryCount }: PgBossJobLike): JobEnd | null {
  const end = { attempts: retryCount + 1, stalled: null }
  if (state === 'completed') return { outcome: 'succeeded', result: resultOf(output), error: null, ...end }
  if (state !== 'failed' && state !== 'cancelled') return null
  const { message, stack } = (output ?? {}) as { readonly message?: unknown; readonly stack?: unknown }
  const text = typeof message === 'string' ? message : state === 'cancelled' ? 'it was cancelled' : 'no reason'
  const error = { message: text, stack: typeof stack === 'string' ? stack : null }
  return { outcome: 'failed', result: null, error, ...end }
}

function refused(name: string): QueueError {
  return new QueueError('QUEUE_JOB_REFUSED', `The policy of queue ${name} does not allow another job now.`, {
    hint: "Use a queue of the policy 'standard', or leave out singletonKey and singletonSeconds: each fire has one job as it is.",
  })
}
