import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judge } from '../../src/judge.ts'
import { Builder, EPOCH, MINUTE, SPEC } from './builder.ts'
import { clean, END, minutes, TEN, without, wrong } from './verdicts.ts'

test('a schedule that runs at each of its instants is right, and all of that is counted', () => {
  const history = minutes(TEN).read(END)
  clean(history)
  const { counts } = judge(history.build())
  assert.equal(counts.required, 10)
  assert.equal(counts.starts, 10)
  assert.deepEqual(counts.latenessMs, { p50: 5, p99: 5, max: 5 })
  assert.deepEqual(counts.byReason, { completed: 10 })
})

test('C1: an instant that was not run and is on no record', () => wrong('C1', minutes(without(4)).read(END)))

test('C1: the first instant of a schedule, and its last before the read', () => {
  wrong('C1', minutes(without(1)).read(END))
  wrong('C1', minutes(without(10)).read(END))
})

test('C1: an instant that no instance can have run yet is not missed', () => {
  clean(minutes(without(10)).read(10 * MINUTE + 30_000, { nextAt: EPOCH + 10 * MINUTE }))
})

test('C1: an instant of every and of at, and none before the start, from the end on or beyond the limit', () => {
  const every = { trigger: { kind: 'every', everyMs: MINUTE, anchor: 7 } as const }
  const series = (which: readonly number[], options = {}, nextAt: number | null = EPOCH + 3 * MINUTE + 7) => {
    const history = new Builder().node('n1', 0).define(10, { ...every, ...options })
    for (const minute of which) history.run(minute * MINUTE + 7, [minute * MINUTE + 9, minute * MINUTE + 20])
    return history.read(3 * MINUTE, { nextAt })
  }
  clean(series([1, 2]))
  wrong('C1', series([1]))
  clean(series([2], { start: EPOCH + MINUTE + 8 }))
  wrong('C4', series([1, 2], { start: EPOCH + MINUTE + 8 }))
  clean(series([1, 2], { limit: 2 }))
  wrong('C4', series([1, 2], { limit: 1 }))
  wrong('C4', series([1, 2], { end: EPOCH + 2 * MINUTE + 7 }, null))
  const once = { trigger: { kind: 'at', at: EPOCH + 90_000 } as const }
  const at = () => new Builder().node('n1', 0).define(10, once)
  wrong('C1', at().read(5 * MINUTE, { nextAt: null }))
  const run = at()
  run.run(90_000, [90_010, 90_020])
  clean(run.read(5 * MINUTE, { nextAt: null }))
})

test('C4: what a schedule for a single instant had does not count towards the limit of the next one of its name', () => {
  const again = (options: { readonly trigger?: typeof SPEC.trigger }) => {
    const history = new Builder().node('n1', 0).define(10, options).define(90_000, { limit: 1 })
    for (const minute of [1, 2]) history.run(minute * MINUTE, [minute * MINUTE + 5, minute * MINUTE + 10])
    return history.read(5 * MINUTE, { nextAt: null })
  }
  clean(again({ trigger: { kind: 'at', at: EPOCH + MINUTE } }))
  wrong('C4', again({}))
})

const LATE = {
  outcome: 'missed',
  reason: 'superseded',
  plannedAt: EPOCH + 5 * MINUTE,
  endedAt: EPOCH + 5 * MINUTE,
} as const

test('C1: missed while nothing was wrong', () => {
  const history = minutes(without(4))
  history.record(4 * MINUTE, LATE)
  wrong('C1', history.read(END))
})

test('C1: an instant in an outage, or without an instance that could run it, is not missed', () => {
  const outage = minutes(without(4)).fault('store-down', 4 * MINUTE + 1, 5 * MINUTE - 10)
  outage.record(4 * MINUTE, LATE)
  clean(outage.read(END))
  const alone = minutes([1, 2, 3], new Builder().node('n1', 0).node('n2', 0, 'ready', ['other']).define(10))
  alone.node('n1', 3 * MINUTE + 10_000, 'stopping').node('n1', 3 * MINUTE + 11_000, 'ended')
  alone.node('n3', 5 * MINUTE - 50).record(4 * MINUTE, LATE)
  alone.run(5 * MINUTE, [5 * MINUTE + 5, 5 * MINUTE + 10], { node: 'n3' })
  clean(alone.read(6 * MINUTE - 1))
})

test('C1: what was asked for without an answer may or may not have happened', () => {
  const paused = minutes(without(4)).ask(
    3.5 * MINUTE,
    { verb: 'pause', until: null, missed: 'skip' },
    { result: 'info', endedAt: null },
  )
  paused.record(4 * MINUTE, { outcome: 'skipped', reason: 'paused', endedAt: EPOCH + 4.5 * MINUTE })
  clean(paused.read(END))
  const removed = minutes([1, 2, 3]).ask(3.5 * MINUTE, { verb: 'remove' }, { result: 'info', endedAt: null })
  clean(removed.read(END, { nextAt: EPOCH + 4 * MINUTE }))
  const refused = minutes(without(4)).ask(3.5 * MINUTE, { verb: 'remove' }, { result: 'fail' })
  wrong('C1', refused.read(END))
})

test('C4: an instant that the schedule does not have', () => {
  const history = minutes(TEN)
  history.run(4 * MINUTE + 30_000, [4 * MINUTE + 30_005, 4 * MINUTE + 30_010])
  wrong('C4', history.read(END))
})

test('C4: nothing after a removal that was acknowledged, or before the definition', () => {
  const removed = minutes([1, 2, 3]).ask(3.5 * MINUTE, { verb: 'remove' })
  removed.schedules.clear()
  clean(removed.read(END))
  const early = minutes([4, 5], new Builder().node('n1', 0).define(4 * MINUTE + 10))
  wrong('C4', early.read(6 * MINUTE - 1))
})

test('C4: what was skipped, by an operator or in a pause, does not run', () => {
  const skipped = (which: readonly number[]) => {
    const history = minutes(which).ask(3.5 * MINUTE, { verb: 'skip-next', dueAt: EPOCH + 4 * MINUTE })
    const record = { outcome: 'skipped', reason: 'skipped-by-operator', endedAt: EPOCH + 3.5 * MINUTE } as const
    if (!which.includes(4)) history.record(4 * MINUTE, { ...record, plannedAt: EPOCH + 3.5 * MINUTE })
    return history.read(END)
  }
  clean(skipped(without(4)))
  wrong('C4', skipped(TEN))
  const late = minutes(without(4)).ask(3.5 * MINUTE, { verb: 'pause', until: null, missed: 'skip' })
  late.ask(4.5 * MINUTE, { verb: 'resume', missed: 'skip' })
  late.record(4 * MINUTE, { plannedAt: EPOCH + 4.5 * MINUTE })
  late.run(4 * MINUTE, [4.5 * MINUTE + 10, 4.5 * MINUTE + 20])
  wrong('C4', late.read(END))
})

test('C4: what was claimed ahead of a pause that skips runs, and what was claimed in it does not', () => {
  const claimed = (plannedAt: number) => {
    const history = minutes(without(4)).ask(4 * MINUTE - 100, { verb: 'pause', until: null, missed: 'skip' })
    history.ask(4.5 * MINUTE, { verb: 'resume', missed: 'skip' })
    history.record(4 * MINUTE, { plannedAt: EPOCH + plannedAt })
    history.run(4 * MINUTE, [4 * MINUTE, 4 * MINUTE + 20])
    return history.read(END)
  }
  clean(claimed(4 * MINUTE - 150))
  wrong(['C4', 'C13'], claimed(4 * MINUTE - 50))
  wrong(['C4', 'C13'], claimed(4 * MINUTE))
  const skipped = minutes(without(4)).ask(4 * MINUTE - 100, { verb: 'skip-next', dueAt: EPOCH + 4 * MINUTE })
  skipped.record(4 * MINUTE, { plannedAt: EPOCH + 4 * MINUTE - 150 })
  skipped.run(4 * MINUTE, [4 * MINUTE, 4 * MINUTE + 20])
  wrong('C4', skipped.read(END))
})

test('C4: a manual fire needs a request', () => {
  const byHand = (nonce: string, asked: string | null, at: number) => {
    const history = minutes(TEN).ask(90_000, { verb: 'trigger', nonce: asked }, { endedAt: 90_020 })
    history.record(at, { nonce, origin: 'manual' })
    history.run(at, [at + 5, at + 10], { nonce })
    return history.read(END)
  }
  clean(byHand('key', 'key', 90_010))
  clean(byHand('x7', null, 90_010))
  wrong(['C1', 'C4'], byHand('x7', 'key', 90_010))
  wrong(['C1', 'C4'], byHand('x7', null, 95_010))
})

test('C1: a manual fire that was acknowledged is on record', () => {
  const asked = (result: 'ok' | 'info', nonce: string | null) =>
    minutes(TEN)
      .ask(90_000, { verb: 'trigger', nonce }, { result, endedAt: result === 'ok' ? 90_020 : null })
      .read(END)
  clean(asked('info', 'key'))
  wrong('C1', asked('ok', 'key'))
  wrong('C1', asked('ok', null))
})

test('C4: each of two manual fires has its own request, whichever was answered first', () => {
  const history = minutes(TEN)
  history.ask(90_000, { verb: 'trigger', nonce: null }, { endedAt: 90_100 })
  history.ask(90_001, { verb: 'trigger', nonce: null }, { endedAt: 90_010 })
  for (const [at, nonce] of [
    [90_005, 'x1'],
    [90_050, 'x2'],
  ] as const) {
    history.record(at, { nonce, origin: 'manual' })
    history.run(at, [at + 1, at + 2], { nonce })
  }
  clean(history.read(END))
})

test('C4: an instance that was asked to stop starts nothing more, unless the request did not reach it', () => {
  const stopping = (askedMs: number, fault = false) => {
    const history = minutes(without(9, 10), new Builder().node('n1', 0).node('n2', 0).define(10))
    if (fault) history.fault('pause', 9 * MINUTE + askedMs, 9 * MINUTE, 'n2')
    history.node('n2', 9 * MINUTE + askedMs, 'stopping')
    history.run(9 * MINUTE, [9 * MINUTE + 5, 9 * MINUTE + 10], { node: 'n2' })
    history.run(10 * MINUTE, [10 * MINUTE + 5, 10 * MINUTE + 10])
    return history.read(END)
  }
  clean(stopping(5 - 2_000))
  wrong('C4', stopping(4 - 2_000))
  clean(stopping(4 - 2_000, true))
})

test('C5: a start before its instant, by the harness and by the ledger', () => {
  const early = (startMs: number) => {
    const history = minutes(without(4))
    history.run(4 * MINUTE, [4 * MINUTE + startMs, 4 * MINUTE + 1_000])
    return history.read(END)
  }
  clean(early(0))
  wrong('C5', early(-1))
  const claimed = minutes(without(4))
  claimed.run(4 * MINUTE, [4 * MINUTE + 5, 4 * MINUTE + 10], { startedAt: EPOCH + 4 * MINUTE - 1 })
  wrong('C5', claimed.read(END))
})

test('C5: a claim before the fire is ready', () => {
  const history = minutes(without(4), new Builder().node('n1', 0).define(10, { jitterMs: 2_000 }))
  history.record(4 * MINUTE, { readyAt: EPOCH + 4 * MINUTE + 900 })
  history.run(4 * MINUTE, [4 * MINUTE + 899, 4 * MINUTE + 1_000])
  wrong('C5', history.read(END))
})

test('C5: by the store, whose clock was set ahead, it is time', () => {
  const history = minutes([1, 2, 3]).step(3.5 * MINUTE, 20_000)
  history.run(4 * MINUTE, [4 * MINUTE - 19_000, 4 * MINUTE - 18_000])
  clean(history.read(4 * MINUTE + 30_000, { nextAt: EPOCH + 5 * MINUTE }))
})

test('C5: a start after the clock was set back to before its instant, and the process had a second to hear of that', () => {
  const back = (startMs: number) => {
    const history = minutes([1, 2, 3])
    // Claimed when it was due, and started later.
    history.run(4 * MINUTE, [4 * MINUTE + startMs, null], { startedAt: EPOCH + 4 * MINUTE })
    return history.step(4 * MINUTE + 1_000, -30_000).read(4 * MINUTE + 40_000, { nextAt: EPOCH + 5 * MINUTE })
  }
  clean(back(1_900))
  wrong('C5', back(2_100))
  clean(back(31_000))
})

test('C6: a start that comes too late while nothing is wrong', () => {
  const late = (startMs: number) => {
    const history = minutes(without(4))
    history.run(4 * MINUTE, [4 * MINUTE + startMs, 4 * MINUTE + startMs + 50])
    return history
  }
  clean(late(2_000).read(END))
  wrong('C6', late(2_001).read(END))
  const open = (startMs: number) => {
    const history = minutes(without(10))
    history.run(10 * MINUTE, [10 * MINUTE + startMs, null])
    return history.read(END)
  }
  clean(open(2_000))
  wrong('C6', open(2_001))
  clean(
    late(8_000)
      .fault('slow', 3 * MINUTE + 50_000, 4 * MINUTE + 100, 'n1')
      .read(END),
  )
})

test('C6: ready outside of its jitter', () => {
  const jittered = (readyMs: number) => {
    const history = minutes(without(4), new Builder().node('n1', 0).define(10, { jitterMs: 2_000 }))
    history.record(4 * MINUTE, { readyAt: EPOCH + 4 * MINUTE + readyMs })
    history.run(4 * MINUTE, [4 * MINUTE + readyMs, 4 * MINUTE + readyMs + 50])
    return history.read(END)
  }
  clean(jittered(2_000))
  wrong('C6', jittered(2_001))
})

test('C6: ready after the next instant is due', () => {
  const jittered = (readyMs: number) => {
    const history = minutes(without(4), new Builder().node('n1', 0).define(10, { jitterMs: 2 * MINUTE }))
    history.record(4 * MINUTE, { readyAt: EPOCH + 4 * MINUTE + readyMs })
    history.run(4 * MINUTE, [4 * MINUTE + readyMs, 4 * MINUTE + readyMs + 1])
    return history.read(END)
  }
  clean(jittered(MINUTE - 1))
  wrong('C6', jittered(MINUTE))
})

test('instants of a definition that was replaced are those before it, and of the new one those after it', () => {
  const half = { trigger: { ...SPEC.trigger, expression: '30 * * * * *' } as typeof SPEC.trigger }
  const changed = (at: readonly number[]) => {
    const history = new Builder()
      .node('n1', 0)
      .define(10)
      .define(3.2 * MINUTE, half)
    for (const time of at) history.run(time, [time + 5, time + 10])
    return history.read(5 * MINUTE + 10_000, { nextAt: EPOCH + 5.5 * MINUTE })
  }
  const right = [MINUTE, 2 * MINUTE, 3 * MINUTE, 3.5 * MINUTE, 4.5 * MINUTE]
  clean(changed(right))
  wrong('C4', changed([...right, 4 * MINUTE]))
  wrong('C4', changed([2.5 * MINUTE, ...right]))
  wrong('C1', changed(right.slice(0, 4).concat()))
})
