import { test } from 'node:test'
import type { LedgerRun, Spec } from '../../src/history.ts'
import { Builder, EPOCH, MINUTE, SPEC } from './builder.ts'
import { clean, END, minutes, without, wrong } from './verdicts.ts'

type Options = { [Name in keyof Spec]?: Spec[Name] }

const T = 4 * MINUTE
const U = 5 * MINUTE
const V = 6 * MINUTE
const SKIP = { misfire: { ...SPEC.misfire, late: 'skip' } } as const
const QUEUE = { overlap: { kind: 'queue', limit: 1 } } as const

/**
 * The fire of the fourth minute, started this late, with this cause. The store was down, so no instance could start it
 * earlier.
 */
function late(ms: number, cause: string | null, options: Options = {}, given: Partial<LedgerRun> = {}): Builder {
  const made = new Builder()
    .node('n1', 0)
    .define(10, options)
    .fault('store-down', T, T + 55_000)
  const history = minutes(without(4), made)
  history.run(T, [T + ms, T + ms + 500], { readyAt: EPOCH + T, cause, ...given })
  return history
}

test('C11: a start later than the grace has its cause on record', () => {
  clean(late(10_000, null).read(END))
  wrong('C11', late(10_001, null).read(END))
  clean(late(10_001, 'room').read(END))
})

test('C10: the cause of a start is one of those that there are, and of a start that is late', () => {
  wrong('C10', late(20_000, 'traffic').read(END))
  wrong('C10', late(10_000, 'room').read(END))
})

test('C10: caught up is what was planned late, and room what was not', () => {
  const planned = (ms: number, cause: string) =>
    late(20_000, cause)
      .amend(T, { plannedAt: EPOCH + T + ms })
      .read(END)
  clean(planned(20_000, 'caught-up'))
  wrong('C10', planned(10_000, 'caught-up'))
  clean(planned(10_000, 'room'))
  wrong('C10', planned(20_000, 'room'))
})

test('C10: caught up is also what waited while its schedule was retired', () => {
  const retired = (at: number) =>
    late(40_000, 'caught-up')
      .amend(T, { plannedAt: EPOCH + T })
      .ask(at, { verb: 'retire' })
      .define(at + 20_000)
      .read(END)
  clean(retired(T + 5_000))
  wrong('C10', retired(MINUTE + 5_000))
})

test('C10: a turn needs another fire that was active', () => {
  const behind = (endMs: number) => {
    const history = minutes(without(3, 4), new Builder().node('n1', 0).define(10, QUEUE))
    history.fault('store-down', T, T + 25_000)
    history.run(3 * MINUTE, [3 * MINUTE + 5, T + endMs])
    history.run(T, [T + 20_000, T + 20_500], { readyAt: EPOCH + T, cause: 'turn' })
    return history.read(END)
  }
  clean(behind(19_000))
  wrong('C10', behind(-1_000))
})

test('C10: the causes pause, asked and recovered need a pause, a request and an earlier run', () => {
  wrong('C10', late(20_000, 'pause').read(END))
  wrong('C10', late(20_000, 'asked').read(END))
  wrong('C10', late(20_000, 'recovered').read(END))
  const paused = (cause: string) =>
    late(20_000, cause)
      .ask(T - 1_000, { verb: 'pause', until: EPOCH + T + 15_000, missed: 'all' })
      .amend(T, { plannedAt: EPOCH + T + 15_000 })
      .read(END)
  clean(paused('pause'))
  clean(paused('asked'))
})

test('C11: under skip nothing starts late, for any cause', () => {
  clean(late(10_000, null, SKIP).read(END))
  wrong('C11', late(10_001, 'room', SKIP).read(END))
})

test('C11: under latest nothing starts late while a newer fire waits', () => {
  const piled = (startMs: number) => {
    const history = minutes(without(4, 5), new Builder().node('n1', 0).define(10))
    history.fault('store-down', T, V - 5_000)
    history.run(T, [U + startMs, U + startMs + 500], { readyAt: EPOCH + T, cause: 'room' })
    history.run(U, [U + 41_000, U + 41_500], { readyAt: EPOCH + U, cause: 'room' })
    return history.read(END)
  }
  clean(piled(-500))
  wrong('C11', piled(40_000))
})

test('C11: a fire that waited for its turn is not late for that, where the policy promised it', () => {
  const behind = (options: Options) => {
    const history = minutes(without(3, 4), new Builder().node('n1', 0).define(10, options))
    history.fault('store-down', T, T + 45_000)
    history.run(3 * MINUTE, [3 * MINUTE + 5, T + 30_000])
    history.run(T, [T + 30_005, T + 30_500], { readyAt: EPOCH + T, cause: 'turn' })
    return history.read(END)
  }
  clean(behind({ ...SKIP, ...QUEUE }))
  wrong(['C7', 'C11'], behind(SKIP))
})

test('C11: a fire that waited for its turn may have waited for a fire that was pruned since', () => {
  const kept = (keepMs: number, cause: string) => late(20_000, cause, { ...SKIP, ...QUEUE, keepMs }).read(END)
  clean(kept(END - T - 15_000, 'turn'))
  wrong(['C10', 'C11'], kept(END - T + 5_000, 'turn'))
  wrong('C11', kept(END - T - 15_000, 'room'))
})

test('C7: a fire that waits and is on time counts for overlap, a late one does not', () => {
  const waiting = (graceMs: number, overlap: Spec['overlap'] = { kind: 'skip', limit: 1 }) => {
    const misfire = { ...SPEC.misfire, graceMs }
    const history = minutes(without(4, 5), new Builder().node('n1', 0).define(10, { misfire, overlap }))
    history.fault('store-down', T, V - 5_000)
    history.record(T, { plannedAt: EPOCH + T })
    history.run(T, [U + 20_000, U + 21_000])
    history.run(U, [U + 21_000, U + 22_000])
    return history.read(END)
  }
  wrong('C7', waiting(MINUTE))
  wrong('C7', waiting(MINUTE, { kind: 'queue', limit: 1 }))
  wrong('C7', waiting(MINUTE, { kind: 'queue-all', limit: 1 }))
  clean(waiting(MINUTE, { kind: 'queue-all', limit: 2 }))
  clean(waiting(MINUTE, { kind: 'allow', limit: 2 }))
  clean(waiting(MINUTE - 1))
})

test('C10: overlap needs an active fire, or one that waits and is on time', () => {
  const skipped = (graceMs: number) => {
    const misfire = { ...SPEC.misfire, graceMs }
    const history = minutes(without(4, 5), new Builder().node('n1', 0).define(10, { misfire }))
    history.fault('store-down', T, V - 5_000)
    history.run(T, [U + 20_000, U + 21_000])
    history.record(U, { plannedAt: EPOCH + U, endedAt: EPOCH + U, outcome: 'skipped', reason: 'overlap' })
    return history.read(END)
  }
  clean(skipped(MINUTE))
  wrong('C10', skipped(MINUTE - 1))
})

test('C10: superseded needs a newer fire that is open, not one that was skipped', () => {
  const superseded = (isSkipped: boolean) => {
    const history = minutes(without(3, 4, 5), new Builder().node('n1', 0).define(10))
    history.run(3 * MINUTE, [3 * MINUTE + 5, U + 10_000])
    history.fault('store-down', T, U + 5_000)
    const ended = EPOCH + U + 5
    history.record(T, { outcome: 'missed', reason: 'superseded', plannedAt: ended, endedAt: ended })
    if (isSkipped) history.record(U, { plannedAt: ended, endedAt: ended, outcome: 'skipped', reason: 'overlap' })
    else history.run(U, [U + 11_000, U + 12_000])
    return history.read(END)
  }
  wrong('C10', superseded(true))
  wrong('C7', superseded(false))
})

test('C10: superseded may also point to a late instant that a later step of planning decides about', () => {
  const stepped = (latenessMs: number, isSkipped = false) => {
    const first = U + latenessMs
    const history = minutes(
      without(4, 5),
      new Builder()
        .node('n1', 0)
        .define(10)
        .fault('store-down', T, V - 1_000),
    )
    const [ended, plannedAt] = [EPOCH + first, EPOCH + first + 5]
    history.record(T, { outcome: 'missed', reason: 'superseded', plannedAt: ended, endedAt: ended })
    if (isSkipped) history.record(U, { plannedAt, endedAt: plannedAt, outcome: 'skipped', reason: 'overlap' })
    else history.run(U, [first + 5, first + 500], { readyAt: EPOCH + U, cause: 'caught-up' })
    return history.amend(U, { plannedAt }).read(END)
  }
  clean(stepped(10_001))
  // On time in the step that superseded the other: that step did not know whether overlap would end it.
  wrong('C10', stepped(10_000))
  wrong('C10', stepped(10_001, true))
})
