import { test } from 'node:test'
import { Builder, EPOCH, MINUTE } from './builder.ts'
import { clean, END, minutes, TEN, without, wrong } from './verdicts.ts'

const T = 4 * MINUTE
const BEFORE_END = 10 * MINUTE

function twoNodes(): Builder {
  return new Builder()
    .node('n1', 0)
    .node('n2', 0)
    .define(10, { overlap: { kind: 'allow', limit: 9 } })
}

test('C12: a run that is open is on a node that is there', () => {
  const open = (gone: (history: Builder) => void) => {
    const history = minutes(without(9), twoNodes())
    history.run(9 * MINUTE, [9 * MINUTE + 5, null], { node: 'n2' })
    gone(history)
    return history.read(END)
  }
  clean(open(() => {}))
  wrong(
    'C12',
    open((history) => history.instances.push({ id: 'i-n2', state: 'dead' })),
  )
  wrong(
    'C12',
    open((history) => history.node('n2', 9 * MINUTE + 10, 'stopping').node('n2', 9 * MINUTE + 20, 'ended')),
  )
  clean(
    open((history) =>
      history.node('n2', BEFORE_END + 30_000, 'ended').fault('kill', BEFORE_END + 30_000, undefined, 'n2'),
    ),
  )
})

test('C12: a run that is open was started, and has not ended long ago', () => {
  const silent = minutes(without(9), twoNodes())
  silent.run(9 * MINUTE, [9 * MINUTE + 5, null], { silent: true })
  wrong('C12', silent.read(END))
  const settled = minutes(without(9), twoNodes())
  const { token } = settled.run(9 * MINUTE, [9 * MINUTE + 5, null])
  const run = { schedule: 'a', dueAt: EPOCH + 9 * MINUTE, nonce: '', attempt: 1, token, node: 'n1' }
  settled.entries.push({ kind: 'finish', at: 9 * MINUTE + 50, how: 'returned', ...run })
  wrong('C12', settled.read(END))
})

test('C12: a run that is open has not been given up long ago', () => {
  const open = (runMs: number) => {
    const timeout = { runMs, graceMs: 0 }
    const history = new Builder().node('n1', 0).define(10, { timeout, overlap: { kind: 'allow', limit: 9 } })
    minutes(without(8), history).run(8 * MINUTE, [8 * MINUTE + 5, null])
    return history.read(END)
  }
  clean(open(2 * MINUTE))
  wrong('C12', open(MINUTE))
})

test('C12: a fire that is ready and has nothing in its way runs', () => {
  const waiting = (dueMinute: number) => {
    const history = minutes(without(dueMinute))
    history.record(dueMinute * MINUTE)
    return history
  }
  wrong('C12', waiting(9).read(10 * MINUTE - 100))
  clean(waiting(9).read(9 * MINUTE + 39_000))
  clean(
    waiting(9)
      .fault('store-down', 9 * MINUTE + 20_000, 9 * MINUTE + 50_000)
      .read(10 * MINUTE - 100),
  )
})

test('C12: the next instant is the next one', () => {
  clean(minutes(TEN).read(END))
  wrong('C12', minutes(TEN).read(END, { nextAt: EPOCH + 12 * MINUTE }))
  wrong('C12', minutes(TEN).read(END, { nextAt: EPOCH + 11 * MINUTE + 1 }))
  wrong('C12', minutes([1, 2, 3, 4, 5]).read(END, { nextAt: EPOCH + 6 * MINUTE }))
  wrong('C12', minutes(TEN).read(END, { nextAt: null }))
  const gone = minutes(TEN)
  gone.schedules.clear()
  wrong('C12', gone.read(END))
})

test('C12: a schedule with a limit, one for a single instant and one whose clock was set back go on as well', () => {
  const limited = (which: readonly number[], nextAt: number) =>
    minutes(which, new Builder().node('n1', 0).define(10, { limit: 50 })).read(END, { nextAt })
  clean(limited(TEN, EPOCH + 11 * MINUTE))
  wrong('C12', limited([1, 2, 3], EPOCH + T))
  const once = { trigger: { kind: 'at', at: EPOCH + 90_000 } } as const
  wrong(
    'C12',
    new Builder()
      .node('n1', 0)
      .define(10, once)
      .read(5 * MINUTE, { nextAt: EPOCH + 90_000 }),
  )
  const stepped = minutes([1, 2, 3]).step(T - 30_000, -MINUTE)
  wrong('C12', stepped.read(12 * MINUTE, { nextAt: EPOCH + T }))
})

const PAUSE = { verb: 'pause', until: null, missed: 'skip' } as const

test('C13: nothing is claimed after a pause was acknowledged', () => {
  const paused = (pauseMs: number, result: 'ok' | 'info') => {
    const history = minutes([1, 2, 3])
    history.ask(T + pauseMs, PAUSE, { result, endedAt: result === 'ok' ? T + pauseMs + 10 : null })
    history.run(T, [T + 100, T + 200])
    return history.read(END, { nextAt: EPOCH + 5 * MINUTE, isPaused: true })
  }
  clean(paused(90, 'ok'))
  wrong('C13', paused(89, 'ok'))
  clean(paused(1, 'info'))
})

test('C13: by hand it runs also while it is paused, and after the end of the pause anyhow', () => {
  const byHand = minutes([1, 2, 3])
    .ask(T - 10_000, PAUSE)
    .ask(T + 10, { verb: 'trigger', nonce: 'key' })
  byHand.record(T + 10, { nonce: 'key', origin: 'manual' })
  byHand.run(T + 10, [T + 20, T + 30], { nonce: 'key' })
  clean(byHand.read(END, { nextAt: EPOCH + T, isPaused: true }))
  const until = minutes(TEN).ask(T - 10_000, { ...PAUSE, until: EPOCH + T })
  clean(until.read(END))
})

test('C13, C4: a schedule for one instant goes by itself, and its pause with it', () => {
  const madeAgain = (options: Parameters<Builder['define']>[1]) => {
    const made = new Builder().node('n1', 0).define(10, options).ask(20, PAUSE)
    made.ask(30, { verb: 'skip-next', dueAt: EPOCH + 20 * MINUTE }, { result: 'info', endedAt: null }).define(40)
    return minutes(TEN, made).read(END)
  }
  clean(madeAgain({ trigger: { kind: 'at', at: EPOCH + 20 * MINUTE } }))
  wrong(['C4', 'C9', 'C13'], madeAgain({}))
})

test('C13: during a pause, only a skip or a change of the rule plans fires', () => {
  const planned = (reason: string, ask: (history: Builder) => void) => {
    const history = minutes([1, 2, 3]).ask(T - 10_000, PAUSE)
    ask(history)
    history.record(T, { plannedAt: EPOCH + T + 10, endedAt: EPOCH + T + 10, outcome: 'skipped', reason })
    return history.read(END, { nextAt: EPOCH + 5 * MINUTE, isPaused: true })
  }
  wrong(
    'C13',
    planned('paused', () => {}),
  )
  clean(planned('paused', (history) => history.define(T + 10)))
  const skip = { verb: 'skip-next', dueAt: EPOCH + T } as const
  clean(planned('skipped-by-operator', (history) => history.ask(T + 10, skip)))
})

test('C13, C4: a fire that was claimed ahead of a pause and put back runs after it, if something was done to its node', () => {
  const putBack = (claimAheadMs: number, pauseAt: number, missed: 'skip' | 'latest') => {
    const made = new Builder().node('n1', 0).node('n2', 0).define(10)
    made.bounds = { ...made.bounds, claimAheadMs }
    const history = minutes([1, 2, 3, 5, 6, 7, 8, 9, 10], made)
    history.ask(pauseAt, { verb: 'pause', until: EPOCH + T + 20_000, missed }).fault('stop', T - 100, T + 50, 'n2')
    history.run(T, [T + 20_010, T + 20_020])
    return history.read(END)
  }
  clean(putBack(300, T - 200, 'latest'))
  clean(putBack(300, T - 200, 'skip'))
  wrong('C13', putBack(300, T - 400, 'latest'))
  wrong(['C4', 'C13'], putBack(300, T - 400, 'skip'))
  wrong('C13', putBack(0, T - 200, 'latest'))
})

test('C4: a fire that was claimed ahead of a new definition and put back runs, if something was done to its node', () => {
  const twoMinutes = { trigger: { kind: 'every', everyMs: 2 * MINUTE, anchor: EPOCH + MINUTE } } as const
  const putBack = (claimAheadMs: number, changeAt: number, disturb: (history: Builder) => void) => {
    const made = new Builder().node('n1', 0).node('n2', 0).define(10)
    made.bounds = { ...made.bounds, claimAheadMs }
    const history = minutes([1, 2, 3, 5, 7, 9], made).define(changeAt, twoMinutes)
    disturb(history)
    history.run(T, [T + 5, T + 10])
    return history.read(END)
  }
  const pause = (history: Builder) => void history.fault('stop', T - 100, T + 50, 'n2')
  const stop = (history: Builder) => void history.node('n2', T - 50, 'stopping').node('n2', T - 20, 'ended')
  clean(putBack(300, T - 200, pause))
  clean(putBack(300, T - 200, stop))
  wrong('C4', putBack(300, T - 400, pause))
  wrong(
    'C4',
    putBack(300, T - 200, () => {}),
  )
  wrong('C4', putBack(0, T - 200, stop))
})

test('C4: a fire that was claimed ahead of a new definition runs again after a crash', () => {
  const twoMinutes = { trigger: { kind: 'every', everyMs: 2 * MINUTE, anchor: EPOCH + MINUTE } } as const
  const again = (plannedAt: number) => {
    const history = minutes([1, 2, 3, 5, 7, 9])
      .define(T - 200, twoMinutes)
      .node('n2', 0)
    history.record(T, { plannedAt: EPOCH + plannedAt })
    history.run(T, [T + 5, T + 500], { node: 'n2', outcome: 'abandoned', cut: true })
    history.node('n2', T + 500, 'ended')
    history.run(T, [T + 600, T + 700])
    return history.read(END)
  }
  clean(again(T - 250))
  wrong('C4', again(T))
})

test('C13: nothing is claimed after a removal or a retirement was acknowledged', () => {
  const over = (verb: 'remove' | 'retire', at: number) => {
    const history = minutes([1, 2, 3, 4]).ask(at, { verb })
    history.schedules.clear()
    return history.read(END)
  }
  clean(over('remove', T + 5))
  wrong('C13', over('remove', T + 4))
  wrong('C13', over('retire', T + 4))
})

test('C14: the mark does not go back, unless the rule is changed', () => {
  const read = () => minutes(TEN).read(5 * MINUTE + 100, { nextAt: EPOCH + 20 * MINUTE })
  wrong('C14', read().read(END))
  clean(
    read()
      .define(6 * MINUTE)
      .read(END),
  )
})

test('C14: what has ended stays as it has ended', () => {
  const changed = (change: (history: Builder) => void) => {
    const history = minutes(TEN).read(9 * MINUTE)
    change(history)
    return history.read(END)
  }
  clean(changed(() => {}))
  const ended = EPOCH + T + 1_004
  wrong(
    'C14',
    changed((history) => history.amend(T, { endedAt: ended })),
  )
  const run = (history: Builder) => history.runs.get(`a ${T + 6}`)!
  wrong(
    'C14',
    changed((history) => history.runs.set(`a ${T + 6}`, { ...run(history), instance: 'other' })),
  )
})

test('C14: later claims have higher tokens', () => {
  const history = minutes(without(4))
  history.run(T, [T + 5, T + 50], { token: String(3 * MINUTE) })
  wrong('C14', history.read(END))
  const stepped = minutes([1, 2, 3]).step(T - 30_000, -MINUTE)
  stepped.run(T, [5 * MINUTE + 5, 5 * MINUTE + 50])
  clean(stepped.read(5 * MINUTE + 30_000, { nextAt: EPOCH + 5 * MINUTE }))
})

test('C14: an instance that has ended stays ended, and claims nothing', () => {
  const over = (states: readonly ('live' | 'left' | 'dead')[]) => {
    const history = minutes([1, 2, 3, 4])
    for (const [index, state] of states.entries()) {
      history.instances.splice(0, 1, { id: index === 0 ? 'i-n1' : 'i-other', state })
      if (index === 1) history.instances.push({ id: 'i-n1', state })
      history.read(T + 30_000 + index)
    }
    minutes([5, 6, 7, 8, 9, 10], history)
    return history
  }
  clean(over(['live', 'live']).read(END))
  wrong('C14', over(['dead', 'live']).read(END))
  wrong('C14', over(['dead', 'dead']).read(END))
  wrong('C14', over(['left']).read(END))
})

test('C14: runs that an instance had before it ended are not violations', () => {
  const history = minutes([1, 2, 3, 4, 5, 6, 7, 8, 9], new Builder().node('n1', 0).node('n2', 0).define(10))
  history.instances.push({ id: 'i-n1', state: 'left' })
  history.read(9 * MINUTE + 5_000)
  history.run(10 * MINUTE, [10 * MINUTE + 5, 10 * MINUTE + 10], { node: 'n2' })
  clean(history.read(END))
})
