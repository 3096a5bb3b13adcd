import { test } from 'node:test'
import type { Spec } from '../../src/history.ts'
import { Builder, EPOCH, MINUTE, SPEC } from './builder.ts'
import { clean, END, minutes, without, wrong } from './verdicts.ts'

const T = 4 * MINUTE
const DAY = 86_400_000

/** Nine minutes as they should be; what happened at the fourth is up to the test. */
function fourth(options: { [Name in keyof Spec]?: Spec[Name] } = {}): Builder {
  return minutes(without(4), new Builder().node('n1', 0).node('n2', 0).define(10, options))
}

/** n1 is killed two seconds into its run, and n2 runs it again. */
function recovered(options: { [Name in keyof Spec]?: Spec[Name] } = {}, killed = true): Builder {
  const history = fourth(options)
  if (killed) history.fault('kill', T + 2_000, T + 2_000, 'n1').node('n1', T + 2_000, 'ended')
  history.run(T, [T + 5, T + 3_000], { cut: killed, outcome: 'abandoned' })
  history.run(T, [T + 3_000, T + 4_000], { node: 'n2' })
  if (killed) history.node('n1b', T + 5_000)
  return history
}

test('C2: attempts one after the other, each after the one before it was revoked', () => clean(recovered().read(END)))

test('C2: one token for two starts', () => {
  const history = fourth()
  const { token } = history.run(T, [T + 5, T + 1_000])
  history.entries.push({
    kind: 'start',
    at: T + 8,
    node: 'n2',
    schedule: 'a',
    dueAt: EPOCH + T,
    nonce: '',
    attempt: 1,
    token,
  })
  wrong('C2', history.read(END))
})

test('C2: a fire taken from a node that was well', () => wrong('C2', recovered({}, false).read(END)))

test('C2: a clock that was set excuses no lost lease: not that of the node, nor that of the host, nor that of the store', () => {
  wrong(
    'C2',
    recovered({}, false)
      .fault('wall-step', T + 1_000, T + 1_000, 'n1', true)
      .read(END),
  )
  wrong(
    'C2',
    recovered({}, false)
      .fault('clock step', T + 1_000, T + 1_000, null, true)
      .read(END),
  )
  wrong(
    'C2',
    recovered({}, false)
      .step(T + 1_000, 0)
      .read(END),
  )
})

test('C2: at-most-once is started once', () => {
  const once = { guarantee: 'at-most-once' } as const
  const abandoned = fourth(once)
    .fault('kill', T + 2_000, T + 2_000, 'n1')
    .node('n1', T + 2_000, 'ended')
    .node('n1b', T + 5_000)
  abandoned.run(T, [T + 5, T + 3_000], { cut: true, outcome: 'abandoned' })
  abandoned.amend(T, { outcome: 'abandoned', reason: 'crashed', endedAt: EPOCH + T + 3_000 })
  clean(abandoned.read(END))
  wrong('C2', recovered(once).read(END))
})

test('C2: at-most-once is started once, also if the one that was claimed first was held up', () => {
  const history = fourth({ guarantee: 'at-most-once' }).fault('pause', T + 6, T + 20_000, 'n1')
  history.run(T, [T + 5, T + 15_000], { outcome: 'cancelled', cut: true })
  history.run(T, [T + 15_005, T + 16_000], { node: 'n2' })
  const start = history.entries.findIndex((entry) => entry.kind === 'start' && entry.at === T + 5)
  history.entries[start] = { ...history.entries[start]!, at: T + 20_005 } as never
  wrong('C2', history.read(END))
})

test('C2: a cancellation or a newer fire that takes its place excuses only whom it concerns', () => {
  const taken = (options: { [Name in keyof Spec]?: Spec[Name] }, cancelled: number) => {
    const cancel = { verb: 'cancel', dueAt: EPOCH + cancelled, nonce: '', token: null } as const
    return recovered(options, false)
      .ask(cancelled + 500, cancel)
      .read(END)
  }
  clean(taken({}, T))
  wrong('C2', taken({}, 2 * MINUTE))
  wrong('C2', taken({ overlap: { kind: 'replace', limit: 1 } }, 2 * MINUTE))
})

test('C2: at-most-once is started again in a round that an operator asked for', () => {
  const history = recovered({ guarantee: 'at-most-once' })
  const retry = { verb: 'retry', dueAt: EPOCH + T, nonce: '' } as const
  history.ask(T + 2_900, { ...retry, force: true })
  const [first, second] = [...history.runs.values()].filter(({ dueAt }) => dueAt === EPOCH + T)
  history.runs.set(`a ${second!.token}`, { ...second!, round: 2 })
  history.amend(T, { round: 2 })
  clean(history.read(END))
  const asked = history.entries.findIndex((entry) => entry.kind === 'operation' && entry.verb === 'retry')
  const forced = history.entries[asked]!
  history.entries[asked] = { ...(forced as object), force: false } as never
  wrong('C2', history)
  history.entries[asked] = forced
  history.reads.length = 0
  history.runs.set(`a ${first!.token}`, { ...first!, round: 2 })
  wrong('C2', history.read(END))
})

test('C2: an attempt that was claimed before the end of the one before it, or after a success', () => {
  const beside = recovered()
  const [first] = [...beside.runs.values()].filter(({ dueAt }) => dueAt === EPOCH + T)
  beside.runs.set(`a ${first!.token}`, { ...first!, endedAt: EPOCH + T + 3_001 })
  wrong('C2', beside.read(END))
  const again = fourth({ retry: { attempts: 3, crashes: 2, deadlineMs: null } }).fault(
    'pause',
    T + 1_000,
    T + 2_000,
    'n1',
  )
  again.run(T, [T + 5, T + 900])
  again.run(T, [T + 3_000, T + 4_000], { node: 'n2' })
  wrong('C2', again.read(END))
})

test('C2: a lower token after a higher one, unless its node was held up in between', () => {
  const held = (isHit: boolean) => {
    const history = recovered()
    const start = history.entries.findIndex((entry) => entry.kind === 'start' && entry.at === T + 5)
    history.entries[start] = { ...history.entries[start]!, at: T + 3_500, node: isHit ? 'n1' : 'n2' } as never
    const frame = { schedule: 'a', dueAt: EPOCH + T, nonce: '', attempt: 1, token: String(T + 6), node: 'n2' }
    if (!isHit) history.entries.push({ kind: 'finish', at: T + 3_600, how: 'returned', ...frame })
    return history.read(END)
  }
  clean(held(true))
  wrong(['C2', 'C9'], held(false))
})

test('C2: by hand, one fire for each key', () => {
  const triggered = (second: string) => {
    const history = fourth()
    history.run(T, [T + 5, T + 100])
    for (const [at, nonce] of [
      [T + 10_000, 'first'],
      [T + 20_000, second],
    ] as const) {
      history.ask(at, { verb: 'trigger', nonce })
      history.record(at, { nonce, origin: 'manual' })
      history.run(at, [at + 5, at + 10], { nonce })
    }
    return history.read(END)
  }
  clean(triggered('second'))
  wrong('C2', triggered('first'))
})

const ONCE = { guarantee: 'exactly-once' } as const

test('C3: a transaction is committed by one run of a fire', () => {
  const committed = (first: boolean) => {
    const history = recovered(ONCE)
    const [lost, last] = [...history.runs.values()].filter(({ dueAt }) => dueAt === EPOCH + T)
    if (first) history.runs.set(`a ${lost!.token}`, { ...lost!, outcome: 'succeeded', reason: 'completed', round: 2 })
    return history.effect(T + 1_000, lost!, { accepted: false }).effect(T + 3_900, last!)
  }
  clean(committed(false).read(END))
  const twice = committed(false)
  const [lost] = [...twice.runs.values()].filter(({ dueAt }) => dueAt === EPOCH + T)
  twice.effect(T + 3_950, { ...lost!, token: '99999999', attempt: 3 })
  wrong('C3', twice.read(END))
})

/** Both runs of the fourth fire returned and committed; then the record of the fire was pruned. */
function prunedAfterTwoCommits(retry: { readonly at: number; readonly force: boolean } | null): Builder {
  const kept = { ...ONCE, misfire: { ...SPEC.misfire, windowMs: MINUTE }, keepMs: 2 * DAY, keepCount: 0 }
  const history = new Builder().node('n1', 0).define(10, { ...kept, trigger: { kind: 'at', at: EPOCH + T } })
  if (retry !== null) history.ask(retry.at, { verb: 'retry', dueAt: EPOCH + T, nonce: '', force: retry.force })
  for (const at of [T, T + 30_000]) history.effect(at + 500, history.run(T, [at + 5, at + 1_000]))
  history.fires.clear()
  history.runs.clear()
  return history.read(3 * DAY, { nextAt: null })
}

test('C2, C3: a pruned fire that ran twice needs a forced retry between its runs', () => {
  clean(prunedAfterTwoCommits({ at: T + 10_000, force: true }))
  wrong(['C2', 'C3'], prunedAfterTwoCommits(null))
  wrong(['C2', 'C3'], prunedAfterTwoCommits({ at: T + 10_000, force: false }))
  wrong(['C2', 'C3'], prunedAfterTwoCommits({ at: T + 400, force: true }))
  wrong(['C2', 'C3'], prunedAfterTwoCommits({ at: T + 40_000, force: true }))
})

test('C3: a run commits once', () => {
  const history = minutes(without(4), new Builder().node('n1', 0).define(10, ONCE))
  const run = history.run(T, [T + 5, T + 1_000])
  wrong(
    'C3',
    history
      .effect(T + 500, run)
      .effect(T + 600, run)
      .read(END),
  )
})

test('C3: a success whose transaction is not there', () => {
  const history = minutes(without(4), new Builder().node('n1', 0).define(10, ONCE))
  history.effect(T + 500, history.run(T, [T + 5, T + 1_000]), { accepted: false })
  wrong('C3', history.read(END))
})

test('C3: a step is done once, also over attempts', () => {
  const steps = (second: string, accepted = true) => {
    const history = recovered()
    const [lost, last] = [...history.runs.values()].filter(({ dueAt }) => dueAt === EPOCH + T)
    history.effect(T + 1_000, lost!, { sink: 'step', key: 'charge' })
    return history.effect(T + 3_500, last!, { sink: 'step', key: second, accepted }).read(END)
  }
  clean(steps('mail'))
  clean(steps('charge', false))
  wrong('C3', steps('charge'))
})

test('C8: a transaction of a run that was overtaken', () => {
  const history = recovered(ONCE)
  const [lost] = [...history.runs.values()].filter(({ dueAt }) => dueAt === EPOCH + T)
  wrong('C8', history.effect(T + 3_500, lost!).read(END))
})

test('C8: a resource takes a lower token after a higher one', () => {
  const fenced = (firstAt: number, accepted = true) => {
    const history = recovered()
    const [lost, last] = [...history.runs.values()].filter(({ dueAt }) => dueAt === EPOCH + T)
    history.effect(T + 3_500, last!, { sink: 'fenced', key: 'file' })
    return history.effect(firstAt, lost!, { sink: 'fenced', key: 'file', accepted }).read(END)
  }
  clean(fenced(T + 1_000))
  clean(fenced(T + 3_600, false))
  wrong('C8', fenced(T + 3_600))
})
