import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startRedis } from '../../../../scripts/servers/index.ts'
import { BUCKET_COUNT, bucketOf } from '../../src/model/bucket.ts'
import { redis } from '../../src/store/redis/redis.ts'
import { creation, decideIn, JOB, schedule } from '../../src/testing/conformance/samples.ts'

const MASKS = {
  'the last sixteen': (bucket: number) => bucket >= BUCKET_COUNT - 16,
  'every sixteenth': (bucket: number) => bucket % 16 === 7,
  'the last': (bucket: number) => bucket === BUCKET_COUNT - 1,
  'all but the last': (bucket: number) => bucket < BUCKET_COUNT - 1,
  all: () => true,
  none: () => false,
}

const SOON_MS = 300_000
const aheadMs = 2 * SOON_MS

test("the instance's own schedules are found among thousands of others that are due, or soon will be, at the same instant", async (context) => {
  const server = await startRedis()
  const store = await redis(server.url).open({ namespace: 'due', adopt: false, production: false, warn: () => {} })
  context.after(async () => {
    await store.close()
    await server.stop()
  })
  decideIn(store.info.epoch)
  const { now } = await store.load([])
  const states = Array.from({ length: 14_000 }, (_, number) =>
    schedule(`s${number}`, { wakeAt: now + (number < 12_000 ? -10_000 : SOON_MS) }),
  )
  for (let from = 0; from < states.length; from += 500) {
    await store.apply(states.slice(from, from + 500).map((state) => creation(state)))
  }

  for (const [name, isOwn] of Object.entries(MASKS)) {
    const buckets = Array.from({ length: BUCKET_COUNT }, (_, bucket) => (isOwn(bucket) ? '1' : '0')).join('')
    const own = states.filter(({ id }) => isOwn(bucketOf(id))).map(({ wakeAt }) => wakeAt!)
    const others = states.filter(({ id }) => !isOwn(bucketOf(id))).map(({ wakeAt }) => wakeAt!)
    for (const limit of [10, 700]) {
      const due = await store.due({ jobs: [{ job: JOB, buckets }], patienceMs: 9e15, aheadMs, limit })
      const what = `own: ${name}, ${limit} wanted`
      assert.ok(
        due.schedules.every(({ id }) => isOwn(bucketOf(id))),
        what,
      )
      assert.deepEqual(
        [due.schedules.map(({ wakeAt }) => wakeAt), due.mineAt, due.othersAt],
        [own.slice(0, limit), own[limit] ?? null, others[0] ?? null],
        what,
      )
    }
    const any = await store.due({ jobs: [{ job: JOB, buckets }], patienceMs: 0, aheadMs, limit: 10 })
    assert.equal(any.schedules.length, 10)
    assert.deepEqual([any.mineAt, any.othersAt], [own[0] ?? null, others[0] ?? null], `own: ${name}, all wanted`)
  }
})
