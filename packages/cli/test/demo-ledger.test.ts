import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FireView, RunView } from 'cronce'
import { audit, type Evidence } from '../src/demo/ledger.ts'
import { verdict } from '../src/demo/report.ts'
import type { Line } from '../src/demo/witness.ts'

/** The ledger must detect violations, or a clean ledger would prove nothing. */

const RECORD = {
  nonce: '',
  kind: 'scheduled',
  detail: null,
  round: 1,
  input: null,
  range: null,
  expiresAt: null,
  asked: null,
} as const

function fire(dueAt: number, more: Partial<FireView> = {}): FireView {
  const at = { plannedAt: dueAt, readyAt: dueAt, endedAt: dueAt + 100 }
  return {
    ...RECORD,
    schedule: 'pay',
    job: 'pay',
    dueAt,
    state: 'succeeded',
    reason: 'completed',
    attempt: 1,
    ...at,
    ...more,
  }
}

function run(dueAt: number, token: string, more: Partial<RunView> = {}): RunView {
  return {
    schedule: 'pay',
    job: 'pay',
    dueAt,
    nonce: '',
    token,
    round: 1,
    attempt: 1,
    instance: 'a',
    state: 'succeeded',
    reason: 'completed',
    detail: null,
    startedAt: dueAt,
    cause: null,
    latenessMs: 0,
    endedAt: dueAt + 100,
    durationMs: 100,
    cancel: null,
    error: null,
    result: null,
    progress: null,
    log: [],
    logCut: false,
    ...more,
  }
}

function lines(dueAt: number, token: string, ...what: Line['what'][]): Line[] {
  return what.map((one) => ({ what: one, schedule: 'pay', dueAt, token }))
}

/** Two fires, both run and paid once. */
const SOUND: Evidence = {
  due: new Map([['pay', [1_000, 2_000]]]),
  fires: [fire(1_000), fire(2_000)],
  runs: [run(1_000, '1'), run(2_000, '2')],
  lines: [...lines(1_000, '1', 'started', 'ended'), ...lines(2_000, '2', 'started', 'ended')],
  payments: [
    { schedule: 'pay', dueAt: 1_000 },
    { schedule: 'pay', dueAt: 2_000 },
  ],
  paying: 'pay',
  isFinal: true,
}

function problemsOf(more: Partial<Evidence>): readonly string[] {
  const { problems, code } = verdict(audit({ ...SOUND, ...more }), true)
  assert.equal(code, problems.length === 0 ? 0 : 1)
  return problems
}

test('a sound demo has no problems', () => {
  assert.deepEqual(problemsOf({}), [])
})

test('a fire that was taken over after its first run was on record as over is not a duplicate', () => {
  const crashed = run(1_000, '1', { state: 'abandoned', reason: 'crashed', endedAt: 1_500 })
  const again = run(1_000, '3', { attempt: 2, startedAt: 1_500, endedAt: 1_600 })
  const evidence = {
    runs: [crashed, again, run(2_000, '2')],
    lines: [
      ...lines(1_000, '1', 'started', 'refused'),
      ...lines(1_000, '3', 'started', 'ended'),
      ...lines(2_000, '2', 'started', 'ended'),
    ],
  }
  assert.deepEqual(problemsOf(evidence), [])
  assert.deepEqual([...audit({ ...SOUND, ...evidence }).again], [['crashed', 1]])
})

test('every way of running a fire twice is found', () => {
  const overlapping = run(1_000, '3', { attempt: 2, startedAt: 1_050 })
  const first = SOUND.runs[0]!
  const cases: Partial<Evidence>[] = [
    { runs: [...SOUND.runs, run(1_000, '3', { attempt: 2, startedAt: 1_200 })] },
    {
      runs: [{ ...first, state: 'abandoned', reason: 'crashed' }, overlapping, SOUND.runs[1]!],
      lines: [...SOUND.lines, ...lines(1_000, '3', 'ended')],
    },
    { lines: [...SOUND.lines, ...lines(1_000, '1', 'started')] },
    { lines: [...SOUND.lines, ...lines(1_000, '9', 'started')] },
    { payments: [...SOUND.payments, { schedule: 'pay', dueAt: 1_000 }] },
    { fires: [...SOUND.fires, fire(1_000)] },
    { fires: [...SOUND.fires, fire(1_500)] },
    { fires: [fire(1_000, { state: 'skipped', reason: 'overlap' }), fire(2_000)] },
  ]
  for (const [index, more] of cases.entries()) assert.equal(problemsOf(more).length, 1, `case ${index}`)
})

test('every way of losing a fire is found', () => {
  const cases: Partial<Evidence>[] = [
    { fires: [fire(1_000)] },
    { fires: [fire(1_000), fire(2_000, { state: 'open', reason: null, endedAt: null })] },
    { lines: lines(1_000, '1', 'started', 'ended') },
    { payments: SOUND.payments.slice(0, 1) },
  ]
  for (const [index, more] of cases.entries()) assert.equal(problemsOf(more).length, 1, `case ${index}`)
})

test('a run before its time is found, and so is a demo without its faults', () => {
  assert.equal(problemsOf({ runs: [run(1_000, '1', { startedAt: 999 }), run(2_000, '2')] }).length, 1)
  assert.equal(verdict(audit(SOUND), false).code, 1)
})

test('many missed instants in one record are taken apart', () => {
  const range = { untilAt: 2_000, count: 2 }
  const missed = fire(1_000, { state: 'missed', reason: 'superseded', range })
  const none = { runs: [], lines: [], payments: [] }
  const ledger = audit({ ...SOUND, ...none, fires: [missed] })
  assert.deepEqual([...ledger.missed], [['superseded', 2]])
  assert.deepEqual(ledger.lost, [])
})
