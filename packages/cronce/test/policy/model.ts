import assert from 'node:assert/strict'
import { oracleFires } from '../../../checker/src/oracle/ask-oracle.ts'
import { type Policy, policyOf } from '../../src/model/policy.ts'
import type { FireRecord, RunRecord } from '../../src/model/record.ts'
import type { Definition, Instant, OpenFire, ScheduleState } from '../../src/model/schedule.ts'
import type { Context, Decision, Refusal, Stale } from '../../src/policy/decision.ts'
import { advance } from '../../src/policy/plan/advance.ts'
import { nextBackfillStretch } from '../../src/policy/plan/backfill.ts'
import type { TriggerData } from '../../src/trigger/trigger.ts'
import { judgeEndings, judgeLateStarts, judgePlan } from './judge.ts'
import { recordsOf } from './records-of.ts'
import { Waits } from './waits.ts'

const DAY = 86_400_000

/** All instants of a trigger in (after, to], without any help from the code that is judged. */
export function instantsIn(trigger: TriggerData | null, after: Instant, to: Instant): Instant[] {
  if (trigger === null || after >= to) return []
  if (trigger.kind === 'at') return trigger.at > after && trigger.at <= to ? [trigger.at] : []
  if (trigger.kind === 'cron') return oracleFires(trigger.expression, { tz: trigger.tz }, after + 1, to + 1)
  const found = []
  for (let at = Math.floor(after / trigger.everyMs) * trigger.everyMs; at <= to; at += trigger.everyMs) {
    if (at > after) found.push(at)
  }
  return found
}

export function ownInstants({ trigger, start, end }: Definition, after: Instant, to: Instant): Instant[] {
  return instantsIn(trigger, Math.max(after, (start ?? -Infinity) - 1), Math.min(to, (end ?? Infinity) - 1))
}

export const isActive = (fire: OpenFire): boolean => fire.run !== null || fire.attempt > 0
export const keyOf = ({ dueAt, nonce }: { dueAt: Instant; nonce: string }): string => `${dueAt} ${nonce}`

/** What a store answers as `exists`. */
export class OnRecord extends Error {
  readonly fire: FireRecord
  constructor(fire: FireRecord) {
    super(`on record: ${fire.dueAt}`)
    this.fire = fire
  }
}

/** One schedule, its records, and an account of its own of the instants that had to come on record. */
export class World {
  now: Instant
  epoch = 1
  zoneData = '2027a'
  chance = 0.5
  state: ScheduleState | null = null
  readonly fires = new Map<string, FireRecord>()
  readonly gone: FireRecord[] = []
  readonly runs = new Map<string, RunRecord>()
  readonly everBegun = new Set<string>()
  readonly seen = new Set<string>()
  readonly waits = new Waits()
  readonly #open = new Set<string>()
  readonly #running = new Set<string>()
  #token = 0n
  #version = 0
  #claims = 0
  /** Starts of a fire in its round that may not have been the last one. */
  readonly #starts = new Map<string, number>()
  readonly #expected = new Set<Instant>()
  readonly #extra = new Set<Instant>()
  /**
   * A store compares keys, not ranges: an instant that one schedule skipped may lie within a range of its successor.
   */
  readonly #skippedAhead = new Set<Instant>()
  #rule: Definition | null = null
  #counted = 0
  mark = -Infinity
  pausedItself = false

  constructor(now: Instant) {
    this.now = now
  }

  get context(): Context {
    const { now, epoch, zoneData, chance } = this
    return { now, epoch, zoneData, random: () => chance }
  }

  /** Another rule counts from `after` on. */
  follow(rule: Definition | null, after: Instant, isNew = false): void {
    this.#rule = rule
    this.mark = Math.max(after, isNew ? -Infinity : this.mark)
    if (isNew) this.#counted = 0
  }

  /** Everything of the rule up to here has to be on record. */
  reach(to: Instant): void {
    if (this.#rule === null) return
    for (const at of ownInstants(this.#rule, this.mark, to)) {
      if (this.#counted >= (this.#rule.limit ?? Infinity)) break
      this.expect(at)
    }
    this.mark = Math.max(this.mark, to)
  }

  expect(at: Instant): void {
    if (this.#expected.has(at)) return
    this.#expected.add(at)
    this.#counted++
  }

  skipAhead(at: Instant): void {
    this.expect(at)
    this.#skippedAhead.add(at)
  }

  existing(state: ScheduleState): FireRecord[] {
    const stretch = nextBackfillStretch(state)
    if (stretch === null) return []
    return [...this.fires.values()]
      .filter(({ dueAt, range }) => dueAt <= stretch.to && (range?.untilAt ?? dueAt) >= stretch.from)
      .toSorted((a, b) => a.dueAt - b.dueAt)
      .slice(0, 1_000)
  }

  /** As an instance does it: what is on record already is passed over. */
  advance(claim: { readonly room: number; readonly idle: boolean } | null): Decision | null {
    const found: FireRecord[] = []
    const number = ++this.#claims
    const claimant = claim === null ? null : { instance: 'ant', claim: number, ...claim }
    for (let tries = 0; tries < 100; tries++) {
      const before = this.state
      if (before === null) return null
      const existing = [...this.existing(before), ...found]
      try {
        const decision = this.decide(() => advance(before, this.context, claimant, existing))
        if (decision !== null && found.length === 0) judgePlan(this, before, decision)
        if (decision !== null) this.apply(decision, claim?.room ?? 0)
        if (before.pause === null && before.retiredAt === null) this.waits.noteLate(before, this.now)
        return decision
      } catch (error) {
        if (!(error instanceof OnRecord)) throw error
        this.seen.add('passed over')
        found.push(error.fire)
      }
    }
    assert.fail('an instant on record is in the way for ever')
  }

  /** As a client does it: what is on record is passed over by `advance`, then the command has its turn. */
  command(decide: (state: ScheduleState, context: Context) => Decision | Refusal | Stale | null): 'done' | 'nothing' {
    const found: FireRecord[] = []
    for (let tries = 0; tries < 50; tries++) {
      const { state } = this
      if (state === null) return 'nothing'
      try {
        if (found.length > 0 && nextBackfillStretch(state) === null) {
          const step = advance(state, this.context, null, found)
          if (step !== null) this.apply(step)
        }
        const now = this.state
        if (now === null) return 'nothing'
        const answer = this.decide(() => decide(now, this.context))
        if (answer === null || answer === 'stale' || 'refused' in answer) return 'nothing'
        this.apply(answer)
        return 'done'
      } catch (error) {
        if (!(error instanceof OnRecord) || error.fire.nonce !== '') throw error
        if (nextBackfillStretch(state) !== null) return 'nothing'
        this.seen.add('passed over')
        found.push(error.fire)
      }
    }
    assert.fail('an instant on record is in the way for ever')
  }

  /** The same question has the same answer; what it was asked with is frozen. */
  decide<Answer>(ask: () => Answer): Answer {
    const answer = ask()
    assert.deepEqual(ask(), answer, 'deterministic')
    return answer
  }

  apply(decision: Decision, room = 0): void {
    const { change, started } = freeze(decision)
    const { now, state: before } = this
    assert.equal(change.version, before?.version ?? 0)
    assert.ok(change.notBefore === null || change.notBefore <= now, 'not before its time')
    const { creates, updates, runs } = recordsOf(change)
    for (const fire of creates) {
      const known = this.fires.get(keyOf(fire))
      if (known !== undefined) throw new OnRecord(known)
      const isOld = fire.nonce === '' && fire.round === 1 && this.everBegun.has(keyOf(fire))
      assert.ok(!isOld, 'what has run is not made again, though its record be gone')
    }
    for (const fire of updates) this.#judgeUpdate(fire)
    for (const fire of [...creates, ...updates]) this.#judgeRecord(fire, before ?? change.state!)
    if (before !== null) judgeEndings(this, before, decision)
    if (before !== null) this.#judgeStarts(before, decision, room)
    if (before !== null) judgeLateStarts(this, before, decision)
    if (before !== null) this.waits.follow(before, decision, now)
    for (const run of runs) this.#putRun(run)
    for (const fire of [...creates, ...updates]) {
      this.fires.set(keyOf(fire), fire)
      if (fire.ending === null) this.#open.add(keyOf(fire))
      else this.#open.delete(keyOf(fire))
      if (fire.kind === 'backfill') this.#extra.add(fire.dueAt)
    }
    this.state = this.#stored(change.state)
    for (const { record } of started) this.everBegun.add(keyOf(record))
    this.#judgeState(this.state, before)
    if (this.state === null) this.#endLife(before!)
    if (change.trim !== null) this.#trim(change.trim, change.state ?? before!)
    this.#prune()
    if (this.state !== null) this.#judgeWake(this.state)
  }

  /** Removed by itself, or by an operator: what was due by then had to be recorded before. */
  #endLife({ nextAt }: ScheduleState): void {
    this.reach(nextAt === null ? this.now + DAY : this.now)
    this.#rule = null
  }

  /** A new schedule begins above all that were removed. */
  #stored(state: ScheduleState | null): ScheduleState | null {
    if (state === null || this.state !== null) return state
    return freeze({ ...state, version: this.#version + 1, tokens: Number(this.#token & 0xfff_ffff_ffffn) })
  }

  #judgeUpdate(fire: FireRecord): void {
    const known = this.fires.get(keyOf(fire))
    assert.ok(known !== undefined, `an update of what is on record: ${keyOf(fire)}`)
    const isOpen = known.ending === null
    if (isOpen || fire.round > known.round) {
      assert.equal(fire.round, known.round + (isOpen ? 0 : 1))
      return
    }
    const { range } = known
    assert.ok(range !== null && (fire.range?.count ?? 1) < range.count, 'an ended fire changes by a new round only')
    assert.deepEqual({ ...fire, range: null }, { ...known, range: null })
  }

  #judgeRecord(fire: FireRecord, state: ScheduleState): void {
    const policy = policyOf(state.definition.policy)
    if (fire.ending === null) {
      assert.deepEqual([fire.endedAt, fire.number, fire.expiresAt], [null, null, null])
      return
    }
    this.seen.add(fire.ending.reason)
    if (fire.endedAt !== this.now) return
    const from = Math.max(this.now, fire.range?.untilAt ?? fire.dueAt)
    assert.ok(fire.expiresAt! >= from + policy.misfire.windowMs + DAY, 'kept as long as it could be planned again')
  }

  #judgeStarts(before: ScheduleState, { change, started }: Decision, room: number): void {
    const after = change.state
    if (started.length === 0) return
    assert.ok(after !== null && started.length <= room, 'no more than there is room for')
    assert.equal(after.retiredAt, null)
    const was = new Map(before.open.map((fire) => [keyOf(fire), fire]))
    const known = after.open.filter((fire) => !started.some(({ record }) => record.token === fire.run?.token))
    for (const { record, policy, kind, suspect } of started) {
      const key = keyOf(record)
      const fire = after.open.find(({ run }) => run?.token === record.token)!
      const old = was.get(key)
      assert.ok(record.readyAt <= this.now && record.dueAt <= this.now, 'nothing early')
      assert.ok(change.notBefore! >= record.readyAt, 'and not early by a clock that goes back')
      assert.ok(kind === 'manual' || after.pause === null, 'nothing in a pause')
      const capacity = policy.overlap.kind === 'allow' ? policy.overlap.limit : 1
      const running = known.filter(({ run }) => run !== null).length
      assert.ok(fire.ignoresOverlap || running < capacity, 'no more at a time than may be')
      const isFirst = !old || !isActive(old)
      const active = known.filter(isActive).length
      assert.ok(!isFirst || fire.ignoresOverlap || active < capacity, 'those between two attempts count')
      const overtaken = known.filter((other) => other.dueAt < fire.dueAt && other.run === null && !isActive(other))
      for (const other of isFirst && !fire.ignoresOverlap ? overtaken : []) {
        const isHeld = other.readyAt > this.now || (after.pause !== null && other.kind !== 'manual')
        assert.ok(isHeld || other.own !== null || fire.own !== null, 'in order')
      }
      this.#judgeBudget(fire, policy, suspect)
      known.push(fire)
    }
  }

  #judgeBudget(fire: OpenFire, policy: Policy, suspect: boolean): void {
    const round = `${keyOf(fire)} ${fire.round}`
    const starts = (this.#starts.get(round) ?? 0) + 1
    this.#starts.set(round, starts)
    const { retry, guarantee } = policy
    if (guarantee === 'at-most-once') assert.equal(starts, 1, 'at most once')
    assert.ok(starts <= 1 + retry.attempts + retry.crashes, 'within its budgets')
    assert.ok(fire.failures <= retry.attempts && fire.crashes <= retry.crashes)
    assert.equal(suspect, fire.crashes >= 2)
  }

  /** It was handed back at no cost. */
  forgive({ dueAt, nonce, round }: OpenFire): void {
    const key = `${dueAt} ${nonce} ${round}`
    this.#starts.set(key, this.#starts.get(key)! - 1)
  }

  #putRun(run: RunRecord): void {
    const known = this.runs.get(run.token)
    if (known === undefined) {
      assert.ok(BigInt(run.token) > this.#token, 'tokens grow')
      assert.equal(run.ending, null)
      this.#token = BigInt(run.token)
    } else {
      assert.equal(known.ending, null, 'a run ends once')
      const { cancel, number, ending, endedAt, error, result } = run
      assert.deepEqual({ ...known, cancel, number, ending, endedAt, error, result }, run)
    }
    this.runs.set(run.token, run)
    if (run.ending === null) this.#running.add(run.token)
    else this.#running.delete(run.token)
  }

  #judgeState(state: ScheduleState | null, before: ScheduleState | null): void {
    assert.deepEqual([...this.#open].toSorted(), (state?.open ?? []).map(keyOf).toSorted(), 'open on record')
    const held = (state?.open ?? []).flatMap(({ run }) => run?.token ?? [])
    assert.deepEqual([...this.#running].toSorted(), held.toSorted(), 'runs on record')
    if (state === null) return
    assert.equal(state.version, (before?.version ?? this.#version) + 1)
    this.#version = state.version
    this.pausedItself = state.pause !== null && (this.pausedItself || state.pause.author === 'cronce')
    assert.ok(state.open.length <= 1_000 && state.backfills.length <= 10 && (state.skipped?.length ?? 0) <= 150)
    const isSameRule = before !== null && before.revision === state.revision
    if (isSameRule)
      assert.ok(state.fired <= Math.max(before.fired, state.definition.limit ?? Infinity), 'not beyond the limit')
    if (isSameRule) assert.ok((state.nextAt ?? Infinity) >= (before.nextAt ?? -Infinity), 'the mark never goes back')
    for (const fire of state.open) assert.equal(this.fires.get(keyOf(fire))?.attempt, fire.attempt)
  }

  #trim({ belowNumber, endedBefore }: { belowNumber: number; endedBefore: Instant }, state: ScheduleState): void {
    const { misfire, retention } = policyOf(state.definition.policy)
    assert.ok(endedBefore <= this.now - misfire.windowMs - DAY && belowNumber <= state.ended - retention.count)
    this.seen.add('trim')
    for (const fire of this.fires.values()) {
      const isOld = Math.max(fire.endedAt ?? Infinity, fire.dueAt) < endedBefore
      if (fire.number !== null && fire.number < belowNumber && isOld) this.#drop(fire)
    }
  }

  #prune(): void {
    for (const fire of this.fires.values()) if (fire.expiresAt !== null && fire.expiresAt < this.now) this.#drop(fire)
  }

  #drop(fire: FireRecord): void {
    this.seen.add('dropped')
    this.gone.push(fire)
    this.fires.delete(keyOf(fire))
  }

  /** Nothing can be done before `wakeAt`; from then on something can, or it is another instant to wake up at. */
  #judgeWake(state: ScheduleState): void {
    const claimant = { instance: 'probe', claim: 0, room: 1_000, idle: true }
    const at = (now: Instant) => advance(state, { ...this.context, now }, claimant, this.existing(state))
    const { wakeAt } = state
    if (wakeAt === null || wakeAt > this.now) {
      const quietTo = wakeAt === null ? this.now + DAY : wakeAt - 1
      for (const now of [this.now, quietTo]) {
        const found = at(now)
        const isIdle = found === null || (found.started.length === 0 && found.change.creates.length === 0)
        assert.ok(
          isIdle || isOnlyTurn(state, found),
          `asleep at ${now} until ${wakeAt} though there is something to do`,
        )
      }
    } else {
      assert.notEqual(at(this.now), null, 'awake with nothing to do')
    }
  }

  /** Every instant that had to be recorded is there exactly once, and nothing else that was not requested. */
  balance(dueBefore: Instant): void {
    const found = new Set<Instant>()
    for (const record of [...this.fires.values(), ...this.gone]) {
      if (record.nonce !== '') continue
      const { range } = record
      const all = range === null ? [record.dueAt] : instantsIn(range.trigger, record.dueAt - 1, range.untilAt)
      assert.equal(all.length, range?.count ?? 1, 'a range counts its instants')
      const isLastRound = this.fires.get(keyOf(record)) === record || !this.fires.has(keyOf(record))
      if (!isLastRound) continue
      for (const at of all) {
        if (found.has(at) && !this.#skippedAhead.has(at)) assert.fail(`on record twice: ${new Date(at).toISOString()}`)
        found.add(at)
      }
    }
    for (const at of this.#expected) {
      if (at < dueBefore && !found.has(at)) assert.fail(`not on record: ${new Date(at).toISOString()}`)
    }
    for (const at of found) {
      const isDue = this.#expected.has(at) || this.#extra.has(at)
      if (!isDue) assert.fail(`on record for no reason: ${new Date(at).toISOString()}`)
    }
  }
}

/** The probe is idle now; the requesting instance may not have been. */
function isOnlyTurn(state: ScheduleState, found: Decision): boolean {
  return found.change.creates.length === 0 && state.open.some(({ crashes }) => crashes >= 2)
}

export function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const part of Object.values(value)) freeze(part)
  }
  return value
}
