// A worker of BullMQ with as much at a time as trials found fastest: jobs in a queue, or job schedulers.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Job, Queue, Worker } from 'bullmq'
import { answerParent, setupOf, tally } from '../shared/answering.ts'
import { JOB } from '../shared/loads.ts'
import type { Load } from '../shared/protocol.ts'

interface Numbered {
  readonly number: number
}

const QUEUE = 'bench'
const BATCH = 1_000
/** Before the first instant, for all schedulers to be there. */
const CREATING_MS = 5_000

const { url, concurrency, removes, pipelined } = setupOf<{ readonly removes: boolean; readonly pipelined: boolean }>()
const counts = tally()
const { hostname, port } = new URL(url)
const connection = {
  host: hostname,
  port: Number(port),
  maxRetriesPerRequest: null,
  enableAutoPipelining: pipelined,
}
const queue = new Queue<Numbered>(QUEUE, { connection, defaultJobOptions: { removeOnComplete: removes } })
queue.on('error', () => {})
let worker: Worker<Numbered> | undefined

answerParent(counts, {
  create: ({ load }) => (load.kind === 'burst' ? addJobs(load) : addSchedulers(load)),
  connect: async () => {
    worker = new Worker<Numbered>(QUEUE, execute, { connection, concurrency, autorun: false })
    // A lost connection shows in the figures.
    worker.on('error', () => {})
    // Emitted once the server has confirmed that the job is completed.
    worker.on('completed', () => {
      counts.ended++
      counts.lastEndedAt = Date.now()
    })
    await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()])
    return undefined
  },
  // It runs until it is closed.
  start: async () => void (worker!.isPaused() ? worker!.resume() : worker!.run()),
  pause: async () => void (await worker!.pause()),
  audit: async () => {
    const { completed = 0, ...others } = await queue.getJobCounts()
    return { is: 'audited', succeeded: completed, others }
  },
  stop: async () => {
    await worker?.close()
    await queue.close()
    return undefined
  },
})

async function execute({ id, data, repeatJobKey }: Job<Numbered>): Promise<void> {
  const now = Date.now()
  // The job of a scheduler is named after the scheduler and the instant; one in a queue is due when it starts.
  const dueAt = repeatJobKey === undefined ? now : Number(id!.slice(id!.lastIndexOf(':') + 1))
  counts.starts.push([data.number, dueAt, now - dueAt, 1])
}

async function addJobs({ count, first = 0 }: Load): Promise<undefined> {
  for (let number = 0; number < count; number += BATCH) {
    const size = Math.min(BATCH, count - number)
    await queue.addBulk(
      Array.from({ length: size }, (_, index) => ({ name: JOB, data: { number: first + number + index } })),
    )
  }
}

/** Without a date to start from, each would begin at the millisecond at which it was added. */
async function addSchedulers(load: Load): Promise<undefined> {
  if (load.kind !== 'together' && load.kind !== 'steady') throw new Error(`No schedulers for ${load.kind}.`)
  const every = load.kind === 'together' ? load.intervalMs : 1_000
  const startAt = Math.ceil((Date.now() + CREATING_MS) / every) * every
  const numbers = Array.from({ length: load.count }, (_, number) => number)
  for (let from = 0; from < load.count; from += BATCH) {
    await Promise.all(
      numbers.slice(from, from + BATCH).map((number) => {
        const startDate = startAt + (load.kind === 'steady' ? Math.floor((number * 1_000) / load.count) : 0)
        return queue.upsertJobScheduler(String(number), { every, startDate }, { name: JOB, data: { number } })
      }),
    )
  }
  if (Date.now() >= startAt) throw new Error('The first instant came before all schedulers were there.')
  await sleep(startAt - Date.now())
}
