import { test } from 'node:test'
import { Builder, EPOCH, MINUTE } from './builder.ts'
import { clean, END, minutes, TEN, without, wrong } from './verdicts.ts'

const T = 4 * MINUTE

test('C9: every start is on record, as the attempt that it was', () => {
  const other = minutes(TEN)
  other.runs.set(`a ${T + 6}`, { ...other.runs.get(`a ${T + 6}`)!, token: String(T + 7) })
  wrong('C9', other.read(END))
  const second = minutes(TEN)
  const start = second.entries.findIndex((entry) => entry.kind === 'start' && entry.at === T + 5)
  second.entries[start] = { ...second.entries[start]!, attempt: 2 } as never
  wrong('C9', second.read(END))
})

test('C9: a handler is called after its claim, and has come to its end when that is on record', () => {
  const shifted = (change: { readonly startedAt?: number; readonly endedAt?: number }) => {
    const history = minutes(TEN)
    history.runs.set(`a ${T + 6}`, { ...history.runs.get(`a ${T + 6}`)!, ...change })
    return history.amend(T, change.endedAt === undefined ? {} : { endedAt: change.endedAt }).read(END)
  }
  clean(shifted({ startedAt: EPOCH + T + 5 }))
  wrong('C9', shifted({ startedAt: EPOCH + T + 6 }))
  clean(shifted({ endedAt: EPOCH + T + 1_005 }))
  wrong('C9', shifted({ endedAt: EPOCH + T + 1_004 }))
  const lagging = (endedAt: number) => {
    const history = shifted({ endedAt: EPOCH + endedAt })
    history.bounds = { ...history.bounds, clockLagMs: 500 }
    return history
  }
  clean(lagging(T + 505))
  wrong('C9', lagging(T + 504))
})

test('C9: a handler is not called after its run has ended, unless its node was held up', () => {
  const started = (startMs: number, node: string) => {
    const history = minutes(without(4), new Builder().node('n1', 0).node('n2', 0).define(10))
    history.fault('pause', T + 10, T + 16_000, node)
    history.run(T, [T + 5, T + 15_000], { outcome: 'abandoned' })
    history.run(T, [T + 17_000, T + 18_000], { node: 'n2' })
    for (const [kind, at] of [
      ['start', T + startMs],
      ['finish', T + 16_500],
    ] as const) {
      const index = history.entries.findIndex((entry) => entry.kind === kind && entry.dueAt === EPOCH + T)
      history.entries[index] = { ...history.entries[index]!, at }
    }
    return history.read(END)
  }
  clean(started(15_500, 'n1'))
  wrong(['C2', 'C9'], started(15_500, 'n2'))
  wrong('C2', started(14_999, 'n2'))
})

test('C9: a success came to its end, a failure threw', () => {
  const said = (outcome: 'succeeded' | 'failed', how: 'returned' | 'threw' | null) => {
    const history = minutes(without(4))
    history.run(T, [T + 5, T + 10], { outcome })
    const finish = history.entries.findIndex((entry) => entry.kind === 'finish' && entry.at === T + 10)
    if (how === null) history.entries.splice(finish, 1)
    else history.entries[finish] = { ...history.entries[finish]!, how } as never
    return history
  }
  clean(said('succeeded', 'returned').read(END))
  clean(said('failed', 'threw').read(END))
  wrong('C9', said('succeeded', 'threw').read(END))
  wrong('C9', said('failed', 'returned').read(END))
  const killed = (history: Builder) =>
    history
      .fault('kill', T + 8, T + 8, 'n1')
      .node('n1', T + 8, 'ended')
      .node('n2', T + 9)
  wrong('C9', killed(said('succeeded', null)).read(END))
})

test('C9: a committed fire has succeeded, even if its handler failed afterwards', () => {
  const history = minutes(without(4), new Builder().node('n1', 0).define(10, { guarantee: 'exactly-once' }))
  const run = history.run(T, [T + 5, T + 10])
  history.effect(T + 9, run)
  const finish = history.entries.findIndex((entry) => entry.kind === 'finish' && entry.at === T + 10)
  history.entries[finish] = { ...history.entries[finish]!, how: 'threw' } as never
  clean(history.read(END))
})

test('C9: a fire counts its runs, and ends as the last of them', () => {
  wrong('C9', minutes(TEN).amend(T, { attempt: 2 }).read(END))
  wrong(
    'C9',
    minutes(TEN)
      .amend(T, { outcome: 'cancelled', reason: 'removed' })
      .ask(T + 1, { verb: 'remove' }, { result: 'info', endedAt: null })
      .read(END),
  )
})

test('C9: a schedule is recorded as paused if an operator paused it', () => {
  wrong('C9', minutes(TEN).read(END, { isPaused: true }))
  const paused = () => minutes([1, 2, 3]).ask(3.5 * MINUTE, { verb: 'pause', until: null, missed: 'skip' })
  clean(paused().read(END, { isPaused: true, nextAt: EPOCH + T }))
  wrong('C9', paused().read(END, { isPaused: false, nextAt: EPOCH + T }))
})

test('C10: an instant that was run, and is on no record', () => {
  const history = minutes(TEN, new Builder().node('n1', 0).define(10, { keepMs: 5 * MINUTE, keepCount: 1 }))
  clean(history.read(END))
  const gone = minutes(TEN)
  gone.fires.delete(`a ${EPOCH + T} `)
  wrong('C10', gone.read(END))
})

test('C10: a record that goes before its time, and one that goes in time', () => {
  const pruned = (keepMs: number) => {
    const history = new Builder().node('n1', 0).define(10, { keepMs })
    minutes(TEN, history).read(8 * MINUTE)
    history.fires.delete(`a ${EPOCH + T} `)
    for (const [key, { dueAt }] of history.runs) if (dueAt === EPOCH + T) history.runs.delete(key)
    return history.read(END)
  }
  clean(pruned(6 * MINUTE))
  wrong('C10', pruned(8 * MINUTE))
})

test('C10: on record twice, or as what is not an instant', () => {
  const twice = minutes(TEN)
  twice.fires.set('again', { ...twice.fires.get(`a ${EPOCH + T} `)! })
  wrong('C10', twice.read(END))
  const phantom = minutes(TEN)
  phantom.record(T + 1, { outcome: 'skipped', reason: 'overlap', plannedAt: EPOCH + T + 50, endedAt: EPOCH + T + 50 })
  wrong('C10', phantom.read(END))
})

const RANGE = {
  outcome: 'missed',
  reason: 'superseded',
  plannedAt: EPOCH + 9.5 * MINUTE,
  endedAt: EPOCH + 9.5 * MINUTE,
} as const

test('C10: a range counts exactly the instants that it covers', () => {
  const range = (count: number, which: readonly number[] = [1, 10]) => {
    const history = minutes(which).fault('store-down', 1.5 * MINUTE, 9.4 * MINUTE)
    history.record(9 * MINUTE, { plannedAt: RANGE.plannedAt })
    history.run(9 * MINUTE, [9.5 * MINUTE, 9.6 * MINUTE])
    history.record(2 * MINUTE, { ...RANGE, untilAt: EPOCH + 8 * MINUTE, count })
    return history.read(END)
  }
  clean(range(7))
  wrong('C10', range(6))
  wrong('C10', range(7, [1, 5, 10]))
})
