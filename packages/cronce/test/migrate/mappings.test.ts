import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Queue, Worker } from 'bullmq'
import { type Server, startRedis } from '../../../../scripts/servers/index.ts'
import { every } from '../../src/cron.ts'
import { connect } from '../../src/index.ts'
import { backoffMs } from '../../src/policy/end/retry.ts'

const INTERVAL_MS = 1_000
const RUNS = 3

let server: Server
before(async () => {
  server = await startRedis()
})
after(() => server.stop())

function guide(name: string): string {
  return readFileSync(join(import.meta.dirname, `../../../../docs/migrate/${name}.md`), 'utf8')
}

/** The slots that BullMQ runs, read as the guide reads them, and the phase that the guide has people read. */
async function runByBullmq(
  scheduler: { every: number; offset?: number } | { pattern: string },
): Promise<{ readonly slots: readonly number[]; readonly next: number }> {
  const connection = { url: server.url }
  const name = `queue-${JSON.stringify(scheduler).replaceAll(':', '')}`
  const queue = new Queue(name, { connection })
  const slots: number[] = []
  const addedFor: number[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  await queue.upsertJobScheduler('cleanup', scheduler, { name: 'cleanup' })
  const { next } = (await queue.getJobScheduler('cleanup'))!
  const worker = new Worker(
    name,
    async (job) => {
      slots.push(Number(job.id?.split(':').at(-1)))
      addedFor.push(job.timestamp + (job.opts.delay ?? 0))
      if (slots.length === RUNS) resolve()
    },
    { connection },
  )
  await promise
  await worker.close()
  await queue.close()
  for (const [index, slot] of slots.entries()) {
    assert.ok(addedFor[index]! >= slot, 'BullMQ runs no job before the slot that its id names')
  }
  return { slots, next: next! }
}

test('BullMQ: every counts from its first job; with its next time as anchor, a job is due at the same times', async () => {
  assert.ok(guide('bullmq').includes("Number(job.id?.split(':').at(-1))"))
  const { slots, next } = await runByBullmq({ every: INTERVAL_MS })
  const same = every(INTERVAL_MS, { anchor: next })
  for (const slot of slots) assert.equal(same.next(slot - 1), slot)
})

test('BullMQ: an offset is an anchor', async () => {
  const { slots } = await runByBullmq({ every: INTERVAL_MS, offset: 300 })
  const same = every(INTERVAL_MS, { anchor: 300 })
  for (const slot of slots) assert.equal(same.next(slot - 1), slot)
  for (const slot of slots) assert.notEqual(every(INTERVAL_MS).next(slot - 1), slot, 'it is not due on the full second')
})

test('BullMQ: the slot of a pattern is read in the same way', async () => {
  const { slots } = await runByBullmq({ pattern: '* * * * * *' })
  assert.deepEqual(
    slots.map((slot) => slot % 1_000),
    slots.map(() => 0),
  )
})

test('graphile-worker: the retries of the guide have the pauses of the worker', async () => {
  const options = {
    attempts: 24,
    backoff: { base: 2_718, factor: Math.E, cap: 22_026_000, jitter: 0 },
    deadline: '5d',
  } as const
  const written =
    "{ attempts: 24, backoff: { base: 2_718, factor: Math.E, cap: 22_026_000, jitter: 0 }, deadline: '5d' }"
  assert.ok(guide('graphile-worker').includes(written))
  const client = await connect({ store: 'memory:', logger: false })
  const { policy } = await client.schedules.put('rollup', { job: 'rollup', cron: '0 3 * * *', retry: options })
  await client.close()
  let total = 0
  for (let failures = 1; failures <= 24; failures++) {
    const theirs = Math.exp(Math.min(failures, 10)) * 1_000
    const ours = backoffMs(policy.retry, failures, 1)
    total += ours
    assert.ok(Math.abs(ours / theirs - 1) < 0.01, `pause ${failures}: ${ours} ms instead of ${theirs} ms`)
  }
  assert.ok(policy.retry.deadlineMs !== null && total < policy.retry.deadlineMs, 'all of them fit the deadline')
})
