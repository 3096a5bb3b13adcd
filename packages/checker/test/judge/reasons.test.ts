import { test } from 'node:test'
import type { LedgerFire, Spec } from '../../src/history.ts'
import { Builder, EPOCH, MINUTE, SPEC } from './builder.ts'
import { clean, END, minutes, without, wrong } from './verdicts.ts'

type Options = { [Name in keyof Spec]?: Spec[Name] }

const T = 4 * MINUTE
const U = 5 * MINUTE

/** Two nodes, and all of ten minutes but these. */
function but(missing: readonly number[], options: Options = {}): Builder {
  return minutes(without(...missing), new Builder().node('n1', 0).node('n2', 0).define(10, options))
}

/** Nine minutes as they should be, and the fourth on record like this. */
function recorded(record: Partial<LedgerFire>, options: Options = {}): Builder {
  const history = minutes(without(4), new Builder().node('n1', 0).define(10, options))
  history.record(T, { plannedAt: EPOCH + T + 5, endedAt: EPOCH + T + 5, ...record })
  return history
}

test('C10: what a calendar excluded while the schedule was retired is recorded when it comes back with another timing', () => {
  const cameBack = (days: string) => {
    const trigger = { kind: 'cron', expression: '* * * * *', tz: 'UTC', dst: 'auto', calendar: { days } } as const
    const made = new Builder().node('n1', 0).define(10, { trigger })
    const back = T + MINUTE / 2
    const history = minutes([5, 6, 7, 8, 9, 10], made.ask(MINUTE / 2, { verb: 'retire' }).define(back))
    for (const minute of [1, 2, 3, 4]) {
      const at = EPOCH + back
      history.record(minute * MINUTE, { plannedAt: at, endedAt: at, outcome: 'skipped', reason: 'calendar' })
    }
    return history.read(END)
  }
  clean(cameBack('2026-03-01'))
  wrong('C10', cameBack('2026-03-02'))
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
  const outage = (record: Partial<LedgerFire>, options: Options = SKIP_LATE) =>
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

test('C10: a turn ends the lateness of a waiting fire only if it was claimed before the decision', () => {
  const third = 3 * MINUTE
  const back = 7.5 * MINUTE
  // The fourth minute waits behind the third. At `back` four fires are late, and the limit is three.
  const tooLate = (thirdEndsAt: number) => {
    const misfire = { ...SPEC.misfire, late: 'all', limit: 3 } as const
    const history = minutes(without(3, 4, 5, 6, 7), new Builder().node('n1', 0).define(10, { misfire }))
    history.fault('store-down', T, back - 10).run(third, [third + 5, thirdEndsAt])
    history.record(T, { plannedAt: EPOCH + T + 11_000, outcome: 'missed', reason: 'too-late', endedAt: EPOCH + back })
    for (const minute of [5, 6, 7]) history.record(minute * MINUTE, { plannedAt: EPOCH + back })
    history.run(6 * MINUTE, [back + 100, back + 150])
    history.run(7 * MINUTE, [back + 200, back + 250])
    return history
  }
  // The decision also claims the fifth minute, which ends within the same millisecond.
  const claimFifth = (history: Builder, from = back) => {
    history.run(U, [from, from])
    return history.read(END)
  }
  clean(claimFifth(tooLate(T + 12_000)))
  wrong('C10', claimFifth(tooLate(back)))
  wrong('C10', claimFifth(tooLate(back - 10_000)))
  // The decision claims another round of the third minute.
  const retried = tooLate(T + 12_000).ask(back - 5, { verb: 'retry', dueAt: EPOCH + third, nonce: '', force: true })
  retried.amend(third, { round: 2 }).run(third, [back, back])
  clean(claimFifth(retried, back + 10))
})

test('C10: late fires of a new definition count for the limit of a fire that waits from before', () => {
  const back = 8 * MINUTE
  interface Situation {
    readonly limit: number
    /** When the older fire ended. */
    readonly endedAt: number
    readonly newer: Partial<LedgerFire>
    readonly claimedAt: number
  }
  // The fire of the fourth minute waits. The next definition has its only fire in the sixth.
  const tooLate = (given: Partial<Situation>) => {
    const { limit = 1, endedAt = back, newer = {}, claimedAt = back + 100 } = given
    const one = (minute: number, most: number): Options => {
      const misfire = { ...SPEC.misfire, late: 'all', limit: most } as const
      const overlap = { kind: 'allow', limit: 2 } as const
      return { trigger: { kind: 'at', at: EPOCH + minute * MINUTE }, overlap, misfire }
    }
    const history = new Builder().node('n1', 0).define(10, one(4, limit)).define(U, one(6, 10))
    history.fault('store-down', T, 2 * back)
    history.record(T, { outcome: 'missed', reason: 'too-late', endedAt: EPOCH + endedAt })
    history.record(6 * MINUTE, { plannedAt: EPOCH + back, ...newer })
    history.run(6 * MINUTE, [claimedAt, back + 200])
    return history.read(END, { nextAt: null })
  }
  clean(tooLate({}))
  wrong('C10', tooLate({ limit: 2 }))
  // The newer fire was not planned yet, was not late yet, or was active.
  wrong('C10', tooLate({ endedAt: back - 1 }))
  const onTime = 6 * MINUTE + 10_000
  clean(tooLate({ endedAt: onTime + 1, newer: { plannedAt: EPOCH + onTime + 1 } }))
  wrong('C10', tooLate({ endedAt: onTime, newer: { plannedAt: EPOCH + onTime } }))
  clean(tooLate({ claimedAt: back }))
  wrong('C10', tooLate({ claimedAt: back - 1, newer: { plannedAt: EPOCH + back - 1 } }))
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

test('C10: fires that a pause held back are dropped if its end decides so', () => {
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

/** The fire of the fourth minute was run like this, and given up for this reason. */
function givenUp(reason: string, crashes: number, options: Options, endMs = 18_000, isHit = true): Builder {
  const history = but([4], { overlap: { kind: 'queue-all', limit: 99 }, ...options })
  if (isHit) history.fault('pause', T, T + 20_000, 'n1')
  for (let crash = 0; crash < crashes; crash++) {
    history.run(T, [T + 5 + crash * 100, T + 50 + crash * 100], { outcome: 'abandoned' })
  }
  return history.amend(T, { outcome: 'abandoned', reason, endedAt: EPOCH + T + endMs }).read(END)
}

test('C10: a budget of crashes is used up by one more than it has', () => {
  clean(givenUp('crash-budget', 3, {}))
  wrong('C10', givenUp('crash-budget', 2, {}))
})

test('C10: too late to be run again needs a deadline that is over, and a crash that was one', () => {
  const retry = { ...SPEC.retry, deadlineMs: 17_999 }
  clean(givenUp('recovery-too-late', 1, { retry }))
  wrong('C10', givenUp('recovery-too-late', 1, { retry }, 17_999))
  wrong('C10', givenUp('recovery-too-late', 1, { retry }, 18_000, false))
})

test('C10: the reason stopped needs a stop of its node', () => {
  const once = { guarantee: 'at-most-once' } as const
  clean(givenUp('stopped', 1, once))
  wrong('C10', givenUp('stopped', 1, once, 18_000, false))
  wrong('C10', givenUp('stopped', 1, {}))
})

test('C10: too late for a retry needs a failure', () => {
  const failed = (outcome: 'failed' | 'abandoned') => {
    const history = but([4]).fault('pause', T, T + 1_000, 'n1')
    history.run(T, [T + 5, T + 50], { outcome })
    return history.amend(T, { outcome: 'failed', reason: 'retry-too-late', endedAt: EPOCH + T + 60 }).read(END)
  }
  clean(failed('failed'))
  wrong('C10', failed('abandoned'))
})

test('C10: replaced needs another fire', () => {
  const replaced = (endMs: number) => {
    const history = but([4], { overlap: { kind: 'replace', limit: 1 } })
    const end = { outcome: 'cancelled', reason: 'replaced' } as const
    history.run(T, [T + 5, T + endMs], end)
    return history.amend(T, { ...end, endedAt: EPOCH + T + endMs }).read(END)
  }
  clean(replaced(MINUTE))
  wrong('C10', replaced(MINUTE - 1))
})

test('C10: a fire that a pause held back is released when the schedule is removed', () => {
  const gone = (verb: 'remove' | 'resume') => {
    const history = minutes([1, 2, 3])
    history.ask(3.5 * MINUTE, { verb: 'pause', until: null, missed: 'all' })
    history.ask(4.5 * MINUTE, verb === 'resume' ? { verb, missed: 'all' } : { verb })
    const at = { plannedAt: EPOCH + 4.5 * MINUTE, endedAt: EPOCH + 4.5 * MINUTE }
    history.record(T, { outcome: 'skipped', reason: 'paused', ...at })
    if (verb === 'remove') history.schedules.clear()
    return history.read(U - 1)
  }
  clean(gone('remove'))
  wrong('C10', gone('resume'))
})
