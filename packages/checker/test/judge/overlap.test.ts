import { test } from 'node:test'
import type { Outcome, Spec } from '../../src/history.ts'
import { Builder, EPOCH, MINUTE, SPEC } from './builder.ts'
import { clean, END, minutes, without, wrong } from './verdicts.ts'

type Options = { [Name in keyof Spec]?: Spec[Name] }

const T = 4 * MINUTE
const U = 5 * MINUTE

/**
 * Fires of the fourth and the fifth minute: the first ends at `endMs` after the fifth, and the second begins at
 * `beginMs`.
 */
function neighbours(options: Options, endMs: number, beginMs: number, mark = { node: 'n2', cut: false }): Builder {
  const history = minutes(without(4, 5), new Builder().node('n1', 0).node('n2', 0).define(10, options))
  history.run(T, [T + 5, U + endMs])
  history.run(U, [U + beginMs, U + 40_000], mark)
  return history
}

const QUEUE = { overlap: { kind: 'queue', limit: 1 } } as const

test('C7: one at a time', () => {
  clean(neighbours(QUEUE, 2_000, 2_000).read(END))
  wrong('C7', neighbours(QUEUE, 2_000, 1_999).read(END))
})

test('C7: no more runs at a time than the limit allows', () => {
  const allow = (limit: number) => neighbours({ overlap: { kind: 'allow', limit } }, 2_000, 10).read(END)
  clean(allow(2))
  wrong('C7', allow(1))
})

test('C7: a fire is active between its attempts, too', () => {
  const backingOff = (beginMs: number) => {
    const history = minutes(
      without(4, 5),
      new Builder().node('n1', 0).define(10, { ...QUEUE, retry: { attempts: 1, crashes: 2, deadlineMs: null } }),
    )
    history.run(T, [T + 5, U - 5_000], { outcome: 'failed' })
    history.run(T, [U + 5_000, U + 6_000])
    history.amend(T, { readyAt: EPOCH + U + 5_000 })
    history.run(U, [U + beginMs, U + beginMs + 500])
    return history.read(END)
  }
  clean(backingOff(6_000))
  wrong('C7', backingOff(10))
})

test('C7: handlers that overlap are a violation even if the ledger shows none', () => {
  const goesOn = (end: { readonly outcome: Outcome; readonly reason: string }, cause: (history: Builder) => void) => {
    const history = neighbours({ ...QUEUE, guarantee: 'at-most-once' }, 2_000, 2_000)
    const finish = history.entries.findIndex((entry) => entry.kind === 'finish' && entry.at === U + 2_000)
    history.entries[finish] = { ...history.entries[finish]!, at: U + 9_000 }
    history.runs.set(`a ${T + 6}`, { ...history.runs.get(`a ${T + 6}`)!, ...end })
    cause(history)
    return history.amend(T, end).read(END)
  }
  const crashed = { outcome: 'abandoned', reason: 'crashed' } as const
  const cancelled = { outcome: 'cancelled', reason: 'cancelled-by-operator' } as const
  const cancel = (minute: number) => (history: Builder) =>
    history.ask(U + 100, { verb: 'cancel', dueAt: EPOCH + minute * MINUTE, nonce: '', token: null })
  wrong(
    ['C7', 'C9'],
    goesOn({ outcome: 'succeeded', reason: 'completed' }, () => {}),
  )
  clean(goesOn(crashed, (history) => history.fault('pause', U, U + 1_000, 'n1')))
  wrong(
    ['C7', 'C10'],
    goesOn(crashed, (history) => history.fault('pause', U, U + 1_000, 'n2')),
  )
  clean(goesOn(cancelled, cancel(4)))
  wrong(['C7', 'C10'], goesOn(cancelled, cancel(5)))
})

test('C7: a manual fire may ignore the overlap policy', () => {
  const history = minutes(without(4), new Builder().node('n1', 0).define(10)).ask(T + 500, {
    verb: 'trigger',
    nonce: 'key',
  })
  history.run(T, [T + 5, T + 1_000])
  history.record(T + 500, { nonce: 'key', origin: 'manual' })
  history.run(T + 500, [T + 510, T + 900], { nonce: 'key' })
  clean(history.read(END))
})

test('C7: limits of a job and of a group, over schedules', () => {
  const together = (options: Options) => {
    const history = minutes(without(4), new Builder().node('n1', 0).define(10, options).define(20, options, 'b'))
    for (const minute of without(4))
      history.run(minute * MINUTE, [minute * MINUTE + 1_500, minute * MINUTE + 2_000], { schedule: 'b' })
    history.run(T, [T + 5, T + 1_000])
    history.run(T, [T + 500, T + 1_500], { schedule: 'b' })
    return history.read(END)
  }
  clean(together({ jobLimit: 2 }))
  wrong('C7', together({ jobLimit: 1 }))
  clean(together({ group: { name: 'reports', limit: 2 } }))
  wrong('C7', together({ group: { name: 'reports', limit: 1 } }))
})

const SKIPPED = { outcome: 'skipped', reason: 'overlap', plannedAt: EPOCH + U, endedAt: EPOCH + U } as const

test('C10: skipped for overlap needs another fire that was active then, back-off included', () => {
  const skipped = (endMs: number) => {
    const history = minutes(without(4, 5), new Builder().node('n1', 0).define(10))
    history.run(T, [T + 5, U + endMs])
    history.record(U, SKIPPED)
    return history.read(END)
  }
  clean(skipped(0))
  wrong('C10', skipped(-1))
})

test('C10: skipped for overlap needs a policy that skips, and a queue that is full', () => {
  const skipped = (kind: Spec['overlap']['kind'], limit: number, waits: boolean, reason = 'overlap') => {
    const history = minutes(without(3, 4, 5), new Builder().node('n1', 0).define(10, { overlap: { kind, limit } }))
    history.run(3 * MINUTE, [3 * MINUTE + 5, U + 1_000])
    if (waits) history.run(T, [U + 1_000, U + 2_000])
    else history.record(T, { ...SKIPPED, reason, plannedAt: EPOCH + T, endedAt: EPOCH + T })
    history.record(U, { ...SKIPPED, reason })
    return history.read(END)
  }
  clean(skipped('skip', 1, false))
  clean(skipped('queue', 1, true))
  wrong('C10', skipped('queue', 1, false))
  wrong('C10', skipped('replace', 1, false))
  wrong('C10', skipped('queue-all', 1, true))
  clean(skipped('queue-all', 1, true, 'queue-full'))
  wrong('C10', skipped('queue-all', 2, true, 'queue-full'))
})

test('C7: what finds others active is skipped, or waits if there is a place for it', () => {
  const waited = (kind: Spec['overlap']['kind'], limit: number, plannedMs = 0) => {
    const history = minutes(without(3, 4, 5), new Builder().node('n1', 0).define(10, { overlap: { kind, limit } }))
    history.run(3 * MINUTE, [3 * MINUTE + 5, U + 1_000])
    history.record(T, { plannedAt: EPOCH + T + plannedMs })
    history.run(T, [U + 1_000, U + 2_000])
    history.record(U, { plannedAt: EPOCH + U + plannedMs })
    history.run(U, [U + 2_000, U + 3_000])
    return history.read(END)
  }
  clean(waited('queue-all', 2))
  wrong('C7', waited('queue-all', 1))
  wrong('C7', waited('queue', 1))
  wrong('C7', waited('skip', 1))
  wrong('C7', waited('allow', 1))
  wrong('C7', waited('skip', 1, 10_000))
  // What is late queues.
  clean(waited('skip', 1, 10_001))
})

test('C7: a fire that waits counts unless a claim of it may be missing on record', () => {
  const [V, W, N] = [2 * MINUTE, 3 * MINUTE, 4 * MINUTE]
  const waited = (tokenBefore: string | null) => {
    const misfire = { ...SPEC.misfire, graceMs: 90_000 }
    const history = new Builder().node('n1', 0).define(tokenBefore === null ? V + 10 : MINUTE + 10, { misfire })
    if (tokenBefore !== null) history.run(V, [V + 5, V + 10], { token: tokenBefore })
    minutes(without(1, 2, 3, 4), history).fault('pause', W, N, 'n1')
    history.record(W, { plannedAt: EPOCH + W })
    history.run(W, [N + 10, N + 20], { token: '100' })
    history.run(N, [N + 30, N + 40], { token: '101' })
    return history.read(END)
  }
  wrong('C7', waited('99'))
  clean(waited('98'))
  // What the first token was can't be known.
  clean(waited(null))
})

test('C7: a replaced fire ends after its grace', () => {
  const replaced = (endMs: number, hit = false) => {
    const history = neighbours({ overlap: { kind: 'replace', limit: 1 } }, endMs, endMs)
    if (hit) history.fault('pause', U + 1_000, U + 2_000, 'n1')
    return history.read(END)
  }
  clean(replaced(14_500))
  wrong('C7', replaced(14_501))
  clean(replaced(14_501, true))
})

test('C10: replaced needs a policy that replaces', () => {
  const replaced = (kind: 'replace' | 'queue') => {
    const history = neighbours({ overlap: { kind, limit: 1 } }, 2_000, 2_000)
    const [first] = [...history.runs.values()].filter(({ dueAt }) => dueAt === EPOCH + T)
    const end = { outcome: 'cancelled', reason: 'replaced' } as const
    history.runs.set(`a ${first!.token}`, { ...first!, ...end })
    return history.amend(T, end).read(END)
  }
  clean(replaced('replace'))
  wrong('C10', replaced('queue'))
})
