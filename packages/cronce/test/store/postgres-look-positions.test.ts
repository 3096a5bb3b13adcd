import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LookPositions } from '../../src/store/postgres/look-position.ts'
import { definition, JOB, NOON, schedule } from '../../src/testing/conformance/samples.ts'

const ALL = [{ job: JOB, buckets: '1'.repeat(256) }]

/** Where a look began, which found this. */
function look(looks: LookPositions, oldest: ReadonlyMap<string, number> = new Map(), jobs = ALL): number {
  const asked = looks.begin(jobs)
  looks.end(asked, NOON, oldest)
  return asked[0]!.since
}

test('the first look leaves nothing out, the next begins a margin before it', () => {
  const looks = new LookPositions()
  assert.ok(look(looks) < -8.64e15, 'before every instant that a date can be')
  assert.equal(look(looks), NOON - 2_000)
})

test('what still waits is looked at again, however long it has', () => {
  const looks = new LookPositions()
  look(looks, new Map([[JOB, NOON - 60_000]]))
  assert.equal(look(looks), NOON - 60_000)
})

test('what was written here with a time long past is found by the next look', () => {
  const looks = new LookPositions()
  look(looks)
  looks.written(schedule('queued', { wakeAt: NOON - 30_000 }))
  looks.written(schedule('of another job', { wakeAt: NOON - 90_000, definition: definition({ job: 'other' }) }))
  looks.written(schedule('asleep', { wakeAt: null }))
  assert.equal(look(looks), NOON - 30_000)
})

test('also when it was written while the answer of a look was on its way', () => {
  const looks = new LookPositions()
  look(looks)
  const asked = looks.begin(ALL)
  looks.written(schedule('queued', { wakeAt: NOON - 60_000 }))
  looks.end(asked, NOON, new Map())
  assert.equal(look(looks), NOON - 60_000)
})

test('one that left something out is followed by one that does not', () => {
  const looks = new LookPositions()
  assert.equal(looks.end(looks.begin(ALL), NOON, new Map()), null)
  assert.equal(looks.end(looks.begin(ALL), NOON, new Map()), NOON + 2_000)
})

test('a wake-up, other buckets and a job not asked about before make a look whole again', () => {
  const looks = new LookPositions()
  const whole = look(looks)
  looks.forget()
  assert.equal(look(looks), whole)
  assert.equal(look(looks, new Map(), [{ job: JOB, buckets: '0'.repeat(256) }]), whole)
  assert.equal(look(looks, new Map(), [{ job: '__proto__', buckets: '' }]), whole)
  assert.equal(look(looks, new Map(), [{ job: '__proto__', buckets: '' }]), NOON - 2_000)
})

test('now and then a look is complete by itself', (context) => {
  let mono = 1_000
  context.mock.method(performance, 'now', () => mono)
  const looks = new LookPositions()
  const whole = look(looks)
  mono += 1_999
  assert.notEqual(look(looks), whole)
  mono += 2
  assert.equal(look(looks), whole)
})
