/** How each scheduler is set up in a process, as its documentation says. See `DESCRIPTIONS` for what differs from its defaults. */
import { randomUUID } from 'node:crypto'
import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import cron, { type RunCoordinator } from 'node-cron'
import { type JobWithMetadata, PgBoss } from 'pg-boss'
import { cronce } from '../../packages/cronce/src/app/cronce.ts'
import { redis as redisStore } from '../../packages/cronce/src/redis.ts'
import { postgres } from '../../packages/cronce/src/store/postgres/postgres.ts'
import type { StoreSource } from '../../packages/cronce/src/store/store.ts'
import { plainLock } from '../skew/plain-lock.ts'
import { MINUTE_MS, type Order, PATTERN, type System, scheduleName } from './order.ts'

export interface Hold {
  readonly signal?: AbortSignal | undefined
  readonly token?: string
}

/** The job: the same for all. */
export type Work = (schedule: string, dueAt: number, hold: Hold) => Promise<void>

/** Resolves when the process takes part. */
type Start = (order: Order, work: Work) => Promise<void>

export const STARTS: Readonly<Record<System, Start>> = {
  'cronce-postgres': (order, work) => startCronce(order, work, postgres(order.url, { migrate: 'auto' })),
  'cronce-redis': (order, work) => startCronce(order, work, redisStore(order.url)),
  bullmq: startBullmq,
  'pg-boss': startPgBoss,
  'node-cron-lock-freed': async (order, work) => startNodeCron(order, work, plainLock(redisOf(order))),
  'node-cron-lock-kept': async (order, work) => startNodeCron(order, work, keptLock(redisOf(order))),
  'node-cron': async (order, work) => startNodeCron(order, work),
}

const ALL = ({ schedules }: Order): readonly string[] =>
  Array.from({ length: schedules }, (_, index) => scheduleName(index))

async function startCronce(order: Order, work: Work, store: StoreSource<unknown>): Promise<void> {
  const app = cronce({ store, app: 'peers', deployment: 'one', logger: false, concurrency: order.schedules })
  for (const name of ALL(order)) {
    app.job(name, PATTERN, (run) => work(name, run.fire.dueAt, { signal: run.signal, token: String(run.token) }))
  }
  await app.start()
}

const QUEUE = 'peers'

async function startBullmq(order: Order, work: Work): Promise<void> {
  const { hostname, port } = new URL(order.url)
  const connection = { host: hostname, port: Number(port), maxRetriesPerRequest: null }
  const queue = new Queue<{ readonly schedule: string }>(QUEUE, { connection })
  queue.on('error', () => {})
  const worker = new Worker<{ readonly schedule: string }>(
    QUEUE,
    // The job of a scheduler is named after the scheduler and the instant.
    ({ id, data }, _token, signal) => work(data.schedule, Number(id!.slice(id!.lastIndexOf(':') + 1)), { signal }),
    { connection, concurrency: order.schedules },
  )
  worker.on('error', () => {})
  worker.on('lockRenewalFailed', (ids) => {
    for (const id of ids) worker.cancelJob(id)
  })
  await worker.waitUntilReady()
  for (const name of ALL(order)) {
    await queue.upsertJobScheduler(name, { pattern: PATTERN }, { name: 'job', data: { schedule: name } })
  }
}

async function startPgBoss(order: Order, work: Work): Promise<void> {
  const boss = new PgBoss({
    connectionString: order.url,
    ...{ cronMonitorIntervalSeconds: 1, cronWorkerIntervalSeconds: 1 },
  })
  boss.on('error', () => {})
  await boss.start()
  await boss.createQueue(QUEUE, { heartbeatSeconds: 15 })
  for (const name of ALL(order)) {
    await boss.schedule(QUEUE, PATTERN, { schedule: name }, { key: name, missed: 'once' })
  }
  const options = { localConcurrency: order.schedules, includeMetadata: true, pollingIntervalSeconds: 0.5 } as const
  await boss.work(QUEUE, options, async (jobs: readonly JobWithMetadata<{ readonly schedule: string }>[]) => {
    for (const { data, singletonOn, createdOn, signal } of jobs) {
      // The slot of a minute that a scheduled job is filed under.
      const dueAt = singletonOn ?? new Date(Math.floor(createdOn.getTime() / MINUTE_MS) * MINUTE_MS)
      await work(data.schedule, dueAt.getTime(), { signal })
    }
  })
}

async function startNodeCron(order: Order, work: Work, runCoordinator?: RunCoordinator): Promise<void> {
  cron.setLogger({ info() {}, warn() {}, error() {}, debug() {} })
  for (const name of ALL(order)) {
    cron.schedule(PATTERN, ({ date }) => work(name, date.getTime(), {}), {
      name,
      ...(runCoordinator === undefined ? {} : { distributed: true, runCoordinator }),
    })
  }
}

function redisOf({ url }: Order): Redis {
  const client = new Redis(url)
  client.on('error', () => {})
  return client
}

const KEPT_MS = 600_000

/** The other usual recipe: whoever sets the key of a due time first runs it, and the key stays until it expires. */
function keptLock(client: Redis): RunCoordinator {
  return {
    shouldRun: async (key) => (await client.set(`kept:${key}`, randomUUID(), 'PX', KEPT_MS, 'NX')) === 'OK',
  }
}
