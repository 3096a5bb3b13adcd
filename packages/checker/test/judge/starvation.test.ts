import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Spec } from '../../src/history.ts'
import { judge } from '../../src/judge.ts'
import type { Basis, Property } from '../../src/verdict.ts'
import { Builder, EPOCH, MINUTE, SPEC } from './builder.ts'
import { clean, END, minutes, TEN, without, wrong } from './verdicts.ts'

type Options = { [Name in keyof Spec]?: Spec[Name] }
type Gap = Parameters<Builder['healthy']>[2]

const T = 4 * MINUTE
const U = 5 * MINUTE

/** Two nodes and all of ten minutes but these, in real time. */
function real(missing: readonly number[], options: Options = {}): Builder {
  const history = new Builder().witnessed().node('n1', 0).node('n2', 0).define(10, options)
  return minutes(without(...missing), history)
}

function vouched(history: Builder, gap?: Gap): Builder {
  return history.healthy(END, ['n1', 'n2'], gap).read(END)
}

/**
 * A history that breaks a rule about elapsed time is wrong if witnesses vouch for every moment, and not judged where they do not
 * vouch for the store, or for the node that was late.
 */
function restsOnTime(
  property: Property | readonly Property[],
  broken: () => Builder,
  from: number,
  until: number,
  node = 'n1',
): void {
  wrong(property, vouched(broken()))
  const { violations } = judge(vouched(broken()).build())
  assert.deepEqual(
    violations.map(({ basis }): Basis => basis),
    violations.map((): Basis => 'time'),
  )
  clean(vouched(broken(), { node, at: from, until }))
  clean(vouched(broken(), { node: null, at: from, until }))
  clean(broken().read(END))
}

const MISSED = {
  outcome: 'missed',
  reason: 'late',
  endedAt: EPOCH + T + 11_000,
  plannedAt: EPOCH + T + 11_000,
} as const

test('C1: a fire is not missed while witnesses vouch that a node had time for it', () => {
  const missed = () => {
    const history = real([4], { misfire: { ...SPEC.misfire, late: 'skip' } })
    history.record(T, MISSED)
    return history
  }
  restsOnTime('C1', missed, T + 1_000, T + 2_000)
})

test('C4: a node that was asked to stop, and had its turn, starts nothing more', () => {
  const stopped = () => {
    const history = real([4]).node('n1', T - 1_000, 'stopping')
    for (const minute of without(1, 2, 3, 4)) history.runs.delete(`a ${minute * MINUTE + 6}`)
    history.entries.splice(0, history.entries.length, ...history.entries.filter(({ at }) => at < T))
    for (const minute of without(1, 2, 3, 4)) {
      history.fires.delete(`a ${EPOCH + minute * MINUTE} `)
      history.run(minute * MINUTE, [minute * MINUTE + 5, minute * MINUTE + 1_005], { node: 'n2' })
    }
    history.run(T, [T + 1_500, T + 1_600])
    return history
  }
  restsOnTime('C4', stopped, T + 500, T + 1_100)
})

test('C6: a fire starts in time while witnesses vouch for the fleet and the store', () => {
  const late = () => {
    const history = real([4])
    history.run(T, [T + 2_500, T + 2_600])
    return history
  }
  restsOnTime('C6', late, T + 1_000, T + 2_000)
})

test('C6: a run is settled soon after its handler has finished', () => {
  const settled = (lateMs: number) => {
    const history = real([4])
    history.run(T, [T + 5, T + 100 + lateMs])
    const finish = history.entries.findIndex((entry) => entry.kind === 'finish' && entry.dueAt === EPOCH + T)
    history.entries[finish] = { ...history.entries[finish]!, at: T + 100 }
    return history
  }
  clean(vouched(settled(2_000)))
  restsOnTime('C6', () => settled(2_001), T + 1_000, T + 2_000)
})

test('C7: a handler that another fire replaces ends after its grace', () => {
  const replaced = () => {
    const history = real([4, 5], { overlap: { kind: 'replace', limit: 1 } })
    history.run(T, [T + 5, U + 14_501])
    history.run(U, [U + 14_501, U + 40_000], { node: 'n2' })
    return history
  }
  restsOnTime('C7', replaced, U + 1_000, U + 2_000)
})

test('C7: a handler that is replaced and finishes in time is not blamed for when it is settled', () => {
  const history = real([4, 5], { overlap: { kind: 'replace', limit: 1 } })
  history.run(T, [T + 5, U + 14_501])
  history.run(U, [U + 14_501, U + 40_000], { node: 'n2' })
  const finish = history.entries.findIndex((entry) => entry.kind === 'finish' && entry.at === U + 14_501)
  history.entries[finish] = { ...history.entries[finish]!, at: U + 1_000 }
  wrong('C6', vouched(history))
})

test('C9: a handler is not called long after its run was revoked', () => {
  const revoked = () => {
    const cancelled = { outcome: 'cancelled', reason: 'cancelled-by-operator' } as const
    const history = real([4])
    history.run(T, [T + 5, T + 100], { ...cancelled, cut: true })
    history.amend(T, { ...cancelled, endedAt: EPOCH + T + 100 })
    history.ask(T + 50, { verb: 'cancel', dueAt: EPOCH + T, nonce: '', token: null })
    const start = history.entries.findIndex((entry) => entry.kind === 'start' && entry.dueAt === EPOCH + T)
    history.entries[start] = { ...history.entries[start]!, at: T + 2_101 }
    return history
  }
  restsOnTime(['C6', 'C9'], revoked, T + 200, T + 1_000)
})

const TIMEOUT = { timeout: { runMs: 10_000, graceMs: 2_000 } } as const

test('C11: a handler does not outlast its timeout and its grace', () => {
  const slow = () => {
    const history = real([4], TIMEOUT)
    history.run(T, [T + 5, T + 5 + 17_001], { outcome: 'failed', reason: 'timeout' })
    return history
  }
  restsOnTime('C11', slow, T + 1_000, T + 2_000)
})

test('C11: a handler that finishes in time is not blamed for when its run is settled', () => {
  const history = real([4], TIMEOUT)
  history.run(T, [T + 5, T + 5 + 17_001])
  const finish = history.entries.findIndex((entry) => entry.kind === 'finish' && entry.dueAt === EPOCH + T)
  history.entries[finish] = { ...history.entries[finish]!, at: T + 9_000 }
  wrong('C6', vouched(history))
})

test('C12: what is ready runs while witnesses vouch for the fleet and the store', () => {
  const waiting = () => {
    const history = real([10])
    history.record(10 * MINUTE)
    return history
  }
  restsOnTime('C12', waiting, 10 * MINUTE + 30_000, 10 * MINUTE + 31_000)
})

test('C2, C10: a node that was starved may lose its lease', () => {
  const lost = () => {
    const history = real([4])
    history.run(T, [T + 5, T + 16_000], { outcome: 'abandoned' })
    history.run(T, [T + 16_005, T + 16_500], { node: 'n2' })
    return history
  }
  wrong('C2', vouched(lost()))
  clean(vouched(lost(), { node: 'n1', at: T + 1_000, until: T + 15_000 }))
  clean(vouched(lost(), { node: null, at: T + 1_000, until: T + 15_000 }))
  wrong('C2', vouched(lost(), { node: 'n2', at: T + 1_000, until: T + 15_000 }))
})

test('C6: where each turn may take long, a start and a settlement may take a dozen of them', () => {
  const late = (startMs: number, endMs: number) => {
    const history = new Builder().witnessed(500).node('n1', 0).node('n2', 0).define(10)
    minutes(without(4), history).run(T, [T + startMs, T + startMs + 100], { endedAt: EPOCH + T + endMs })
    return vouched(history)
  }
  clean(late(6_000, 6_200))
  wrong('C6', late(6_100, 6_200))
  clean(late(100, 6_200))
  wrong('C6', late(100, 6_300))
})

test('a witness that is silent for a moment, or after its node has ended, does not mean starvation', () => {
  const late = (gap?: Gap) => {
    const history = real([4])
    history.run(T, [T + 2_500, T + 2_600])
    return vouched(history, gap)
  }
  wrong('C6', late({ node: 'n1', at: T + 1_000, until: T + 1_160 }))
  clean(late({ node: 'n1', at: T + 1_000, until: T + 1_161 }))
  const ended = minutes(TEN, new Builder().witnessed().node('n1', 0).node('n2', 0).define(10)).node(
    'n2',
    5_000,
    'ended',
  )
  ended.healthy(END, ['n1']).entries.push({ kind: 'healthy', at: 0, until: 5_000, node: 'n2' })
  assert.deepEqual(judge(ended.read(END).build()).counts.faults, {})
})

test('the number of cases that the rules about elapsed time could judge is counted', () => {
  const counted = (history: Builder) => judge(history.build()).counts.timed
  const all = real([], TIMEOUT)
  assert.deepEqual(counted(vouched(all)), { C6: 10, C11: 10, C12: 1 })
  assert.deepEqual(counted(real([], TIMEOUT).read(END)), {})
})

test('C5: while a clock is being set it may show the time from before and from after', () => {
  const stepped = (until: number) => {
    const history = minutes([1, 2, 3])
    history.run(T, [T + 5, T + 105])
    history.step(T - 500, -10_000, until).step(T + 1_000, 10_000)
    return minutes([5, 6, 7, 8, 9, 10], history).read(END)
  }
  clean(stepped(T + 105))
  wrong(['C5', 'C9'], stepped(T - 500))
})

test('C5: the first run of a fire that was run again may have been claimed ahead of the step of the clock', () => {
  const again = (attempts: number) => {
    const history = minutes(
      [1, 2, 3],
      new Builder().node('n1', 0).define(10, { retry: { attempts: 1, crashes: 2, deadlineMs: null } }),
    )
    history.run(T, [T + 5, T + 105], { outcome: 'failed' })
    if (attempts > 1) history.run(T, [T + 10_000, T + 10_100], { attempt: 2 })
    history.step(T - 500, -5_000).step(T + 20_000, 5_000)
    return judge(minutes([5, 6, 7, 8, 9, 10], history).read(END).build()).violations.map(({ property }) => property)
  }
  assert.ok(again(1).includes('C5'))
  assert.ok(!again(2).includes('C5'))
})

test('C14: a dead instance may have claimed while the ledger was being read', () => {
  const claimed = (untilMs: number) => {
    const history = minutes(without(4))
    history.instances.push({ id: 'i-n2', state: 'dead' })
    history.read(T - 20_000)
    history.reads[0] = { ...history.reads[0]!, until: T + untilMs }
    history.run(T, [T + 5, T + 1_005], { node: 'n2' })
    return history.read(END)
  }
  clean(claimed(5))
  wrong('C14', claimed(4))
})
