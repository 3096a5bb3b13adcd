import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cronce } from '../../src/app/cronce.ts'
import type { JobOptions } from '../../src/app/job.ts'

test('the first thing that is asked of an app may be a schedule that is exactly-once', async () => {
  const app = cronce({ store: 'memory:' })
  const options = { job: 'bill', every: '1h', guarantee: 'exactly-once' } as const

  const { policy } = await app.schedules.create('bill:ada', options)
  const { created } = await cronce({ store: 'memory:' }).schedules.createMany([['bill:ada', options]])

  assert.equal(policy.guarantee, 'exactly-once')
  assert.equal(created, 1)
  await app.stop()
})

test('a job that names another job is refused', () => {
  const options = { every: '1h', job: 'other' } as JobOptions

  assert.throws(() => cronce({ store: 'memory:' }).job('bill', options, () => {}), { code: 'OPTION_UNKNOWN' })
})
