import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { FireEnd } from '../../src/model/record.ts'
import type { ScheduleFacts } from '../../src/watch/rules/facts.ts'
import { stuck } from '../../src/watch/rules/stuck.ts'
import { THRESHOLDS } from '../../src/watch/rules/thresholds.ts'

const MINUTE_MS = 60_000

/** A run that has been open for this long. */
function verdict(
  openMs: number,
  {
    timeoutMs = null,
    usualMs = [],
    state = 'running',
  }: { timeoutMs?: number | null; usualMs?: number[]; state?: string },
) {
  const history = usualMs.map((ms) => ({ outcome: 'succeeded', startedAt: 0, endedAt: ms }) as FireEnd)
  const schedule = {
    open: [{ state, startedAt: 0 }],
    policy: { timeout: { runMs: timeoutMs, graceMs: 10_000 } },
  } as unknown as ScheduleFacts['schedule']
  return stuck({ now: openMs, schedule, history, ends: null, instances: [] }, THRESHOLDS.stuck)
}

describe('stuck', () => {
  test('a run that no instance has ended a minute after its timeout and grace', () => {
    assert.equal(verdict(6 * MINUTE_MS, { timeoutMs: 5 * MINUTE_MS }), 'fine')
    assert.deepEqual(verdict(7 * MINUTE_MS, { timeoutMs: 5 * MINUTE_MS }), {
      text: 'a run is open for 7 min, its timeout is 5 min',
    })
  })

  test('without a timeout, three times the usual, and an hour at least', () => {
    assert.equal(verdict(59 * MINUTE_MS, { usualMs: [MINUTE_MS] }), 'fine')
    assert.notEqual(verdict(61 * MINUTE_MS, { usualMs: [MINUTE_MS] }), 'fine')
    assert.equal(verdict(170 * MINUTE_MS, { usualMs: [60 * MINUTE_MS] }), 'fine')
    assert.notEqual(verdict(181 * MINUTE_MS, { usualMs: [60 * MINUTE_MS] }), 'fine')
  })

  test('not a run that goes on elsewhere, which has a deadline of its own', () => {
    assert.equal(verdict(600 * MINUTE_MS, { state: 'parked' }), 'fine')
  })
})
