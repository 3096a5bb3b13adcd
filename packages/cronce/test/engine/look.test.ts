import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  afterAnswer,
  afterClaim,
  afterLeaving,
  afterNothing,
  FIRST_LOOK,
  type LookMemory,
  pauseMs,
  restMs,
  scopeOf,
} from '../../src/engine/claim/look.ts'

const NOW = 1_000_000
const asking = { sentAt: 50_000, patienceMs: 250, room: 10, failing: 0, batch: 500 }
const memory = (patch: Partial<LookMemory> = {}): LookMemory => ({ ...FIRST_LOOK, ...patch })
const HOUR_MS = 3_600_000

test('whose schedules a look asks for, and how many', () => {
  const rows: readonly [string, LookMemory, Partial<typeof asking>, ReturnType<typeof scopeOf>][] = [
    ['first look', memory(), {}, { isOwnOnly: false, patienceMs: 250, limit: 11 }],
    ['after a lost race', memory({ isPatient: true }), {}, { isOwnOnly: false, patienceMs: 5_000, limit: 11 }],
    ['behind', memory({ ownUntil: 50_001 }), {}, { isOwnOnly: true, patienceMs: 9e15, limit: 11 }],
    ['behind for long', memory({ ownUntil: 50_000 }), {}, { isOwnOnly: false, patienceMs: 250, limit: 11 }],
    [
      'behind, and stuck',
      memory({ ownUntil: 60_000, passedOver: 3 }),
      {},
      { isOwnOnly: false, patienceMs: 250, limit: 14 },
    ],
    ['runDue', memory({ ownUntil: 60_000 }), { patienceMs: 0 }, { isOwnOnly: false, patienceMs: 0, limit: 11 }],
    ['much room', memory(), { room: 9_000 }, { isOwnOnly: false, patienceMs: 250, limit: 500 }],
    ['large batches', memory(), { room: 9_000, batch: 1_000 }, { isOwnOnly: false, patienceMs: 250, limit: 1_000 }],
    [
      'many that wait for their runs',
      memory({ passedOver: 600 }),
      { room: 9_000 },
      { isOwnOnly: false, patienceMs: 250, limit: 1_100 },
    ],
    [
      'schedules that were left out',
      memory({ passedOver: 1, leftOut: 40 }),
      {},
      { isOwnOnly: false, patienceMs: 250, limit: 92 },
    ],
    [
      'more of them than a look goes past',
      memory({ leftOut: 3_000 }),
      {},
      { isOwnOnly: false, patienceMs: 250, limit: 4_011 },
    ],
    ['failing schedules', memory(), { room: 9_000, failing: 7 }, { isOwnOnly: false, patienceMs: 250, limit: 507 }],
  ]
  for (const [situation, known, patch, expected] of rows) {
    assert.deepEqual(scopeOf(known, { ...asking, ...patch }), expected, situation)
  }
})

test('when to look for what is behind schedules that are left out', () => {
  const rows: readonly [string, number, number, boolean, ReturnType<typeof afterLeaving>][] = [
    ['none', 0, 0, false, { memory: memory(), againMs: null }],
    ['more than before, and maybe not all', 2, 7, false, { memory: memory({ leftOut: 7 }), againMs: 0 }],
    ['all that a look goes past', 4_011, 4_011, false, { memory: memory({ leftOut: 4_011 }), againMs: 1_000 }],
    ['all of them', 7, 7, true, { memory: memory({ leftOut: 7 }), againMs: null }],
    ['their limit is tried again', 7, 0, true, { memory: memory({ leftOut: 3 }), againMs: null }],
  ]
  for (const [situation, leftOut, count, isAll, expected] of rows)
    assert.deepEqual(afterLeaving(memory({ leftOut }), count, isAll), expected, situation)
})

test('when to look next, after an answer', () => {
  const all = { isOwnOnly: false, patienceMs: 250, limit: 11 }
  const own = { ...all, isOwnOnly: true }
  const asked = { sentAt: 50_000, patienceMs: 250, spacingMs: 1_500 }
  const never = Number.NEGATIVE_INFINITY
  const rows: readonly [string, typeof all, { mineAt: number | null; othersAt: number | null }, object][] = [
    [
      'nothing more is due',
      all,
      { mineAt: null, othersAt: null },
      { isBehind: false, mayHelp: false, ownUntil: never },
    ],
    ['due later', all, { mineAt: NOW + 1, othersAt: null }, { isBehind: false, mayHelp: false, ownUntil: never }],
    ['more is due', all, { mineAt: NOW, othersAt: null }, { isBehind: true, mayHelp: false, ownUntil: 51_500 }],
    ['more is due, again', own, { mineAt: NOW, othersAt: null }, { isBehind: true, mayHelp: false, ownUntil: 50_700 }],
    [
      'a peer is late',
      own,
      { mineAt: null, othersAt: NOW - 5_000 },
      { isBehind: false, mayHelp: true, ownUntil: never },
    ],
    [
      'a peer is slow',
      own,
      { mineAt: null, othersAt: NOW - 4_999 },
      { isBehind: false, mayHelp: false, ownUntil: never },
    ],
    [
      'both are late',
      own,
      { mineAt: NOW, othersAt: NOW - 9_000 },
      { isBehind: true, mayHelp: false, ownUntil: 50_700 },
    ],
  ]
  for (const [situation, scope, times, expected] of rows) {
    const found = afterAnswer(memory({ ownUntil: 50_700 }), scope, { now: NOW, ...times }, asked)
    const { isBehind, mayHelp } = found
    assert.deepEqual({ isBehind, mayHelp, ownUntil: found.memory.ownUntil }, expected, situation)
    assert.equal(found.memory.isPatient, isBehind || mayHelp, situation)
    assert.equal(found.memory.lookedAt, 50_000, situation)
  }
})

test('when to look again after a claim', () => {
  const rows: readonly [string, Partial<LookMemory>, Parameters<typeof afterClaim>[1], string, Partial<LookMemory>][] =
    [
      [
        'all claimed',
        {},
        { found: 3, applied: 3, conflicts: 0, isComplete: true },
        'rest',
        { fruitless: 0, passedOver: 0 },
      ],
      ['more is due', {}, { found: 3, applied: 3, conflicts: 0, isComplete: false }, 'again', { passedOver: 0 }],
      ['some claimed', {}, { found: 3, applied: 1, conflicts: 0, isComplete: true }, 'again', { passedOver: 0 }],
      [
        'lost a race',
        {},
        { found: 3, applied: 0, conflicts: 1, isComplete: true },
        'again',
        { isPatient: true, passedOver: 0 },
      ],
      [
        'lost three',
        { fruitless: 3 },
        { found: 3, applied: 0, conflicts: 1, isComplete: true },
        'pause',
        { fruitless: 4, passedOver: 3 },
      ],
      [
        'not for us',
        {},
        { found: 3, applied: 0, conflicts: 0, isComplete: true },
        'pause',
        { fruitless: 1, passedOver: 3 },
      ],
    ]
  for (const [situation, known, counts, next, expected] of rows) {
    const after = afterClaim(memory(known), counts)
    assert.equal(after.next, next, situation)
    assert.deepEqual({ ...after.memory, ...expected }, after.memory, situation)
  }
  assert.deepEqual(afterNothing(memory({ fruitless: 5, passedOver: 9 })), memory())
})

test('how long to wait', () => {
  const upcoming = { ownInMs: null, peersInMs: null, sweepInMs: 900, limitInMs: HOUR_MS }
  const rows: readonly [string, Partial<Record<keyof typeof upcoming, number | null>>, number][] = [
    ['nothing to come', {}, HOUR_MS],
    ['an own schedule', { ownInMs: 40 }, 40],
    ["a peer's, after the next sweep", { peersInMs: 2_000 }, 2_000],
    ["a peer's, before the next sweep", { peersInMs: 10 }, 900],
    ['both', { ownInMs: 300, peersInMs: 2_000 }, 300],
    ['a limit that is tried again', { ownInMs: 300, limitInMs: 250 }, 250],
    ['overdue', { ownInMs: 300, peersInMs: 0, sweepInMs: -5 }, 0],
  ]
  for (const [situation, patch, expected] of rows) {
    assert.equal(restMs({ ...upcoming, ...patch } as typeof upcoming), expected, situation)
  }
  const pauses = [0, 1, 2, 20].map((fruitless) => pauseMs(memory({ fruitless }), 500))
  assert.deepEqual(pauses, [0, 100, 200, 500])
  assert.equal(pauseMs(memory({ fruitless: 20 }), HOUR_MS), 1_000)
  assert.equal(pauseMs(memory({ fruitless: 3 }), 0), 20)
})
