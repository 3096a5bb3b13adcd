import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Entry, NodeEntry, Spec } from '../../packages/checker/src/history.ts'
import { releaseJobs } from './jobs.ts'
import {
  type Defined,
  differing,
  type Look,
  operationOf,
  type Turn,
  turnsBetween,
  withoutCause,
} from './watch-definitions.ts'

const specOf = (release: number, schedule: string): Defined =>
  releaseJobs(release).find(({ name }) => name === schedule)?.spec ?? null
const [even, odd] = [specOf(0, 'changing') as Spec, specOf(1, 'changing') as Spec]
const VALUES = [even, odd]

function look(from: number, value: Defined, changes: number): Look {
  return { from, to: from + 5, value, changes }
}

test('schedules are watched that differ between releases', () => {
  assert.deepEqual(differing([releaseJobs(0), releaseJobs(1)]), ['changing', 'leaving'])
})

test('a schedule that was seen as before has not turned', () => {
  assert.deepEqual(turnsBetween('changing', look(100, even, 1), look(200, even, 1), VALUES), [])
})

test('a schedule that turned did so after the last look was asked and before the next was answered', () => {
  const turns = turnsBetween('changing', look(100, even, 1), look(200, odd, 2), VALUES)
  assert.deepEqual(turns, [{ schedule: 'changing', from: 100, to: 205, value: odd }])
})

test('a schedule that turned and turned back between two looks may have been anything', () => {
  const turns = turnsBetween('changing', look(100, even, 1), look(200, even, 3), VALUES)
  assert.deepEqual(turns, [
    { schedule: 'changing', from: 100, to: 205, value: odd },
    { schedule: 'changing', from: 100, to: 205, value: null },
    { schedule: 'changing', from: 205, to: 205, value: even },
  ])
})

test('a definition counts from when it was decided, but not before the one that it follows was there', () => {
  const turn: Turn = { schedule: 'changing', from: 20_000, to: 20_100, value: odd }
  const times = (one: Turn, settledAt: number) => {
    const { at, endedAt, verb } = operationOf(one, settledAt)
    return [at, endedAt, verb]
  }
  assert.deepEqual(times(turn, 1_000), [15_000, 20_100, 'define'])
  assert.deepEqual(times(turn, 18_000), [18_000, 20_100, 'define'])
  assert.deepEqual(times({ ...turn, from: 20_100, value: null }, 18_000), [20_100, 20_100, 'retire'])
})

/** Release 0 on w2.2, and release 1 on w1.3 in the place of w1.1. */
const NODES: readonly Entry[] = [
  node(0, 'w1.1', 'started'),
  node(0, 'w2.2', 'started'),
  node(500, 'w1.1', 'ready'),
  node(500, 'w2.2', 'ready'),
  node(2_000, 'w1.1', 'stopping'),
  node(2_100, 'w1.1', 'ended'),
  node(2_200, 'w1.3', 'started'),
  node(2_700, 'w1.3', 'ready'),
]
const BACK: Turn = { schedule: 'changing', from: 20_000, to: 20_100, value: even }

function node(at: number, name: string, what: NodeEntry['what']): Entry {
  return { kind: 'node', at, node: name, what, jobs: [] }
}

function judged(turn: Turn, ...more: Entry[]): readonly string[] {
  const entries = [...NODES, ...more].sort((one, other) => one.at - other.at)
  const bounds = { leaseMs: 2_000, recoveryMs: 6_000, lateMs: 2_000, clockErrorMs: 25, starvedMs: null }
  const read = { at: 30_000, until: 30_001, storeAt: 0, fires: [], runs: [], schedules: [], instances: [] }
  const releaseOf = (name: string): number => (name === 'w1.3' ? 1 : 0)
  return withoutCause([turn], { entries, bounds, reads: [read] }, releaseOf, specOf)
}

test('a schedule may become as the newest release has it', () => {
  assert.deepEqual(judged({ schedule: 'changing', from: 2_500, to: 2_600, value: odd }), [])
})

test('an older release that defines a schedule beside a newer one is reported', () => {
  assert.deepEqual(judged(BACK), [
    'changing became as release 0 has it by 20100 ms, although w1.3 of a newer release was there',
  ])
})

test('an older release may define a schedule again when all processes of the newer one are gone or were hit', () => {
  assert.deepEqual(judged(BACK, node(18_000, 'w1.3', 'ended')), [])
  assert.deepEqual(judged(BACK, { kind: 'fault', at: 16_000, until: 19_000, fault: 'pause', node: 'w1.3' }), [])
})

test('a fault long ago, or of another process, excuses nothing', () => {
  assert.equal(judged(BACK, { kind: 'fault', at: 4_000, until: 5_000, fault: 'pause', node: 'w1.3' }).length, 1)
  assert.equal(judged(BACK, node(18_000, 'w2.2', 'ended')).length, 1)
})
