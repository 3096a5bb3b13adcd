import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Entry } from '../../packages/checker/src/history.ts'
import { clockCheck, createVigil } from './vigil.ts'

test('a vigil vouches for stretches in which it had its turn, and leaves out those in which it had none', () => {
  const stretches: [number, number][] = []
  const vigil = createVigil(500, (at, until) => stretches.push([at, until]))
  for (let at = 0; at <= 1_000; at += 100) vigil.alive(at)
  vigil.alive(1_400)
  vigil.alive(1_901)
  vigil.alive(2_000)
  vigil.flush()
  vigil.flush()
  assert.deepEqual(stretches, [
    [0, 1_000],
    [1_000, 1_400],
    [1_901, 2_000],
  ])
})

/** A store whose clock is ahead of the recorder's by this, and what is written down about it. */
function clocks() {
  const state = { now: 0, aheadMs: 5_000, tookMs: 0 }
  const entries: Entry[] = []
  const recorder = { now: () => state.now, entries, add: (entry: Entry) => void entries.push(entry), log: () => {} }
  const store = {
    async now() {
      state.now += state.tookMs
      return Math.floor(state.now + state.aheadMs)
    },
  }
  const check = clockCheck(store, recorder, 5_000)
  const checkAt = (at: number): Promise<void> => {
    state.now = at
    return check()
  }
  return { state, entries, checkAt }
}

test('a clock that was set is recorded, with the time when that may have been', async () => {
  const { state, entries, checkAt } = clocks()
  await checkAt(100)
  state.aheadMs += 9
  await checkAt(200)
  assert.equal(entries.length, 0)
  state.aheadMs += 1_200
  await checkAt(300)
  await checkAt(400)
  state.aheadMs -= 700
  await checkAt(500)
  assert.deepEqual(entries, [
    { kind: 'clock', at: 200, until: 300, byMs: 1_209 },
    { kind: 'clock', at: 400, until: 500, byMs: -700 },
  ])
})

test('a slow answer, and a clock that chaos has set, are not taken for more', async () => {
  const { state, entries, checkAt } = clocks()
  state.tookMs = 300
  await checkAt(100)
  assert.equal(entries.length, 0)
  state.aheadMs += 2_000
  entries.push({ kind: 'clock', at: 500, byMs: 2_000 })
  await checkAt(600)
  assert.equal(entries.length, 1)
})
