import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storeTime } from '../../src/engine/fleet/store-time.ts'

const BEGIN = Date.UTC(2027, 0, 1)

/** A clock that is set by hand, and answers of a store whose clock may be set, too. */
function bench() {
  const state = { mono: 0, stepped: 0, asleepMs: 0 }
  const clock = {
    mono: () => state.mono,
    boot: () => state.mono,
    wall: () => BEGIN + state.mono + state.asleepMs,
    sleep: async () => {},
    pause: async () => {},
  }
  const time = storeTime(clock)
  const shown = (at: number): number => Math.floor(BEGIN + at + state.stepped + state.asleepMs)
  /** Sent and answered at these times; the store looked at its clock when it was sent. */
  const answer = (sentAt: number, receivedAt: number): void => {
    const now = shown(sentAt)
    state.mono = receivedAt
    time.observe(now, sentAt)
  }
  return { state, time, shown, answer }
}

test("an end is stamped with the store's time, once its answers have agreed for a while", () => {
  const { state, time, shown, answer } = bench()
  answer(0, 2)
  assert.equal(time.stamp(), null)
  for (let at = 1_000; at <= 12_000; at += 1_000) answer(at, at + 2)
  const stamp = time.stamp()
  assert.ok(stamp !== null && Math.abs(stamp.at - shown(state.mono)) <= 10, JSON.stringify(stamp))
  state.mono += 11_000
  assert.equal(time.stamp(), null)
})

test('a slow answer does not confirm a clock that may have been set meanwhile', () => {
  const { state, time, answer } = bench()
  for (let at = 0; at <= 12_000; at += 1_000) answer(at, at + 2)
  state.stepped = 1_000
  answer(13_000, 25_000)
  assert.equal(time.stamp(), null)
})

test("nothing ends on record before it did after a slow answer, also if the store's clock is a little faster", () => {
  const { state, time } = bench()
  const shown = (at: number): number => Math.floor(BEGIN + at * 1.0004)
  for (let at = 0; at <= 12_000; at += 1_000) {
    state.mono = at + 20
    time.observe(shown(at + 10), at)
  }
  state.mono = 21_000
  time.observe(shown(13_000), 13_000)
  const stamp = time.stamp()
  assert.ok(stamp !== null && stamp.at >= shown(state.mono), JSON.stringify([stamp, shown(state.mono)]))
})

test('an answer that was under way while the machine was asleep confirms nothing', () => {
  const { state, time, shown } = bench()
  const answer = (sentAt: number, asleepMs = 0): void => {
    const now = shown(sentAt)
    state.mono = sentAt + 2
    state.asleepMs += asleepMs
    time.observe(now, sentAt)
  }
  for (let at = 0; at <= 12_000; at += 1_000) answer(at)
  answer(13_000, 7_000)
  assert.equal(time.stamp(), null)
  for (let at = 14_000; at <= 26_000; at += 1_000) answer(at)
  const stamp = time.stamp()
  assert.ok(stamp !== null && Math.abs(stamp.at - shown(state.mono)) <= 10, JSON.stringify(stamp))
})

test('a slow answer is not proof that a clock is wrong: only the offset that is certain counts', () => {
  const { state, time, answer } = bench()
  answer(0, 1_000)
  assert.equal(time.wallOffsetMs(), 0)
  state.stepped = -2_000
  answer(2_000, 3_000)
  assert.equal(time.wallOffsetMs(), 1_999)
  answer(4_000, 4_010)
  assert.equal(time.wallOffsetMs(), 1_999)
})

test('an answer from before the clock was set back does not raise what the clock has reached, however late it arrives', () => {
  const { state, time, shown, answer } = bench()
  answer(0, 2)
  const late = { now: shown(100), sentAt: 100 }
  state.stepped = -5_000
  answer(2_000, 2_002)
  assert.ok(time.atLeast()! <= shown(2_002))
  state.mono = 2_100
  time.observe(late.now, late.sentAt)
  assert.ok(time.atLeast()! <= shown(2_100), `${time.atLeast()! - shown(2_100)} ms ahead`)
})

test('an answer that was overtaken raises what the clock has reached if that can be', () => {
  const { state, time, shown } = bench()
  state.mono = 50
  // It was answered first, and was long on its way back.
  time.observe(shown(1), 1)
  state.mono = 60
  time.observe(shown(58), 0)
  assert.ok(time.atLeast()! >= shown(60) - 2)
})
