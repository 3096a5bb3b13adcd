import assert from 'node:assert/strict'
import { type Ending, ending, type Reason } from '../../src/model/outcome.ts'
import type { PolicyChoices } from '../../src/model/policy.ts'
import type { FireRecord, RunRecord } from '../../src/model/record.ts'
import type { Definition, OpenFire, ScheduleState, Source } from '../../src/model/schedule.ts'
import { isNewerToken } from '../../src/model/token.ts'
import type { Claimant, Context, Decision, Refusal, Stale, StartedRun } from '../../src/policy/decision.ts'
import { recover } from '../../src/policy/end/recover.ts'
import { settle } from '../../src/policy/end/settle.ts'
import { define } from '../../src/policy/operate/define.ts'
import { advance } from '../../src/policy/plan/advance.ts'
import { nextBackfillStretch } from '../../src/policy/plan/backfill.ts'
import { advancePlain, claimEarliest, settlePlain } from '../../src/policy/plan/plain-fire.ts'
import { recordsOf } from './records-of.ts'

/** A Tuesday noon: a whole minute, hour and day away from nothing odd. */
export const NOON = Date.parse('2027-06-01T12:00:00Z')
export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export const CLIENT: Source = { kind: 'client' }
/** A retirement because the newest deployment does not declare the schedule. */
export const DROPPED = { cause: 'dropped', deployment: 'v2' } as const

export function definition(parts: Partial<Definition> = {}): Definition {
  return {
    job: 'report',
    trigger: { kind: 'every', everyMs: MINUTE, anchor: 0 },
    input: null,
    policy: {},
    start: null,
    end: null,
    limit: null,
    tenant: null,
    ...parts,
  }
}

/** An instant was on record although a decision wanted to create it: what a store answers as `exists`. */
export class OnRecord extends Error {
  readonly fire: FireRecord
  constructor(fire: FireRecord) {
    super(`on record: ${fire.dueAt} ${fire.nonce}`)
    this.fire = fire
  }
}

/**
 * One schedule and its records in the simplest possible store, which checks the invariants of every change. The test
 * sets the time.
 */
export class Keeper {
  readonly id: string
  now = NOON
  epoch = 1
  zoneData = '2027a'
  random: () => number = () => 0.5
  state: ScheduleState | null = null
  readonly fires = new Map<string, FireRecord>()
  readonly runs = new Map<string, RunRecord>()
  readonly decisions: Decision[] = []
  /** How often an instant was on record although the schedule had not got to it. */
  passedOver = 0
  /** How often a shortcut of `policy/plan/plain-fire.ts` applied. */
  readonly plain = { claims: 0, earliest: 0, settlements: 0 }
  readonly #open = new Set<string>()
  #lastToken = '0'
  #claims = 0

  constructor(id = 'nightly') {
    this.id = id
  }

  get context(): Context {
    return { now: this.now, epoch: this.epoch, zoneData: this.zoneData, random: this.random }
  }

  get it(): ScheduleState {
    assert.ok(this.state !== null, 'the schedule exists')
    return this.state
  }

  define(parts: Partial<Definition> = {}, source: Source = CLIENT): Decision | Refusal | null {
    const wanted = definition(parts)
    const at = wanted.trigger?.kind === 'at' ? wanted.trigger.at : Number.NaN
    const wish = { definition: wanted, source, onRecord: this.list(at, at) }
    const answer = define(this.state, this.id, wish, this.context)
    if (answer !== null && !('refused' in answer)) this.apply(answer)
    return answer
  }

  /** What the engine does with a schedule that is due. */
  advance(claim: Partial<Pick<Claimant, 'room' | 'idle' | 'oneByOne'>> | null = {}): readonly StartedRun[] {
    const number = ++this.#claims
    const claimant = claim === null ? null : { instance: 'ant', claim: number, room: 100, idle: true, ...claim }
    const found: FireRecord[] = []
    for (;;) {
      const existing = [...this.existing(), ...found]
      const decision = advance(this.it, this.context, claimant, existing)
      const plain = claimant === null || existing.length > 0 ? null : advancePlain(this.it, this.context, claimant)
      if (plain !== null) {
        assertSame(plain, decision)
        this.plain.claims++
      }
      const earliest = claimant === null || existing.length > 0 ? null : claimEarliest(this.it, this.context, claimant)
      if (earliest !== null) {
        assertSame(earliest, advance(this.it, this.context, { ...claimant!, oneByOne: true }, existing))
        this.plain.earliest++
      }
      if (decision === null) return []
      try {
        this.apply(decision)
        return decision.started
      } catch (error) {
        if (!(error instanceof OnRecord)) throw error
        found.push(error.fire)
        this.passedOver++
      }
    }
  }

  /** The records that a backfill must know, as a store would list them. */
  existing(): FireRecord[] {
    const stretch = nextBackfillStretch(this.it)
    if (stretch === null) return []
    return this.list(stretch.from, stretch.to).slice(0, 1_000)
  }

  list(from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY): FireRecord[] {
    return [...this.fires.values()]
      .filter((fire) => fire.dueAt <= to && (fire.range?.untilAt ?? fire.dueAt) >= from)
      .toSorted((a, b) => a.dueAt - b.dueAt || (a.nonce < b.nonce ? -1 : 1))
  }

  settle(
    run: StartedRun | string,
    reason: Reason,
    extra: { readonly retryable?: boolean; readonly handBack?: 'started' | 'not-started' } = {},
  ): Decision | Stale {
    const token = typeof run === 'string' ? run : run.record.token
    const base = { token, ending: ending(reason), error: null, result: null, retryable: true, handBack: null }
    const settlement = { ...base, ...extra }
    const decision = settle(this.it, settlement, this.context)
    const plain = settlePlain(this.it, settlement, this.context)
    if (plain !== null) {
      assertSame(plain, decision)
      this.plain.settlements++
    }
    return this.take(decision)
  }

  recover(run: StartedRun | string): Decision | Stale {
    return this.take(recover(this.it, typeof run === 'string' ? run : run.record.token, this.context))
  }

  /** Apply an answer if it is a decision, and hand it on. */
  take<Answer extends Decision | Refusal | Stale | null>(answer: Answer): Answer {
    if (answer !== null && typeof answer === 'object' && 'change' in answer) this.apply(answer)
    return answer
  }

  apply(decision: Decision): void {
    const { change } = decision
    assert.equal(change.id, this.id)
    assert.equal(change.version, this.state?.version ?? 0, 'decided on the current version')
    assert.ok(change.notBefore === null || change.notBefore <= this.now, 'nothing is written before its time')
    const { creates, updates, runs } = recordsOf(change)
    for (const fire of creates) this.#demandNew(fire)
    for (const fire of updates) this.#demandFollows(fire)
    for (const run of runs) this.#demandRun(run)
    if (this.state !== null) this.#demandStarts(this.state, decision)
    for (const fire of [...creates, ...updates]) this.#put(fire)
    for (const run of runs) this.runs.set(run.token, freeze(run))
    if (change.state !== null) this.#demandState(change.state)
    this.state = change.state === null ? null : freeze(change.state)
    this.decisions.push(decision)
  }

  #put(fire: FireRecord): void {
    this.fires.set(keyOf(fire), freeze(fire))
    if (fire.ending === null) this.#open.add(keyOf(fire))
    else this.#open.delete(keyOf(fire))
  }

  #demandNew(fire: FireRecord): void {
    const known = this.fires.get(keyOf(fire))
    if (known !== undefined) throw new OnRecord(known)
    if (fire.nonce === '') return
    assert.ok(![...this.fires.values()].some(({ nonce }) => nonce === fire.nonce), `the nonce ${fire.nonce} is new`)
  }

  /** An ended fire changes by a new round only; a range may become shorter. */
  #demandFollows(fire: FireRecord): void {
    const known = this.fires.get(keyOf(fire))
    assert.ok(known !== undefined, `on record: ${keyOf(fire)}`)
    if (known.ending === null) {
      assert.equal(fire.round, known.round)
      return
    }
    if (fire.round > known.round) {
      assert.equal(fire.round, known.round + 1)
      return
    }
    const { range, ...rest } = known
    assert.ok(range !== null && (fire.range?.count ?? 1) < range.count, 'an ended fire does not change')
    assert.deepEqual({ ...fire, range: null }, { ...rest, range: null })
  }

  #demandRun(run: RunRecord): void {
    const known = this.runs.get(run.token)
    if (known !== undefined) {
      assert.equal(known.ending, null, 'a run ends once')
      const { number: ______, ending: _, endedAt: __, error: ___, result: ____, cancel: _____, ...rest } = known
      assert.deepEqual({ ...run, ...rest }, run, 'a run keeps what it was begun with')
      return
    }
    assert.equal(run.ending, null)
    assert.ok(isNewerToken(run.token, this.#lastToken), 'tokens grow')
    this.#lastToken = run.token
  }

  #demandStarts(known: ScheduleState, { change, started }: Decision): void {
    const open = change.state?.open ?? []
    const tokens = started.map(({ record }) => record.token)
    for (const [index, { record, policy }] of started.entries()) {
      assert.ok(record.readyAt <= this.now && (record.nonce !== '' || record.dueAt <= this.now), 'nothing starts early')
      const fire = open.find(({ run }) => run?.token === record.token)
      assert.ok(fire !== undefined)
      const later = tokens.slice(index + 1)
      const others = open.filter((other) => other !== fire && !later.includes(other.run?.token ?? ''))
      const running = count(others, ({ run }) => run !== null)
      assert.ok(fire.ignoresOverlap || running < capacity(policy), 'overlap holds')
      // Fires between two attempts are active, too; among each other they take turns.
      const before = known.open.find((old) => keyOf(old) === keyOf(fire))
      const isFirst = (before?.attempt ?? 0) === 0
      const active = isFirst ? count(others, ({ attempt }) => attempt > 0) : 0
      assert.ok(fire.ignoresOverlap || active < capacity(policy), 'overlap counts back-off')
    }
  }

  #demandState(state: ScheduleState): void {
    assert.equal(state.version, (this.state?.version ?? 0) + 1)
    assert.ok(state.open.length <= 1_000 && state.backfills.length <= 10, 'everything in a state is bounded')
    // Slow for large ones, and those are many alike.
    if (state.open.length < 20 || state.version % 20 === 0) {
      assert.deepEqual(JSON.parse(JSON.stringify(state)), state, 'a state is plain data')
    }
    const keys = state.open.map(keyOf)
    assert.equal(new Set(keys).size, keys.length)
    const order = state.open.map(({ dueAt }) => dueAt)
    assert.deepEqual(
      order,
      order.toSorted((a, b) => a - b),
      'open fires are in order',
    )
    for (const fire of state.open) {
      assert.equal(this.fires.get(keyOf(fire))?.ending, null, 'what is open is open on record')
    }
    assert.equal(this.#open.size, state.open.length, 'what is open on record is open')
  }
}

/** A schedule made at noon, with the first minute after it as its first instant. */
export function given(parts: Partial<Definition> & { readonly policy?: PolicyChoices } = {}, source?: Source): Keeper {
  const keeper = new Keeper()
  keeper.now = NOON + 1
  const made = keeper.define(parts, source)
  assert.ok(made !== null && !('refused' in made), JSON.stringify(made))
  return keeper
}

/** `12:01 succeeded completed`, `12:02 open`, `12:03-12:09 missed superseded (7)`. */
export function story(keeper: Keeper): string[] {
  return keeper.list().map((fire) => {
    const end = fire.range === null ? '' : `-${clock(fire.range.untilAt)}`
    const times = fire.range === null ? '' : ` (${fire.range.count})`
    const round = fire.round === 1 ? '' : ` round ${fire.round}`
    return `${clock(fire.dueAt)}${end} ${ended(fire.ending)}${times}${round}`
  })
}

export function refusalOf(answer: Decision | Refusal | Stale | null): string {
  assert.ok(answer !== null && typeof answer === 'object' && 'refused' in answer, 'it is refused')
  assert.ok(answer.message.endsWith('.') && answer.hint.length > 0)
  return answer.refused
}

export function keyOf({ dueAt, nonce }: Pick<FireRecord, 'dueAt' | 'nonce'>): string {
  return `${dueAt} ${nonce}`
}

export function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const part of Object.values(value)) freeze(part)
  }
  return value
}

function ended(end: Ending | null): string {
  return end === null ? 'open' : `${end.outcome} ${end.reason}`
}

function clock(at: number): string {
  const text = new Date(at).toISOString()
  return text.endsWith(':00.000Z') ? text.slice(11, 16) : text.slice(11, 19)
}

function capacity(policy: StartedRun['policy']): number {
  return policy.overlap.kind === 'allow' ? policy.overlap.limit : 1
}

function count(open: readonly OpenFire[], isCounted: (fire: OpenFire) => boolean): number {
  return open.filter(isCounted).length
}

function assertSame(plain: Decision, decision: Decision | Stale | null): void {
  const { change, started, events } = plain
  assert.deepEqual({ change, started, events }, decision, 'the shortcut decides what the policy decides')
  for (const event of events) {
    assert.deepEqual(
      plain.heard?.((type) => type === event.type),
      [event],
    )
  }
  assert.deepEqual(
    plain.heard?.(() => false),
    [],
  )
}
