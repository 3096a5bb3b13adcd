import { test } from 'node:test'
import type { LedgerFire, Spec } from '../../src/history.ts'
import { Builder, EPOCH, MINUTE, SPEC } from './builder.ts'
import { clean, END, minutes, TEN, without, wrong } from './verdicts.ts'

const T = 4 * MINUTE

/** Nine minutes as they should be, and the fourth on record like this. */
function recorded(record: Partial<LedgerFire>, options: { [Name in keyof Spec]?: Spec[Name] } = {}): Builder {
  const history = minutes(without(4), new Builder().node('n1', 0).define(10, options))
  history.record(T, { plannedAt: EPOCH + T + 5, endedAt: EPOCH + T + 5, ...record })
  return history
}

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

test('C9: what committed has succeeded, whatever its handler did then', () => {
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

test('C9: it is paused on record if somebody paused it', () => {
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

test('C10: on record twice, or as what is no instant', () => {
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

test('C10: a range counts the instants that it stands for, and nobody else does', () => {
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

test('C10: reasons are true: paused, skipped, cancelled, retired, removed', () => {
  const asked = (history: Builder, ...what: Parameters<Builder['ask']>) => history.ask(...what)
  wrong('C10', recorded({ outcome: 'skipped', reason: 'paused' }).read(END))
  const late = T + 2 * MINUTE
  wrong(
    'C10',
    asked(recorded({ outcome: 'skipped', reason: 'paused' }), late, {
      verb: 'pause',
      until: EPOCH + late + 5,
      missed: 'skip',
    }).read(END),
  )
  wrong('C10', recorded({ outcome: 'skipped', reason: 'skipped-by-operator' }).read(END))
  const cancelled = recorded({ outcome: 'cancelled', reason: 'cancelled-by-operator' })
  const { length } = cancelled.entries
  wrong('C10', cancelled.read(END))
  cancelled.entries.length = length
  clean(asked(cancelled, T + 5, { verb: 'cancel', dueAt: EPOCH + T, nonce: '', token: null }))
  const run = (token: string) => {
    const history = minutes(without(4))
    const end = { outcome: 'cancelled', reason: 'cancelled-by-operator' } as const
    history.run(T, [T + 5, T + 10], end)
    history.ask(T + 6, { verb: 'cancel', dueAt: EPOCH + T, nonce: '', token })
    return history.amend(T, { ...end, endedAt: EPOCH + T + 10 }).read(END)
  }
  clean(run(String(T + 6)))
  wrong('C10', run(String(T + 7)))
  wrong('C10', recorded({ outcome: 'cancelled', reason: 'retired' }).read(END))
  const removed = (at: number) => {
    const made = new Builder().node('n1', 0).define(10).ask(at, { verb: 'remove' }).define(at)
    const history = minutes(without(4), made)
    history.record(T, { outcome: 'cancelled', reason: 'removed', endedAt: EPOCH + T + 5 })
    return history.read(END)
  }
  clean(removed(T + 5))
  wrong('C10', removed(T - 5))
  wrong('C10', recorded({ outcome: 'cancelled', reason: 'removed' }).read(END))
  wrong('C10', recorded({ outcome: 'skipped', reason: 'tired' }).read(END))
})

const SKIP_LATE = { misfire: { ...SPEC.misfire, late: 'skip' } } as const

test('C10: missed needs to have been late, by a policy that lets go', () => {
  const outage = (record: Partial<LedgerFire>, options: { [Name in keyof Spec]?: Spec[Name] } = SKIP_LATE) =>
    recorded({ outcome: 'missed', ...record }, options)
      .fault('store-down', T, T + 30_000)
      .read(END)
  const at = (ms: number) => ({ plannedAt: EPOCH + T + ms, endedAt: EPOCH + T + ms })
  clean(outage({ reason: 'late', ...at(10_001) }))
  wrong('C10', outage({ reason: 'late', ...at(10_000) }))
  wrong('C10', outage({ reason: 'late', ...at(10_001) }, {}))
  wrong('C10', outage({ reason: 'superseded', ...at(10_001) }))
  wrong('C10', outage({ reason: 'too-late', ...at(10_001) }))
  clean(outage({ reason: 'too-late', ...at(10_001) }, { misfire: { ...SPEC.misfire, windowMs: 10_000 } }))
})

test('C10: superseded needs an instant that is newer', () => {
  const superseded = (endedAt: number) => {
    const history = minutes(without(4)).fault('store-down', T, T + MINUTE)
    history.record(T, { outcome: 'missed', reason: 'superseded', plannedAt: endedAt, endedAt })
    return history.read(END)
  }
  clean(superseded(EPOCH + T + MINUTE))
  wrong('C10', superseded(EPOCH + T + MINUTE - 1))
})

test('C10: missed needs to have been late since it was ready, and never to have run', () => {
  const late = { outcome: 'missed', reason: 'late', plannedAt: EPOCH + T, endedAt: EPOCH + T + 11_000 } as const
  const jittered = (readyMs: number) => {
    const history = recorded({ ...late, readyAt: EPOCH + T + readyMs }, { ...SKIP_LATE, jitterMs: 2_000 })
    return history.fault('store-down', T, T + 30_000).read(END)
  }
  clean(jittered(999))
  wrong('C10', jittered(1_000))
  const retried = minutes(without(4), new Builder().node('n1', 0).define(10, SKIP_LATE))
  retried.fault('store-down', T, T + 30_000).run(T, [T + 5, T + 10], { outcome: 'failed' })
  wrong('C10', retried.amend(T, late).read(END))
})

test('C10: a timeout needs a time that was up', () => {
  const timedOut = (ms: number, runMs: number | null) => {
    const timeout = { runMs, graceMs: 1_000 }
    const history = minutes(without(4), new Builder().node('n1', 0).define(10, { timeout }))
    history.run(T, [T + 5, T + 5 + ms], { outcome: 'failed', reason: 'timeout' })
    return history.read(END)
  }
  clean(timedOut(8_000, 10_000))
  wrong('C10', timedOut(7_999, 10_000))
  wrong('C10', timedOut(8_000, null))
})

test('C10: what a pause held back is let go if its end says so', () => {
  const resumed = (first: 'skip' | 'latest' | 'all', missed: 'skip' | 'latest' | 'all', minute: number) => {
    const history = minutes(without(minute)).ask(3.5 * MINUTE, { verb: 'pause', until: null, missed: first })
    const back = (minute + 0.5) * MINUTE
    history.ask(back, { verb: 'resume', missed })
    const record = { outcome: 'skipped', reason: 'paused', plannedAt: EPOCH + back, endedAt: EPOCH + back } as const
    history.record(minute * MINUTE, record)
    return history.read(END)
  }
  clean(resumed('all', 'skip', 4))
  clean(resumed('skip', 'all', 4))
  wrong('C10', resumed('all', 'all', 4))
  wrong('C10', resumed('latest', 'latest', 4))
})

test('C10: abandoned needs something that was done to the node', () => {
  const abandoned = (hit: boolean, guarantee: Spec['guarantee'], reason: string) => {
    const history = minutes(without(4), new Builder().node('n1', 0).node('n2', 0).define(10, { guarantee }))
    if (hit) history.fault('pause', T + 10, T + 20_000, 'n1')
    history.run(T, [T + 5, T + 18_000], { outcome: 'abandoned' })
    return history.amend(T, { outcome: 'abandoned', reason, endedAt: EPOCH + T + 18_000 }).read(END)
  }
  clean(abandoned(true, 'at-most-once', 'crashed'))
  wrong('C10', abandoned(false, 'at-most-once', 'crashed'))
  wrong('C10', abandoned(true, 'at-least-once', 'crashed'))
  wrong('C10', abandoned(true, 'at-least-once', 'crash-budget'))
})
