import assert from 'node:assert/strict'
import test from 'node:test'
import { jittered } from '../../src/policy/plan/jitter.ts'
import { mayPlan, moveZone } from '../../src/policy/plan/move-zone.ts'
import { given, HOUR, MINUTE, NOON } from './keeper.ts'

const BERLIN = { kind: 'cron', expression: '0 9 * * *', tz: 'Europe/Berlin' } as const

test('zone data matters where there is a zone, and only there', () => {
  assert.equal(given({ trigger: BERLIN }).it.zoneData, '2027a')
  assert.equal(given({ trigger: { ...BERLIN, tz: 'UTC' } }).it.zoneData, null)
  assert.equal(given({ trigger: { ...BERLIN, tz: '+05:30' } }).it.zoneData, null)
  assert.equal(given().it.zoneData, null)
})

test('newer zone data finds the next instant again, from what is settled on', () => {
  const keeper = given({ trigger: BERLIN })
  const right = keeper.it.nextAt!
  // As an instance with wrong data for the zone would have written it: an hour late.
  keeper.state = { ...keeper.it, nextAt: right + HOUR }
  keeper.zoneData = '2027b'
  const decision = keeper.take(moveZone(keeper.it, keeper.context))
  assert.deepEqual([keeper.it.nextAt, keeper.it.zoneData, keeper.it.wakeAt], [right, '2027b', right])
  assert.deepEqual(decision?.events, [
    { type: 'schedule.moved', schedule: 'nightly', job: 'report', from: right + HOUR, to: right },
  ])
})

test('an instant that newer data puts before now is late, not lost', () => {
  const keeper = given({ trigger: BERLIN })
  const right = keeper.it.nextAt!
  keeper.state = { ...keeper.it, nextAt: right + HOUR }
  keeper.now = right + 30 * MINUTE
  keeper.zoneData = '2027b'
  keeper.take(moveZone(keeper.it, keeper.context))
  assert.equal(keeper.advance()[0]?.record.dueAt, right)
})

test('data that is not newer, or does not matter, moves nothing', () => {
  const keeper = given({ trigger: BERLIN })
  assert.equal(moveZone(keeper.it, keeper.context), null)
  assert.equal(moveZone(keeper.it, { ...keeper.context, zoneData: '2026c' }), null)
  assert.equal(moveZone(given().it, { ...keeper.context, zoneData: '2028a' }), null)
})

test('an instance with older data does not plan a zone while a newer one lives', () => {
  const { it: zoned } = given({ trigger: BERLIN })
  assert.deepEqual([mayPlan(zoned, '2026c', '2027a'), mayPlan(zoned, '2027a', '2027a')], [false, true])
  assert.equal(mayPlan(given().it, '2026c', '2027a'), true)
})

test('fixed jitter is the same for every fire of a schedule, random jitter is not', () => {
  const delays = (kind: 'fixed' | 'random', id: string) =>
    new Set(
      Array.from({ length: 50 }, (_, n) => jittered({ kind, ms: 30_000 }, id, NOON + n * HOUR, null) - NOON - n * HOUR),
    )
  assert.equal(delays('fixed', 'a').size, 1)
  assert.notDeepEqual(delays('fixed', 'a'), delays('fixed', 'b'))
  assert.ok(delays('random', 'a').size > 40)
  for (const delay of delays('random', 'a')) assert.ok(delay >= 0 && delay <= 30_000)
})

test('jitter never reaches the next instant', () => {
  for (let n = 0; n < 100; n++) {
    const readyAt = jittered({ kind: 'random', ms: HOUR }, 'a', NOON + n, NOON + n + MINUTE)
    assert.ok(readyAt >= NOON + n && readyAt < NOON + n + MINUTE)
  }
})
