import assert from 'node:assert/strict'
import fc from 'fast-check'
import { oracleExcluded } from '../../../checker/src/oracle/ask-oracle.ts'
import { DEFAULT_POLICY, type PolicyChoices } from '../../src/model/policy.ts'
import type { FireRecord } from '../../src/model/record.ts'
import type { Definition, Instant, ScheduleState } from '../../src/model/schedule.ts'
import type { Context, Decision, Refusal, Stale, StartedRun } from '../../src/policy/decision.ts'
import { retire } from '../../src/policy/deploy/retire.ts'
import { recover } from '../../src/policy/end/recover.ts'
import { cancelFire, requestCancel } from '../../src/policy/operate/cancel.ts'
import { define } from '../../src/policy/operate/define.ts'
import { pause, resume } from '../../src/policy/operate/pause.ts'
import { retryFire } from '../../src/policy/operate/retry-fire.ts'
import { skipNext } from '../../src/policy/operate/skip-next.ts'
import { triggerNow } from '../../src/policy/operate/trigger-now.ts'
import { advance } from '../../src/policy/plan/advance.ts'
import { previewBackfill, requestBackfill } from '../../src/policy/plan/backfill.ts'
import { seriesOf } from '../../src/policy/plan/series.ts'
import { wakeAtOf } from '../../src/policy/plan/wake.ts'
import { timelineOf } from '../../src/trigger/from-data.ts'
import { seededRandom } from '../oracle/generate-case.ts'
import { CLIENT, DAY, DROPPED, definition, HOUR, Keeper, MINUTE, NOON, OnRecord, SECOND } from './keeper.ts'
import { recordsOf } from './records-of.ts'

const KINDS = [
  ...['advance', 'advance', 'advance', 'plan', 'busy', 'settle', 'settle', 'settle', 'settle', 'recover', 'recover'],
  ...['pause', 'resume', 'resume', 'trigger', 'redefine', 'skipNext', 'cancel', 'cancelFire', 'backfill', 'retryFire'],
  ...['retire', 'settleOld', 'oneByOne', 'oneByOne'],
] as const

export interface Act {
  readonly kind: (typeof KINDS)[number]
  readonly afterMs: number
  /** Three numbers that the command makes of what it needs. */
  readonly picks: readonly [number, number, number]
}

const pick = fc.nat({ max: 1_000_000 })

const policies: fc.Arbitrary<PolicyChoices> = fc
  .record({
    guarantee: fc.constantFrom('at-least-once', 'at-least-once', 'at-most-once', 'exactly-once'),
    overlap: fc.record({
      kind: fc.constantFrom('skip', 'queue', 'queue-all', 'allow', 'replace'),
      limit: fc.integer({ min: 1, max: 3 }),
    }),
    misfire: fc.record({
      graceMs: fc.constantFrom(0, 10 * SECOND, 5 * MINUTE),
      late: fc.constantFrom('skip', 'latest', 'all'),
      limit: fc.constantFrom(1, 3, 40),
      windowMs: fc.constantFrom(30 * SECOND, HOUR, DAY),
    }),
    retry: fc.record({
      attempts: fc.integer({ min: 0, max: 2 }),
      crashes: fc.integer({ min: 0, max: 3 }),
      deadlineMs: fc.constantFrom(null, 3 * SECOND, 5 * MINUTE),
    }),
    jitter: fc.record({ kind: fc.constantFrom('fixed', 'random'), ms: fc.constantFrom(0, 0, 700, 40 * SECOND) }),
    pauseAfter: fc.constantFrom(null, null, 2),
    count: fc.constantFrom(5, 1_000),
  })
  .map(({ retry, count, ...choices }) => ({
    ...choices,
    retry: { ...DEFAULT_POLICY.retry, ...retry },
    retention: { ...DEFAULT_POLICY.retention, count },
  }))

/** In zones in which a day ends soon after the play begins. */
const withCalendars: fc.Arbitrary<Definition['trigger']> = fc
  .record({
    expression: fc.constantFrom('*/3 * * * *', '*/20 * * * *', '0 * * * *', '*/30 * * * * *', '0 0,1 * * WED'),
    tz: fc.constantFrom('+11:30', '+11:57', '+08:00', '-12:00'),
    days: fc.constantFrom('TUE', 'WED', '2027-06-02', '2027-06-01', '2027-05-30/2027-06-02', ''),
    excluded: fc.constantFrom(undefined, 'next-working-day', 'previous-working-day', 'nearest'),
  })
  .map(({ expression, tz, days, excluded }) => {
    return { kind: 'cron', expression, tz, calendar: { days, ...(excluded === undefined ? {} : { excluded }) } }
  })

const triggers: fc.Arbitrary<Definition['trigger']> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(MINUTE, 10 * SECOND, 7 * MINUTE, HOUR).map(every) },
  { weight: 1, arbitrary: fc.constant(every(SECOND)) },
  { weight: 3, arbitrary: fc.constant({ kind: 'cron', expression: '*/3 12-16 * * *', tz: 'Europe/Berlin' } as const) },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 1, max: 90 }).map((n) => ({ kind: 'at', at: NOON + n * MINUTE }) as const),
  },
  { weight: 1, arbitrary: fc.constant(null) },
  { weight: 4, arbitrary: withCalendars },
)

const definitions: fc.Arbitrary<Definition> = fc
  .record({
    trigger: triggers,
    policy: policies,
    input: fc.constantFrom(null, { tenant: 1 }, { tenant: 2 }),
    start: fc.constantFrom(null, null, null, NOON + 20 * MINUTE),
    end: fc.constantFrom(null, null, null, NOON + 5 * HOUR),
    limit: fc.constantFrom(null, null, null, 30),
  })
  .map((parts) => JSON.parse(JSON.stringify(definition(parts))) as Definition)

const acts: fc.Arbitrary<Act> = fc.record({
  kind: fc.constantFrom(...KINDS),
  afterMs: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(0, 1, SECOND) },
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 2 * MINUTE }) },
    { weight: 1, arbitrary: fc.constantFrom(HOUR, 3 * HOUR) },
  ),
  picks: fc.tuple(pick, pick, pick),
})

export const plays = fc.record({
  seed: pick,
  definitions: fc.array(definitions, { minLength: 1, maxLength: 3 }),
  acts: fc.array(acts, { minLength: 5, maxLength: 60 }),
})

function every(everyMs: number) {
  return { kind: 'every', everyMs, anchor: 0 } as const
}

/** Plays commands on one schedule, and keeps account of the instants that must be on record. */
export class Play {
  readonly keeper = new Keeper()
  readonly reached = new Set<string>()
  readonly #definitions: readonly Definition[]
  readonly #expected = new Set<Instant>()
  readonly #tokens: string[] = []
  #nonces = 0
  #term = 1

  constructor(seed: number, given: readonly Definition[]) {
    this.keeper.random = seededRandom(seed)
    this.#definitions = given
    // Every second play is of a schedule in code, which can be retired.
    this.#inCode = seed % 2 === 0
    this.keeper.now = NOON + 1
    this.#do(() => define(null, this.keeper.id, { definition: given[0]!, source: this.#source() }, this.keeper.context))
  }

  readonly #inCode: boolean

  act({ kind, afterMs, picks }: Act): void {
    const { keeper } = this
    if (keeper.state === null) return
    keeper.now += afterMs
    const [a, b, c] = picks
    const running = keeper.it.open.filter(({ run }) => run !== null)
    const token = running[a % Math.max(1, running.length)]?.run?.token
    const on =
      <Answer>(decide: (state: ScheduleState, context: Context) => Answer) =>
      () =>
        decide(keeper.it, keeper.context)
    const commands: Record<Act['kind'], () => void> = {
      advance: () => this.#advanceFully(),
      plan: () => this.#advance(null),
      busy: () => this.#advance({ room: a % 3, idle: false, oneByOne: b % 2 === 0 }),
      oneByOne: () => this.#advance({ room: 1_000, idle: true, oneByOne: true }),
      settle: () => token !== undefined && this.#settle(token, b, c),
      settleOld: () => this.#settleOld(a),
      recover: () => token !== undefined && this.#crash(token, b % 4),
      pause: () => this.#pause(a, b, c),
      resume: () => this.#do(on((state, context) => resume(state, MISSED[a % 3]!, context))),
      trigger: () => this.#trigger(a),
      redefine: () => this.#redefine(a),
      skipNext: () => this.#do(on((state, context) => skipNext(state, state.nextAt ?? NOON, context))),
      cancel: () => token !== undefined && this.#do(on((state, context) => requestCancel(state, token, WISH, context))),
      cancelFire: () => this.#cancelFire(a),
      backfill: () => this.#backfill(a, b, c),
      retryFire: () => this.#retryFire(a, b, c),
      // Seldom: nothing happens to a retired schedule until it is declared again.
      retire: () =>
        a % 3 === 0 &&
        this.#do(on((state, context) => retire(state, { app: 'shop', ...DROPPED, number: this.#term }, context))),
    }
    commands[kind]()
  }

  /** Let everything come to its end: no fire may be stuck. */
  end(): void {
    const { keeper } = this
    for (let round = 0; keeper.state !== null && round < 3_000; round++) {
      if (keeper.it.pause !== null) this.#do(() => resume(keeper.it, 'skip', keeper.context))
      if (keeper.state !== null) this.#advanceFully()
      for (const { run } of keeper.state === null ? [] : keeper.it.open) {
        if (run === null || keeper.state === null) continue
        keeper.settle(run.token, 'completed')
        this.#account()
      }
      if (keeper.state === null || (keeper.it.open.length === 0 && keeper.it.backfills.length === 0)) break
      keeper.now = Math.max(keeper.now, keeper.it.wakeAt ?? keeper.now)
    }
    if (keeper.state !== null) {
      assert.deepEqual([keeper.it.open, keeper.it.backfills], [[], []], 'everything comes to its end')
    }
    this.#account()
    this.#balance()
    if (keeper.plain.claims > 0) this.reached.add('plain claim')
    if (keeper.plain.settlements > 0) this.reached.add('plain settlement')
  }

  #source() {
    return this.#inCode ? ({ kind: 'code', app: 'shop', number: this.#term } as const) : CLIENT
  }

  /** Do as the client does: decide, write, and let the engine go first where something is on record already. */
  #do(decide: () => Decision | Refusal | Stale | null): void {
    try {
      this.keeper.take(decide())
    } catch (error) {
      if (!(error instanceof OnRecord) || error.fire.nonce !== '') throw error
      this.reached.add('on record')
      this.#advanceOver([error.fire])
      if (this.keeper.state !== null) this.keeper.take(decide())
    }
    this.#account()
  }

  #advanceOver(found: readonly FireRecord[]): void {
    const decision = advance(this.keeper.it, this.keeper.context, null, [...this.keeper.existing(), ...found])
    this.keeper.take(decision)
    this.#account()
  }

  #advance(claim: { readonly room: number; readonly idle: boolean; readonly oneByOne: boolean } | null): void {
    this.#see(this.keeper.advance(claim))
    this.#account()
    const { state, now } = this.keeper
    const isLeft = state !== null && state.nextAt !== null && state.nextAt <= now && state.open.length > 0
    if (claim?.oneByOne && isLeft && state.pause === null) this.reached.add('left unplanned')
  }

  /** With room for everything, all that is due now is done in a few steps, and then no wake-up is needed. */
  #advanceFully(): void {
    const { keeper } = this
    for (let step = 0; step < 40; step++) {
      this.#see(keeper.advance({ room: 1_000, idle: true }))
      this.#account()
      if (keeper.state === null) return
      const { wakeAt } = keeper.it
      if (wakeAt === null || wakeAt > keeper.now) {
        assert.equal(keeper.advance({ room: 1_000, idle: false }).length, 0, 'nothing to wake up for, nothing to do')
        return
      }
    }
    assert.fail(`spins: ${JSON.stringify(keeper.state)}`)
  }

  #see(started: readonly StartedRun[]): void {
    if (this.keeper.passedOver > 0) this.reached.add('on record')
    for (const { record, suspect } of started) {
      this.#tokens.push(record.token)
      if (suspect) this.reached.add('suspect')
    }
  }

  #settle(token: string, b: number, c: number): void {
    const { keeper } = this
    if (b % 6 === 5) keeper.settle(token, 'completed', { handBack: c % 2 === 0 ? 'started' : 'not-started' })
    else keeper.settle(token, b % 6 < 3 ? 'completed' : c % 2 === 0 ? 'error' : 'timeout', { retryable: c % 5 > 0 })
    this.#account()
  }

  /** Its instance dies, and perhaps the next ones that run the same fire. */
  #crash(token: string, more: number): void {
    const { keeper } = this
    this.#do(() => recover(keeper.it, token, keeper.context))
    if (more === 0 || keeper.state === null) return
    this.#advanceFully()
    const [next] = keeper.state === null ? [] : keeper.it.open.filter(({ run }) => run !== null)
    if (next?.run) this.#crash(next.run.token, more - 1)
  }

  #settleOld(a: number): void {
    const { keeper } = this
    const current = keeper.it.open.map(({ run }) => run?.token)
    const old = this.#tokens.filter((token) => !current.includes(token))
    if (old.length === 0) return
    assert.equal(keeper.settle(old[a % old.length]!, 'completed'), 'stale', 'an old token writes nothing')
    assert.equal(keeper.recover(old[a % old.length]!), 'stale')
  }

  #pause(a: number, b: number, c: number): void {
    const { keeper } = this
    const until = a % 2 === 0 ? null : keeper.now + (b % (10 * MINUTE))
    const wish = { note: 'why', author: 'ann', until, missed: MISSED[c % 3]! }
    this.#do(() => pause(keeper.it, wish, keeper.context))
  }

  #trigger(a: number): void {
    const { keeper } = this
    const nonce = `by-hand-${++this.#nonces}`
    const wish = { nonce, input: a % 2 === 0 ? undefined : a, overlap: a % 5 === 0 ? 'ignore' : 'honour' } as const
    this.#do(() => triggerNow(keeper.it, wish, keeper.context))
  }

  #redefine(a: number): void {
    const { keeper } = this
    this.#term++
    const wish = { definition: this.#definitions[a % this.#definitions.length]!, source: this.#source() }
    this.#do(() => define(keeper.it, keeper.id, wish, keeper.context))
  }

  #cancelFire(a: number): void {
    const { keeper } = this
    const fire = keeper.it.open[a % Math.max(1, keeper.it.open.length)]
    if (fire !== undefined) this.#do(() => cancelFire(keeper.it, fire, WISH, keeper.context))
  }

  #backfill(a: number, b: number, c: number): void {
    const { keeper } = this
    const from = keeper.now - (a % (c % 3 === 0 ? 3 * HOUR : 20 * MINUTE))
    const range = { from, to: Math.min(from + (b % (30 * MINUTE)), keeper.now + MINUTE) }
    const preview = previewBackfill(keeper.it, range, keeper.list(range.from, range.to), keeper.context)
    assert.equal(preview.instants, preview.toRun + preview.alreadyRun)
    this.#do(() => requestBackfill(keeper.it, { ...range, id: `b${a}`, author: null, force: true }, keeper.context))
  }

  #retryFire(a: number, b: number, c: number): void {
    const { keeper } = this
    const records = keeper.list()
    const record = records[a % Math.max(1, records.length)]
    if (record === undefined) return
    const dueAt = record.range === null ? record.dueAt : someOf(record, b)
    this.#do(() => retryFire(keeper.it, record, { force: c % 3 === 0, dueAt }, keeper.context))
  }

  /** What the last changes settled is expected on record from now on. */
  #account(): void {
    const { keeper } = this
    for (const decision of keeper.decisions.splice(0)) {
      const before = this.#before
      const { state } = decision.change
      this.#before = state
      this.#note(decision)
      if (before !== null) this.#expectSettled(before, state)
      // With a calendar the mark does not pass them: what it excludes before them is not on record yet.
      for (const { dueAt, ending } of recordsOf(decision.change).creates) {
        if (ending?.reason === 'skipped-by-operator') this.#expected.add(dueAt)
      }
      if (state !== null) this.#judgeWake(state)
    }
  }

  #before: ScheduleState | null = null

  #expectSettled(before: ScheduleState, after: ScheduleState | null): void {
    // A schedule that comes back begins from now, or plans the stretch of its retirement in later steps.
    if (before.retiredAt !== null) return
    const series = seriesOf(before.id, before.definition)
    const isSameRule = after !== null && after.revision === before.revision
    // Under the old rule everything up to now, unless the limit or the retirement ended it before.
    const changedAt = before.retiredAt === null ? this.keeper.now : -Infinity
    const to = after === null ? Number.POSITIVE_INFINITY : isSameRule ? after.plannedTo! : changedAt
    const isMoved = !isSameRule && after !== null && after.plannedTo === this.keeper.now
    if (!isSameRule && !isMoved && after !== null && before.pause !== null) return
    // The limit ends a series wherever it is reached; under the same rule the mark shows where that was.
    const { limit } = before.definition
    let last = before.plannedTo!
    let left = isSameRule || limit === null ? Number.POSITIVE_INFINITY : (after?.fired ?? limit) - before.fired
    for (let at = series.next(before.plannedTo!); at !== null && at <= to && left > 0; at = series.next(at)) {
      // What was on record already, skipped ahead under an earlier rule, counts only once.
      if (!this.#expected.has(at)) left--
      this.#expected.add(at)
      last = at
    }
    // What the calendar excludes after the last fire that the limit allows is not the schedule's.
    const isOver = limit !== null && (after?.fired ?? limit) >= limit
    const until = Math.min(to, isOver ? last : Infinity, this.keeper.now)
    for (const at of excludedIn(before.definition, before.plannedTo!, until)) this.#expected.add(at)
  }

  /** Judged by what can be done, not by how the instant to wake up is found. */
  #judgeWake(state: ScheduleState): void {
    const { now } = this.keeper
    assert.equal(wakeAtOf(state, now), state.wakeAt)
    const by = (at: Instant, why: string) => assert.ok(state.wakeAt !== null && state.wakeAt <= at, why)
    for (const { run } of state.open) if (run?.cancel) by(run.cancel.revokeAt, 'wakes to revoke')
    if (state.retiredAt !== null) {
      const isFrozen = state.backfills.length > 0 || state.open.some(({ run }) => run === null)
      if (isFrozen) assert.ok(state.wakeAt !== null, 'wakes to end what is frozen')
      return
    }
    if (state.pause !== null) {
      if (state.pause.until !== null) by(state.pause.until, 'wakes to resume')
      return
    }
    if (state.nextAt !== null) by(seriesOf(state.id, state.definition).readyAt(state.nextAt), 'wakes for the next')
    const isIdle = state.open.every(({ run }) => run === null)
    if (isIdle && state.open.length > 0) {
      by(Math.max(now + SECOND, ...state.open.map(({ readyAt }) => readyAt)), 'wakes for what waits')
    }
    if (isIdle && state.open.length === 0 && state.backfills.length > 0) by(now, 'wakes to backfill')
  }

  #note(decision: Decision): void {
    const { change, events } = decision
    const { reached } = this
    const { creates, updates, runs } = recordsOf(change)
    for (const { ending, range } of [...creates, ...updates]) {
      if (ending !== null) reached.add(`${ending.outcome} ${ending.reason}`)
      if (range !== null) reached.add(ending?.reason === 'calendar' ? 'range of a calendar' : 'range')
    }
    for (const { ending, cancel } of runs) {
      if (ending !== null) reached.add(`${ending.outcome} ${ending.reason}`)
      if (cancel !== null && ending !== null && cancel.revokeAt <= this.keeper.now) reached.add('revoked')
    }
    if (updates.some(({ kind, round, attempt }) => kind === 'backfill' && round > 1 && attempt === 0)) {
      reached.add('round of a backfill')
    }
    if (creates.some(({ kind, round }) => kind === 'backfill' && round === 1)) {
      reached.add('backfill of nothing on record')
    }
    if (creates.some(({ round, kind }) => round > 1 && kind !== 'manual')) reached.add('split range')
    if (creates.some(({ range }) => range?.count === 10_000)) reached.add('chunk')
    if (change.trim !== null) reached.add('trim')
    if (change.state === null) reached.add('removed')
    for (const { type } of events) if (type === 'schedule.changed') reached.add('redefined')
    if (change.state?.pause?.author === 'cronce') reached.add('paused by failures')
  }

  /** Every instant that was settled is on record exactly once, and what else is on record was asked for. */
  #balance(): void {
    const seen = new Set<Instant>()
    const backfilled = new Set<Instant>()
    for (const record of this.keeper.list()) {
      if (record.nonce !== '') continue
      const instants = instantsOf(record)
      assert.equal(instants.length, record.range?.count ?? 1, 'a range counts its instants')
      for (const at of instants) {
        assert.ok(!seen.has(at), `on record once: ${at}`)
        seen.add(at)
        if (record.kind === 'backfill') backfilled.add(at)
      }
    }
    for (const at of this.#expected) assert.ok(seen.has(at), `on record: ${new Date(at).toISOString()}`)
    for (const at of seen) assert.ok(this.#expected.has(at) || backfilled.has(at), `due: ${new Date(at).toISOString()}`)
  }
}

/** By the oracle. */
function excludedIn({ trigger, start, end }: Definition, after: Instant, to: Instant): readonly Instant[] {
  if (trigger?.kind !== 'cron' || to <= after) return []
  const { expression, tz, calendar } = trigger
  const [from, before] = [Math.max(after + 1, start ?? -Infinity), Math.min(to + 1, end ?? Infinity)]
  return before <= from ? [] : oracleExcluded(expression, { tz, calendar }, from, before)
}

const MISSED = ['skip', 'latest', 'all'] as const
const WISH = { author: 'ann', note: null }

function instantsOf(record: FireRecord): Instant[] {
  if (record.range === null) return [record.dueAt]
  const timeline = timelineOf(record.range.trigger)
  const found: Instant[] = []
  for (let at: Instant | null = record.dueAt; at !== null && at <= record.range.untilAt; at = timeline.next(at)) {
    found.push(at)
  }
  return found
}

function someOf(record: FireRecord, b: number): Instant {
  const instants = instantsOf(record)
  return instants[b % instants.length]!
}
