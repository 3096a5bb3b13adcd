import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Looks } from '../../src/store/postgres/looks.ts'
import { definition, JOB, NOON, schedule } from '../../src/testing/conformance/samples.ts'

const ALL = [{ job: JOB, buckets: '1'.repeat(256) }]

function sinceOf(looks: Looks, jobs = ALL): number {
  return looks.begin(jobs)[0]!.since
}

test('the first look leaves nothing out, the next begins a margin before it', () => {
  const looks = new Looks()
  assert.ok(sinceOf(looks) < -8.64e15, 'before every instant that a date can be')
  looks.end(ALL, NOON, {})
  assert.equal(sinceOf(looks), NOON - 2_000)
})

test('what still waits is looked at again, however long it has', () => {
  const looks = new Looks()
  looks.begin(ALL)
  looks.end(ALL, NOON, { [JOB]: NOON - 60_000 })
  assert.equal(sinceOf(looks), NOON - 60_000)
})

test('what was written here with a time long past is found by the next look', () => {
  const looks = new Looks()
  looks.begin(ALL)
  looks.end(ALL, NOON, {})
  looks.heed(schedule('queued', { wakeAt: NOON - 30_000 }))
  assert.equal(sinceOf(looks), NOON - 30_000)
  looks.heed(schedule('of another job', { wakeAt: NOON - 90_000, definition: definition({ job: 'other' }) }))
  looks.heed(schedule('asleep', { wakeAt: null }))
  assert.equal(sinceOf(looks), NOON - 30_000)
})

test('a wake-up, other buckets and a job not asked about before make a look whole again', () => {
  const looks = new Looks()
  const whole = sinceOf(looks)
  looks.end(ALL, NOON, {})
  looks.forget()
  assert.equal(sinceOf(looks), whole)
  looks.end(ALL, NOON, {})
  assert.equal(sinceOf(looks, [{ job: JOB, buckets: '0'.repeat(256) }]), whole)
  assert.equal(sinceOf(looks, [{ job: '__proto__', buckets: ALL[0]!.buckets }]), whole)
  looks.end([{ job: '__proto__', buckets: '' }], NOON, {})
})

test('now and then a look is whole by itself', (context) => {
  let mono = 1_000
  context.mock.method(performance, 'now', () => mono)
  const looks = new Looks()
  const whole = sinceOf(looks)
  looks.end(ALL, NOON, {})
  mono += 1_999
  assert.notEqual(sinceOf(looks), whole)
  mono += 2
  assert.equal(sinceOf(looks), whole)
})
