import { test } from 'node:test'
import type { LedgerFire, Spec } from '../../src/history.ts'
import { Builder, EPOCH, MINUTE, SPEC } from './builder.ts'
import { clean, END, minutes, TEN, without, wrong } from './verdicts.ts'

type Options = { [Name in keyof Spec]?: Spec[Name] }

const T = 4 * MINUTE
/** When an outage of several minutes is over, and everything that was due is planned at once. */
const BACK = 7.5 * MINUTE
const BACK_AT = { plannedAt: EPOCH + BACK } as const

/**
 * No instance could work from the fourth to the seventh minute; then these fires run in this order, and the others are
 * skipped.
 */
function outage(
  late: Spec['misfire']['late'],
  ran: readonly number[],
  options: Options = {},
  reason = 'superseded',
): Builder {
  const misfire = { ...SPEC.misfire, late, limit: 2, ...options.misfire }
  const history = minutes(without(4, 5, 6, 7), new Builder().node('n1', 0).define(10, { ...options, misfire }))
  history.fault('store-down', T - 1_000, BACK - 10)
  for (const minute of [4, 5, 6, 7]) {
    const gone = { outcome: 'missed', reason, endedAt: EPOCH + BACK } as const
    history.record(minute * MINUTE, { ...BACK_AT, ...(ran.includes(minute) ? {} : gone) })
  }
  for (const [index, minute] of ran.entries()) {
    const from = BACK + 10 + index * 100
    history.run(minute * MINUTE, [from, from + 50])
  }
  return history.read(END)
}

test('C11: of what is late, latest runs the newest one', () => {
  clean(outage('latest', [7]))
  wrong('C10', outage('latest', []))
  wrong(['C10', 'C11'], outage('latest', [6]))
  wrong('C11', outage('latest', [6, 7]))
})

test('C11: of what is late, skip runs none', () => {
  clean(outage('skip', [], {}, 'late'))
  wrong('C11', outage('skip', [7], {}, 'late'))
})

test('C11: a fire that was claimed ahead and put back may be overtaken, if something was done to its node', () => {
  const overtaken = (claimAheadMs: number, faultAt: number) => {
    const options = { overlap: { kind: 'allow', limit: 5 }, misfire: { ...SPEC.misfire, graceMs: 3 * MINUTE } } as const
    const made = new Builder()
      .node('n1', 0)
      .define(10, options)
      .fault('crash', faultAt, faultAt + 1_000, 'n1')
    made.bounds = { ...made.bounds, claimAheadMs }
    const history = minutes(without(4), made)
    history.run(4 * MINUTE, [5 * MINUTE + 5_000, 5 * MINUTE + 5_500])
    return history.read(END)
  }
  clean(overtaken(400, 4 * MINUTE - 200))
  wrong('C11', overtaken(0, 4 * MINUTE - 200))
})

test('C11: of what is late, all runs the latest ones up to a limit, in order', () => {
  clean(outage('all', [6, 7], {}, 'too-late'))
  wrong('C10', outage('all', [7], {}, 'too-late'))
  wrong('C11', outage('all', [5, 6, 7], {}, 'too-late'))
  wrong(['C10', 'C11'], outage('all', [5, 7], {}, 'too-late'))
  wrong('C11', outage('all', [7, 6], {}, 'too-late'))
})

test('C11: nothing later than the window is run', () => {
  const window = (windowMs: number) =>
    outage('all', [6, 7], { misfire: { ...SPEC.misfire, windowMs, late: 'all', limit: 2 } }, 'too-late')
  clean(window(1.5 * MINUTE))
  wrong('C11', window(1.5 * MINUTE - 1))
})

test('C11: fires that a pause held back run as its end decides, however late', () => {
  const resumed = (missed: 'skip' | 'all') => {
    const history = minutes(without(4, 5), new Builder().node('n1', 0).define(10))
    history.ask(T - 1_000, { verb: 'pause', until: null, missed: 'skip' }).ask(5.5 * MINUTE, { verb: 'resume', missed })
    for (const [index, minute] of [4, 5].entries()) {
      history.record(minute * MINUTE, { plannedAt: EPOCH + 5.5 * MINUTE })
      history.run(minute * MINUTE, [5.5 * MINUTE + 10 + index * 100, 5.5 * MINUTE + 60 + index * 100])
    }
    return history.read(END)
  }
  clean(resumed('all'))
  wrong('C4', resumed('skip'))
})

const RETRIES = { retry: { attempts: 1, crashes: 1, deadlineMs: null } } as const

test('C11: no more failures than retries', () => {
  const failed = (times: number) => {
    const history = minutes(without(4), new Builder().node('n1', 0).define(10, RETRIES))
    for (let time = 0; time < times; time++)
      history.run(T, [T + 5 + time * 100, T + 50 + time * 100], { outcome: 'failed' })
    return history.amend(T, { readyAt: EPOCH + T + times * 100 - 95 }).read(END)
  }
  clean(failed(2))
  wrong('C11', failed(3))
})

test('C11: no more crashes than the budget', () => {
  const crashed = (times: number) => {
    const history = minutes(without(4), new Builder().node('n1', 0).define(10, RETRIES)).fault(
      'pause',
      T,
      T + 1_000,
      'n1',
    )
    for (let time = 0; time < times; time++) {
      history.run(T, [T + 5 + time * 100, T + 50 + time * 100], { outcome: 'abandoned' })
    }
    return history
      .amend(T, { outcome: 'abandoned', reason: 'crash-budget', endedAt: EPOCH + T + times * 100 - 50 })
      .read(END)
  }
  clean(crashed(2))
  wrong('C11', crashed(3))
})

test('C11: a run is given up when its time and its grace are over', () => {
  const timeout = { runMs: 10_000, graceMs: 2_000 }
  const took = (ms: number) => {
    const history = minutes(without(4), new Builder().node('n1', 0).define(10, { timeout }))
    history.run(T, [T + 5, T + 5 + ms], { outcome: 'failed', reason: 'timeout' })
    return history.read(END)
  }
  clean(took(17_000))
  wrong('C11', took(17_001))
})

/** The fire of the fourth minute ended like this, and was run in another round. */
function secondRound(first: Partial<LedgerFire>, ask: (history: Builder) => void): Builder {
  const history = minutes(without(4))
  history.record(T, { ...first, round: 1 })
  if (first.outcome === 'succeeded') history.run(T, [T + 5, T + 100])
  ask(history)
  history.amend(T, { round: 2, plannedAt: EPOCH + T + 20_000, readyAt: EPOCH + T + 20_000, origin: 'backfill' })
  history.run(T, [T + 20_010, T + 20_020])
  return history.read(END)
}

test('C11: another round was asked for, and a backfill does not repeat what succeeded', () => {
  const backfill = (history: Builder) =>
    history.ask(T + 19_000, { verb: 'backfill', from: EPOCH + T, to: EPOCH + T, force: false })
  const retry = (history: Builder) =>
    history.ask(T + 19_000, { verb: 'retry', dueAt: EPOCH + T, nonce: '', force: true })
  const missed = { outcome: 'missed', reason: 'late', endedAt: EPOCH + T } as const
  clean(secondRound(missed, backfill))
  wrong(
    'C11',
    secondRound(missed, () => {}),
  )
  clean(secondRound({ outcome: 'succeeded' }, retry))
  const gently = (history: Builder) =>
    history.ask(T + 19_000, { verb: 'retry', dueAt: EPOCH + T, nonce: '', force: false })
  wrong('C11', secondRound({ outcome: 'succeeded' }, gently))
  wrong('C11', secondRound({ outcome: 'succeeded' }, backfill))
})

test('C11: a retry that was answered opens a round', () => {
  const asked = (result: 'ok' | 'info') => {
    const retry = { verb: 'retry', dueAt: EPOCH + T, nonce: '', force: true } as const
    return minutes(TEN)
      .ask(T + 5_000, retry, { result, endedAt: result === 'ok' ? T + 5_010 : null })
      .read(END)
  }
  clean(asked('info'))
  wrong('C11', asked('ok'))
})

test('C11: a backfill runs what came before the schedule was made', () => {
  const history = minutes([5, 6, 7, 8, 9, 10], new Builder().node('n1', 0).define(4.5 * MINUTE))
  history.ask(5.5 * MINUTE, { verb: 'backfill', from: EPOCH + 2 * MINUTE, to: EPOCH + 2 * MINUTE, force: true })
  history.record(2 * MINUTE, { plannedAt: EPOCH + 5.5 * MINUTE, readyAt: EPOCH + 5.5 * MINUTE, origin: 'backfill' })
  history.run(2 * MINUTE, [5.5 * MINUTE + 10, 5.5 * MINUTE + 20])
  clean(history.read(END))
})

test('a history without any ledger has no violations of the ledger rules', () => clean(minutes(TEN)))
