// pg-boss in bulk: fetch a batch, execute it, complete it, as fast as it goes. The concurrency is that of batches.
import { PgBoss } from 'pg-boss'
import { answerParent, setupOf, tally } from '../shared/answering.ts'
import { JOB } from '../shared/loads.ts'

const { url, concurrency, batch } = setupOf<{ readonly batch: number }>()
const counts = tally()
const boss = new PgBoss({ connectionString: url, max: concurrency + 1, supervise: false, schedule: false })
boss.on('error', () => {})
const stopped = new AbortController()
let fetching: Promise<unknown> | undefined

answerParent(counts, {
  create: async ({ load }) => {
    await boss.start()
    await boss.createQueue(JOB)
    const { count, first = 0 } = load
    for (let number = 0; number < count; number += batch) {
      const size = Math.min(batch, count - number)
      await boss.insert(
        JOB,
        Array.from({ length: size }, (_, index) => ({ data: { number: first + number + index } })),
      )
    }
    return undefined
  },
  connect: async () => void (await boss.start()),
  start: async () => {
    fetching = Promise.all(Array.from({ length: concurrency }, fetchInTurn))
    return undefined
  },
  // It stops by itself when the queue is empty.
  pause: async () => void (await fetching),
  stop: async () => {
    stopped.abort()
    await fetching
    await boss.stop({ graceful: false })
    return undefined
  },
})

async function fetchInTurn(): Promise<void> {
  while (!stopped.signal.aborted) {
    const jobs = await boss.fetch<{ readonly number: number }>(JOB, { batchSize: batch })
    // A worker that finds no job is done: all jobs were queued before the start.
    if (jobs.length === 0) return
    for (const { data } of jobs) counts.starts.push([data.number, Date.now(), 0, 1])
    await boss.complete(
      JOB,
      jobs.map(({ id }) => id),
    )
    counts.ended += jobs.length
    counts.lastEndedAt = Date.now()
  }
}
