import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nearestInstant } from '../../src/app/nearest-instant.ts'
import { at, cron, every } from '../../src/cron.ts'

const THREE = Date.parse('2027-01-01T03:00:00Z')
const nightly = cron('0 3 * * *')

test('a host one second early gets the slot that is just ahead, and the time to wait', () => {
  assert.deepEqual(nearestInstant(nightly, THREE - 1_000), { dueAt: THREE, waitMs: 1_000 })
  assert.deepEqual(nearestInstant(cron('* * * * *'), THREE - 1_000), { dueAt: THREE, waitMs: 1_000 })
})

test('an instant that is now, or has just passed, is not waited for', () => {
  assert.deepEqual(nearestInstant(nightly, THREE), { dueAt: THREE, waitMs: 0 })
  assert.deepEqual(nearestInstant(nightly, THREE + 1), { dueAt: THREE, waitMs: 0 })
  assert.deepEqual(nearestInstant(nightly, THREE + 60_000), { dueAt: THREE, waitMs: 0 })
})

test('beyond the tolerance, on either side, no instant is found', () => {
  assert.equal(nearestInstant(nightly, THREE + 60_001), null)
  assert.equal(nearestInstant(nightly, THREE - 60_001), null)
  assert.deepEqual(nearestInstant(nightly, THREE + 60_001, 120_000), { dueAt: THREE, waitMs: 0 })
  assert.equal(nearestInstant(nightly, THREE + 1, 0), null)
})

test('half way between two instants neither is chosen', () => {
  const minutely = cron('* * * * *')
  assert.equal(nearestInstant(minutely, THREE + 30_000), null)
  assert.deepEqual(nearestInstant(minutely, THREE + 29_999), { dueAt: THREE, waitMs: 0 })
  assert.deepEqual(nearestInstant(minutely, THREE + 30_001), { dueAt: THREE + 60_000, waitMs: 29_999 })
})

test('the narrower gap counts: what is late by more than half of it may be another one', () => {
  const pair = cron('0,10 0 3 * * *')
  assert.deepEqual(nearestInstant(pair, THREE + 14_999), { dueAt: THREE + 10_000, waitMs: 0 })
  assert.equal(nearestInstant(pair, THREE + 15_000), null)
})

test('a trigger with one instant, and one with none', () => {
  assert.deepEqual(nearestInstant(at(THREE), THREE - 5), { dueAt: THREE, waitMs: 5 })
  assert.deepEqual(nearestInstant(at(THREE), THREE + 5), { dueAt: THREE, waitMs: 0 })
  assert.equal(nearestInstant(cron('0 0 30 2 *'), THREE), null)
})

test('every instant found is an instant of the trigger, the nearest, and within the tolerance', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 10, max: 200_000 }),
      fc.integer({ min: -1_000_000, max: 1_000_000 }),
      fc.integer({ min: 0, max: 100_000 }),
      (everyMs, offset, toleranceMs) => {
        const now = THREE + offset
        const found = nearestInstant(every(everyMs, { anchor: THREE }), now, toleranceMs)
        const beside = (((now - THREE) % everyMs) + everyMs) % everyMs
        const distance = Math.min(beside, everyMs - beside)
        assert.equal(found !== null, distance <= toleranceMs && distance * 2 < everyMs)
        if (found === null) return
        assert.equal(Math.abs(found.dueAt - now), distance)
        assert.equal((found.dueAt - THREE) % everyMs === 0, true)
        assert.equal(found.waitMs, Math.max(0, found.dueAt - now))
      },
    ),
  )
})
