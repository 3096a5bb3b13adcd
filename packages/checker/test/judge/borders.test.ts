import { test } from 'node:test'
import type { Spec } from '../../src/history.ts'
import { Builder, EPOCH, MINUTE, SPEC } from './builder.ts'
import { clean, END, minutes, TEN, without, wrong } from './verdicts.ts'

type Options = { [Name in keyof Spec]?: Spec[Name] }

const T = 4 * MINUTE
const U = 5 * MINUTE

/** Two nodes, and all of ten minutes but these. */
function but(missing: readonly number[], options: Options = {}): Builder {
  return minutes(without(...missing), new Builder().node('n1', 0).node('n2', 0).define(10, options))
}

test('C1: a read is not made in one moment: the mark may be newer than the records', () => {
  clean(but([10]).read(10 * MINUTE + 30_000))
})

test('C1, C9, C10: what is pruned in time is on no record, and its runs are not either', () => {
  const pruned = (keepMs: number) => {
    const history = but([], { keepMs })
    history.fires.delete(`a ${EPOCH + MINUTE} `)
    history.runs.delete(`a ${MINUTE + 6}`)
    return history.read(END)
  }
  clean(pruned(9 * MINUTE))
  wrong(['C9', 'C10'], pruned(10 * MINUTE))
})

const RANGE = { outcome: 'missed', reason: 'superseded', plannedAt: EPOCH + 9 * MINUTE } as const

test('C1, C10: a range that was missed without cause, has other bounds, overlaps another one or has a false reason', () => {
  const range = (from: number, to: number, count: number, options: Options = {}, isCalm = false) => {
    const history = but([2, 3, 4, 5, 6, 7, 8], options)
    if (!isCalm) history.fault('store-down', 1.5 * MINUTE, 8.9 * MINUTE)
    history.amend(9 * MINUTE, { plannedAt: RANGE.plannedAt })
    history.record(from, { ...RANGE, endedAt: RANGE.plannedAt, untilAt: EPOCH + to, count })
    return history
  }
  clean(range(2 * MINUTE, 8 * MINUTE, 7).read(END))
  wrong('C1', range(2 * MINUTE, 8 * MINUTE, 7, {}, true).read(END))
  wrong('C10', range(2 * MINUTE, 8 * MINUTE + 1, 7).read(END))
  wrong('C10', range(2 * MINUTE, 8 * MINUTE, 7, { misfire: { ...SPEC.misfire, late: 'skip' } }).read(END))
  const twice = range(2 * MINUTE, 8 * MINUTE, 7)
  twice.record(8 * MINUTE, { ...RANGE, endedAt: RANGE.plannedAt, untilAt: EPOCH + 8 * MINUTE, count: 1 })
  wrong('C10', twice.read(END))
})

test('C2: attempts beside an open one, with one number, or with a lower token', () => {
  const second = (
    given: { readonly token?: string; readonly attempt?: number },
    firstEnd: number | null = T + 3_000,
  ) => {
    const history = but([4]).fault('pause', T + 10, T + 2_000, 'n1')
    history.run(T, [T + 5, firstEnd], firstEnd === null ? {} : { outcome: 'abandoned' })
    history.run(T, [T + 3_000, T + 4_000], { node: 'n2', ...given })
    return history.read(END)
  }
  clean(second({}))
  wrong('C2', second({}, null))
  wrong(['C2', 'C9'], second({ attempt: 1 }))
  wrong(['C2', 'C9', 'C14'], second({ token: '9' }))
  wrong('C9', second({ attempt: 3 }))
})

test('C9: attempts are counted without gaps, and a round succeeds by one of its own runs', () => {
  const gap = but([4], { retry: { attempts: 3, crashes: 2, deadlineMs: null } })
  gap.run(T, [T + 5, T + 50], { outcome: 'failed' })
  gap.run(T, [T + 100, T + 150], { attempt: 3 })
  wrong('C9', gap.amend(T, { attempt: 2, readyAt: EPOCH + T + 100 }).read(END))
  const round = but([]).ask(T + 5_000, { verb: 'retry', dueAt: EPOCH + T, nonce: '', force: true })
  wrong('C9', round.amend(T, { round: 2, endedAt: EPOCH + T + 6_000 }).read(END))
})

test('C1: after a pause that ends by itself everything is as before', () => {
  const until = { verb: 'pause', until: EPOCH + 3.9 * MINUTE, missed: 'skip' } as const
  clean(
    but([])
      .ask(3.5 * MINUTE, until)
      .read(END),
  )
  wrong(
    'C1',
    but([4])
      .ask(3.5 * MINUTE, until)
      .read(END),
  )
})

test('C3, C11: another round may commit once more', () => {
  const history = but([4], { guarantee: 'exactly-once' })
  history.effect(T + 500, history.run(T, [T + 5, T + 1_000]))
  history.ask(T + 2_000, { verb: 'retry', dueAt: EPOCH + T, nonce: '', force: true }).amend(T, { round: 2 })
  history.effect(T + 3_500, history.run(T, [T + 3_000, T + 4_000]))
  clean(history.read(END))
})

test('C8: one run may leave several marks on a resource', () => {
  const history = but([4])
  const run = history.run(T, [T + 5, T + 1_000])
  for (const at of [T + 100, T + 200]) history.effect(at, run, { sink: 'fenced', key: 'file' })
  clean(history.read(END))
})

test('C4: a skipped fire runs if an operator backfills it', () => {
  const filled = (at: number) => {
    const history = but([4]).ask(T - 5_000, { verb: 'skip-next', dueAt: EPOCH + T })
    history.ask(T + 5_000, { verb: 'backfill', from: EPOCH + at, to: EPOCH + at, force: false })
    history.record(T, { round: 2, origin: 'backfill', plannedAt: EPOCH + T + 5_000, readyAt: EPOCH + T + 5_000 })
    history.run(T, [T + 5_010, T + 5_020])
    return history.read(END)
  }
  clean(filled(T))
  wrong(['C4', 'C11'], filled(U))
})

test('C4: what was skipped ahead of time stays on record when the rule changes', () => {
  const record = { outcome: 'skipped', reason: 'skipped-by-operator', plannedAt: EPOCH + T + 1, endedAt: EPOCH + T + 1 }
  const history = minutes([1, 2, 3, 4])
    .ask(T + 1, { verb: 'skip-next', dueAt: EPOCH + U })
    .define(T + 5_000, { trigger: { kind: 'at', at: EPOCH + 3_600_000 } })
  history.record(U, record as never)
  clean(history.read(END, { nextAt: EPOCH + 3_600_000 }))
})

test('C6: not ready before it is due', () => {
  const history = but([4])
  history.record(T, { readyAt: EPOCH + T - 1 })
  history.run(T, [T, T + 10])
  wrong('C6', history.read(END))
})

test('C7: a limit counts the runs that are open, and holds where all instances agree on it', () => {
  const shared = (beginMs: number, others: Options = { jobLimit: 1 }) => {
    const made = new Builder().node('n1', 0).define(10, { jobLimit: 1 })
    const history = minutes([1, 2, 3, 4], made.define(20, { ...others, start: EPOCH + T }, 'b'))
    history.run(T, [T + beginMs, T + 5_000], { schedule: 'b' })
    return history.read(U - 1)
  }
  clean(shared(1_005))
  wrong('C7', shared(1_004))
  clean(shared(1_004, { jobLimit: 2 }))
})

test('C7: another round starts only when no other run is open, where one at a time may run', () => {
  const again = (from: number) => {
    const history = but([4, 5])
    history.run(T, [T + 5, T + 1_000])
    history.ask(U + 10, { verb: 'retry', dueAt: EPOCH + T, nonce: '', force: true })
    history.run(U, [U + 5, U + 2_000], { node: 'n2' })
    history.amend(T, { round: 2, readyAt: EPOCH + U + 10, plannedAt: EPOCH + U + 10 }).run(T, [from, from + 50])
    return history.read(END)
  }
  clean(again(U + 2_000))
  wrong('C7', again(U + 1_999))
})

test('C7: a fire ends with its transaction, even if its handler continues', () => {
  const history = but([4, 5], { guarantee: 'exactly-once' })
  const run = history.run(T, [T + 5, U + 1_000])
  history.effect(U + 1_000, run)
  history.run(U, [U + 2_000, U + 3_000], { node: 'n2', startedAt: EPOCH + U + 1_000 })
  history.record(U, { ...history.fires.get(`a ${EPOCH + U} `)!, plannedAt: EPOCH + U + 1_000 })
  const finish = history.entries.findIndex((entry) => entry.kind === 'finish' && entry.at === U + 1_000)
  history.entries[finish] = { ...history.entries[finish]!, at: U + 9_000 }
  clean(history.read(END))
})

test("C7: fires that came due together, or that are planned when the other one ends, do not count for each other's overlap", () => {
  const trigger = { kind: 'every', everyMs: 5_000, anchor: 0 } as const
  const planned = (firstMs: number, secondMs: number) => {
    const history = new Builder().node('n1', 0).define(10, { trigger, start: EPOCH + T, end: EPOCH + T + 10_000 })
    history.fault('store-down', T - 1_000, T + 6_000)
    history.record(T, { plannedAt: EPOCH + T + firstMs })
    history.run(T, [T + firstMs, T + 7_000])
    history.record(T + 5_000, { plannedAt: EPOCH + T + secondMs })
    history.run(T + 5_000, [T + 7_000, T + 8_000])
    return history.read(U, { nextAt: null })
  }
  clean(planned(6_000, 6_000))
  clean(planned(5_000, 6_001))
  wrong('C7', planned(4_999, 5_000))
  wrong('C7', planned(4_999, 6_999))
  clean(planned(4_999, 7_000))
})

test('C11: the time of a node that is held up stands still', () => {
  const timeout = { runMs: 10_000, graceMs: 0 }
  const held = (node: string) => {
    const history = but([4], { timeout }).fault('pause', T + 100, T + 20_000, node)
    history.run(T, [T + 5, T + 22_000], { outcome: 'failed', reason: 'timeout' })
    return history.read(END)
  }
  clean(held('n1'))
  wrong('C11', held('n2'))
})

test('C12: a fire waits for a node that can run it, and behind another one, but for nothing else', () => {
  const waits = (options: Options, cause: (history: Builder) => void = () => {}) => {
    const history = minutes([1, 2, 3, 4, 5, 6, 7, 8], new Builder().node('n1', 0).define(10, options))
    cause(history)
    history.record(9 * MINUTE, history.fires.get(`a ${EPOCH + 9 * MINUTE} `) ?? {})
    return history.read(10 * MINUTE - 100)
  }
  wrong('C12', waits({}))
  clean(waits({ job: 'other' }))
  clean(
    waits({ overlap: { kind: 'queue', limit: 1 } }, (history) =>
      history.run(T + 1, [8.5 * MINUTE, null], byHand(history)),
    ),
  )
})

/** A fire by hand is in the way. */
function byHand(history: Builder): { readonly nonce: string } {
  history.ask(T, { verb: 'trigger', nonce: 'key' }, { endedAt: T + 5 })
  history.record(T + 1, { nonce: 'key', origin: 'manual' })
  return { nonce: 'key' }
}

test('C12: a handler that has just returned is about to be settled', () => {
  const returned = (at: number) => {
    const history = but([9, 10], { overlap: { kind: 'allow', limit: 9 } })
    const { token } = history.run(9 * MINUTE, [9 * MINUTE + 5, null])
    history.run(10 * MINUTE, [10 * MINUTE + 5, 10 * MINUTE + 10])
    const run = { schedule: 'a', dueAt: EPOCH + 9 * MINUTE, nonce: '', attempt: 1, token, node: 'n1' }
    history.entries.push({ kind: 'finish', at, how: 'returned', ...run })
    return history.read(END)
  }
  clean(returned(END - 39_999))
  wrong('C12', returned(END - 40_000))
})

test('C13: a trigger does not plan what a pause holds back', () => {
  const history = minutes([1, 2, 3]).ask(T - 10_000, { verb: 'pause', until: null, missed: 'skip' })
  history.ask(T + 10, { verb: 'trigger', nonce: 'key' })
  history.record(T + 10, { nonce: 'key', origin: 'manual' })
  history.run(T + 10, [T + 20, T + 30], { nonce: 'key' })
  history.record(T, { plannedAt: EPOCH + T + 10, endedAt: EPOCH + T + 10, outcome: 'skipped', reason: 'paused' })
  wrong('C13', history.read(END, { nextAt: EPOCH + U, isPaused: true }))
})

test('C14: between reads counts, rounds and tokens grow, and a schedule that was created again starts from scratch', () => {
  const changed = (change: (history: Builder) => void, patch = {}) => {
    const history = minutes(TEN).read(9.9 * MINUTE, { nextAt: EPOCH + 11 * MINUTE })
    change(history)
    return history.read(END, patch)
  }
  clean(changed(() => {}))
  wrong(
    'C14',
    changed((history) => void history.read(END - 2, { nextAt: null })),
  )
  wrong(
    ['C9', 'C14'],
    changed((history) => history.amend(T, { attempt: 0 })),
  )
  const late = minutes(without(10)).read(9.5 * MINUTE)
  late.run(10 * MINUTE, [10 * MINUTE + 5, 10 * MINUTE + 10], { token: '7' })
  wrong('C14', late.read(END))
})

test('C14: a schedule that was created again starts from scratch', () => {
  const history = but([])
  history.schedules.set('a', { ...history.schedules.get('a')!, createdAt: EPOCH + 10 })
  history.read(9.9 * MINUTE, { nextAt: EPOCH + 20 * MINUTE })
  clean(history.read(END, { createdAt: EPOCH + 9.95 * MINUTE }))
  history.reads.pop()
  wrong('C14', history.read(END))
})

test('C1: a node that is full can take no more', () => {
  const missed = (concurrency: number) => {
    const history = new Builder().define(10).define(20, { job: 'other', trigger: { kind: 'at', at: EPOCH + T } }, 'b')
    history.entries.push({ kind: 'node', at: 0, node: 'n1', what: 'ready', jobs: ['work', 'other'], concurrency })
    minutes(without(4), history)
    history.record(T, { ...RANGE, plannedAt: EPOCH + U, endedAt: EPOCH + U })
    history.run(T, [T + 5, U - 5], { schedule: 'b' })
    history.schedules.delete('b')
    return history.read(END)
  }
  clean(missed(1))
  wrong('C1', missed(2))
})
