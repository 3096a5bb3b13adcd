import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Expected, judgeLedger, LATE_MS } from './ledger.ts'
import type { Line } from './order.ts'

const EPOCH = 1_000_000
const DUE = EPOCH + 60_000
const EXPECTED: Expected = { schedules: ['a'], dueTimes: [DUE], epoch: EPOCH }

/** At so many milliseconds after the due time. */
function line(kind: Line['kind'], afterMs: number, { node = 'x', token = null as string | null } = {}): Line {
  return { kind, at: 60_000 + afterMs, node, schedule: 'a', dueAt: DUE, token }
}

const tally = (...lines: readonly Line[]) => judgeLedger(lines, EXPECTED)
const done = (from: number, options = {}) => [line('start', from, options), line('end', from + 100, options)]

test('a due time that was done once is neither lost nor a duplicate', () => {
  const { fires, lost, duplicates, doubled, refused, cutOff, late, early } = tally(...done(5))
  assert.deepEqual([fires, lost, duplicates, doubled, refused, cutOff, late, early], [1, 0, 0, 0, 0, 0, 0, 0])
})

test('each end beyond the first is a duplicate, also of the same process', () => {
  const { lost, duplicates, doubled } = tally(...done(5), ...done(10, { node: 'y' }), ...done(300))
  assert.deepEqual([lost, duplicates, doubled], [0, 2, 1])
})

test('an attempt that was cut off and run again is not a duplicate', () => {
  const { lost, duplicates, cutOff } = tally(line('start', 0), ...done(20_000, { node: 'y' }))
  assert.deepEqual([lost, duplicates, cutOff], [0, 0, 1])
})

test('a due time is lost if nothing started, or nothing came to its end', () => {
  assert.equal(tally().lost, 1)
  assert.equal(tally(line('start', 0)).lost, 1)
  assert.equal(tally(line('start', 0), line('stopped', 9)).lost, 1)
})

test('an effect with a token lower than one that the ledger has seen is refused', () => {
  const stale = [line('start', 0, { token: '4' }), line('end', 46_000, { token: '4' })]
  const taken = done(16_000, { node: 'y', token: '5' })
  assert.deepEqual([tally(...stale, ...taken).refused, tally(...stale, ...taken).duplicates], [1, 0])
  // Without tokens the same history is a duplicate.
  const bare = [...stale, ...taken].map((one) => ({ ...one, token: null }))
  assert.deepEqual([tally(...bare).refused, tally(...bare).duplicates], [0, 1])
  // Only what came before counts: the ledger can't refuse by a token that it has not seen.
  const early = [line('start', 0, { token: '4' }), line('end', 100, { token: '4' })]
  assert.deepEqual([tally(...early, ...taken).refused, tally(...early, ...taken).duplicates], [0, 1])
})

test('lateness is that of the first attempt, and what starts before its time is early', () => {
  assert.equal(tally(...done(LATE_MS + 1)).late, 1)
  assert.equal(tally(...done(LATE_MS), ...done(LATE_MS * 2)).late, 0)
  assert.equal(tally(...done(-5_000)).early, 1)
})

test('other due times and schedules are not counted', () => {
  const other = done(5).map((one) => ({ ...one, schedule: 'b' }))
  assert.deepEqual([tally(...other).lost, tally(...other).duplicates], [1, 0])
})
