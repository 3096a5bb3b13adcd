import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Job, QueueEvents, UnrecoverableError, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { abortCancelled } from '../src/bullmq.ts'

/** A process with a real worker of BullMQ. It does what the data of a job says, and tells its parent. */
const {
  url,
  queue,
  lockDuration = 30_000,
  gate = '',
} = JSON.parse(process.argv[2]!) as {
  readonly url: string
  readonly queue: string
  readonly lockDuration?: number
  /** A file that ends `block`. */
  readonly gate?: string
}
const GATE_LOOK_MS = 20
const redis = new Redis(url)
redis.on('error', () => {})
const connection = { url, maxRetriesPerRequest: null }

interface Order {
  readonly does: keyof typeof DOES
}

const DOES = {
  succeed: async (job: Job) => {
    await job.log('first line')
    await job.updateProgress(50)
    await job.log('second line')
    return { rows: 7 }
  },
  failOnce: async (job: Job) => {
    if (job.attemptsMade === 0) throw new Error('the printer is out of paper')
    return 'printed'
  },
  fail: async () => {
    throw new Error('the printer burns')
  },
  // In the first process for as long as it lives.
  hangFirst: async (job: Job) => {
    if (job.stalledCounter === 0) await sleep(600_000)
    return 'by the second worker'
  },
  untilAborted: async (_job: Job, signal: AbortSignal | undefined) => {
    await sleep(600_000, undefined, { signal: signal! }).catch(() => {})
    throw new UnrecoverableError(`aborted: ${String(signal!.reason)}`)
  },
  hold: async (job: Job) => {
    while ((await job.getState()) === 'active' && !(await isReleased(job))) await sleep(20)
    return 'held'
  },
  // The event loop is blocked, so the lock is not renewed.
  block: async (job: Job) => {
    if (job.stalledCounter > 0) return 'beside the first one'
    const clock = new Int32Array(new SharedArrayBuffer(4))
    while (!existsSync(gate)) Atomics.wait(clock, 0, 0, GATE_LOOK_MS)
    tell('unblocked', job.id!)
    return 'too late'
  },
}

async function isReleased(job: Job): Promise<boolean> {
  return (await redis.get(`release:${job.queueName}`)) !== null
}

const worker = new Worker(
  queue,
  async (job: Job<{ readonly input: Order }>, _token, signal) => {
    tell('began', job.id!)
    const result = await DOES[job.data.input.does](job, signal)
    tell('ended', job.id!)
    return result
  },
  { connection, concurrency: 10, lockDuration, stalledInterval: Math.min(lockDuration, 30_000) / 2 },
)
worker.on('error', () => {})
const events = new QueueEvents(queue, { connection })
events.on('error', () => {})
abortCancelled(worker, events)
await Promise.all([worker.waitUntilReady(), events.waitUntilReady()])
tell('ready', '')

function tell(what: string, id: string): void {
  if (process.connected) process.send!({ what, id }, () => {})
}
process.once('disconnect', () => process.exit())
