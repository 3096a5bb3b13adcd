import type { Change } from '../../model/change.ts'
import type { CronceEvent, EventType } from '../../model/event.ts'
import { copyJson } from '../../model/json.ts'
import { DEFAULT_POLICY, keepAtLeastMs, type PolicyChoices, policyOf } from '../../model/policy.ts'
import type { HistoryRecord } from '../../model/record.ts'
import type { Instant, RunningFire, ScheduleState } from '../../model/schedule.ts'
import { makeToken } from '../../model/token.ts'
import { viewOpenRun } from '../../model/views.ts'
import { trigger } from '../../trigger/from-data.ts'
import type { Trigger, TriggerData } from '../../trigger/trigger.ts'
import type { Claimant, Context, Decision, StartedRun } from '../decision.ts'
import { TRIM_EVERY } from '../draft.ts'
import { keepMs } from '../end/retention.ts'
import type { Settlement } from '../end/settle.ts'
import { lastAfter } from '../fires.ts'
import { hasCalendar } from './excluded.ts'
import { isOnTime } from './misfire.ts'
import { zoneDataOf } from './series.ts'

// Shortcuts for the common case: one due time, on time, with nothing else open, and its success. Each returns exactly what the
// policy would (`advance`, `settle`), or `null` where only the policy can tell; `plain.test.ts` compares them on random states.

const NONE: readonly never[] = []

/** By their data, which never changes: a schedule has the same one at each of its due times. */
const triggers = new WeakMap<TriggerData, Trigger>()

function triggerOf(data: TriggerData): Trigger {
  let found = triggers.get(data)
  if (found === undefined) {
    found = trigger(data)
    triggers.set(data, found)
  }
  return found
}

/** What `advance` returns for a schedule with nothing open and one instant that is due and on time. */
export function advancePlain(state: ScheduleState, context: Context, claimant: Claimant): Decision | null {
  const { nextAt: dueAt } = state
  if (dueAt === null || dueAt > context.now) return null
  return claimPlain(state, { dueAt, startAt: context.now, isLast: true }, context, claimant)
}

/**
 * What `advance` returns to a claimant that takes instants one by one, if several are due, all of them on time, and nothing is
 * open. `null`: only the policy can tell.
 */
export function claimEarliest(state: ScheduleState, context: Context, claimant: Claimant): Decision | null {
  const { nextAt: dueAt, definition } = state
  const { misfire = DEFAULT_POLICY.misfire } = definition.policy
  if (dueAt === null || dueAt > context.now || !skipsOverlap(definition.policy) || misfire.late === 'all') return null
  return claimPlain(state, { dueAt, startAt: context.now, isLast: false }, context, claimant)
}

/** Whether a fire that is on time is skipped while an earlier one is active. */
export function skipsOverlap({ overlap = DEFAULT_POLICY.overlap }: PolicyChoices): boolean {
  return overlap.kind === 'skip'
}

/**
 * Claims the next instant of a schedule before it is due: what `advance` will return at that instant if nothing changes until
 * then. `null`: it can't be claimed ahead. The run starts at its instant (`engine/claim/planned-starts.ts`).
 */
export function claimAhead(state: ScheduleState, context: Context, claimant: Claimant): Decision | null {
  const { nextAt: dueAt, wakeAt, definition } = state
  if (dueAt === null || dueAt <= context.now || wakeAt !== dueAt) return null
  const { guarantee, retry, overlap } = definition.policy
  // A fire that is triggered before the start would replace the scheduled one, which is newer.
  if (overlap?.kind === 'replace') return null
  // A death between the claim and the start counts as a crash, and these fires are not run again after a crash.
  if (guarantee === 'at-most-once' || retry?.crashes === 0) return null
  return claimPlain(state, { dueAt, startAt: dueAt, isLast: true }, context, claimant)
}

interface PlainInstant {
  readonly dueAt: Instant
  /** Now, or the due time that is claimed ahead. */
  readonly startAt: Instant
  /** No later instant is due by then. */
  readonly isLast: boolean
}

function claimPlain(
  state: ScheduleState,
  { dueAt, startAt, isLast }: PlainInstant,
  context: Context,
  claimant: Claimant,
): Decision | null {
  const { id: schedule, definition } = state
  const { now } = context
  if (claimant.room < 1 || !hasPlainInstant(state, dueAt, startAt)) return null
  const { trigger: data, policy } = definition
  const nextAt = triggerOf(data!).next(dueAt)
  if (nextAt === null || nextAt > startAt !== isLast) return null
  const { instance, claim } = claimant
  const isAhead = startAt > now
  const tokens = state.tokens + 1
  const token = makeToken(context.epoch, tokens)
  const fire: RunningFire = {
    dueAt,
    nonce: '',
    kind: 'scheduled',
    round: 1,
    plannedAt: now,
    readyAt: dueAt,
    ignoresOverlap: false,
    attempt: 1,
    failures: 0,
    crashes: 0,
    run: { token, instance, claim, startedAt: startAt, cancel: null },
    own: null,
  }
  const changed: ScheduleState = {
    ...state,
    version: state.version + 1,
    nextAt,
    plannedTo: dueAt,
    zoneData: zoneDataOf(definition, context.zoneData),
    wakeAt: nextAt,
    tokens,
    fired: state.fired + 1,
    open: [fire],
  }
  const change: Change = {
    id: schedule,
    version: state.version,
    epoch: context.epoch,
    state: changed,
    // If the store's clock is set back before the claim is written, the claim is refused. A claim ahead requires the clock that
    // the look saw.
    notBefore: isAhead ? now : Math.max(context.notBefore ?? dueAt, dueAt),
    creates: [{ schedule, dueAt, nonce: '' }],
    reopens: NONE,
    history: NONE,
    rewrites: NONE,
    limits: NONE,
    trim: null,
  }
  const run: StartedRun = {
    record: viewOpenRun(state, fire),
    fire,
    kind: 'scheduled',
    input: definition.input,
    policy: policyOf(policy),
    previous: state.last,
    suspect: false,
  }
  return new PlainClaim(change, isAhead, isAhead ? { ...run, isAhead } : run)
}

/** Nothing else is open or unusual, and the instant is the schedule's and on time. */
function hasPlainInstant(state: ScheduleState, dueAt: Instant, now: Instant): boolean {
  const { trigger: data, policy, limit, start, end } = state.definition
  if (state.open.length > 0 || !isQuiet(state) || data === null || policy.limits !== undefined) return false
  if (limit !== null || end !== null || (start !== null && dueAt < start)) return false
  return isOnTime(policy.misfire ?? DEFAULT_POLICY.misfire, now - dueAt)
}

const all = (): boolean => true

class PlainClaim implements Decision {
  readonly change: Change
  readonly started: readonly [StartedRun]
  readonly #isAhead: boolean

  constructor(change: Change, isAhead: boolean, run: StartedRun) {
    this.change = change
    this.started = [run]
    this.#isAhead = isAhead
  }

  get events(): readonly CronceEvent[] {
    return this.heard(all)
  }

  heard(hears: (type: EventType) => boolean): readonly CronceEvent[] {
    const isPlannedHeard = hears('fire.planned')
    // The engine emits the start of a run that was claimed ahead when it starts.
    const isStartHeard = !this.#isAhead && hears('run.started')
    if (!isPlannedHeard && !isStartHeard) return NONE
    const { schedule, job, dueAt, nonce, token, attempt, instance, startedAt, readyAt } = this.started[0].record
    const events: CronceEvent[] = []
    if (isPlannedHeard) events.push({ type: 'fire.planned', schedule, job, dueAt, nonce })
    const lateness = { latenessMs: startedAt - readyAt, cause: null }
    if (isStartHeard)
      events.push({ type: 'run.started', schedule, job, dueAt, nonce, token, attempt, instance, ...lateness })
    return events
  }
}

/** What `settle` returns for the success of the only open fire of a schedule. */
export function settlePlain(state: ScheduleState, settlement: Settlement, context: Context): Decision | null {
  const { id: schedule, definition, nextAt, open, ended } = state
  const [fire] = open
  if (fire?.run?.token !== settlement.token || open.length > 1 || nextAt === null || !isQuiet(state)) return null
  if (!isOfSchedule(fire as RunningFire)) return null
  const { ending, error, result, handBack, parkMs } = settlement
  if (ending.outcome !== 'succeeded' || handBack !== null || parkMs !== undefined) return null
  const number = ended + 1
  // Retention by count is applied with this line, which the policy decides.
  if (number % TRIM_EVERY === 0) return null
  const { now } = context
  const { token, instance, cancel } = fire.run
  const { startedAt = fire.run.startedAt } = settlement
  const { dueAt } = fire
  // Written out instead of derived from `viewOpenFire`: objects that are built from others cost several times as much.
  const line: HistoryRecord = {
    schedule,
    dueAt,
    nonce: fire.nonce,
    job: definition.job,
    tenant: definition.tenant,
    kind: fire.kind,
    round: fire.round,
    plannedAt: fire.plannedAt,
    readyAt: fire.readyAt,
    attempt: fire.attempt,
    input: null,
    ending,
    endedAt: Math.max(now, startedAt),
    expiresAt: Math.max(now, dueAt) + keptMs(definition.policy),
    number,
    range: null,
    isFinal: true,
    run: { token, instance, startedAt, cancel, error, result },
  }
  const changed: ScheduleState = {
    ...state,
    version: state.version + 1,
    wakeAt: nextAt,
    ended: number,
    failedInRow: 0,
    last: lastAfter(state.last, fire, 'succeeded', now),
    open: NONE,
  }
  return new PlainSettlement(line, {
    id: schedule,
    version: state.version,
    epoch: context.epoch,
    state: changed,
    notBefore: context.notBefore ?? null,
    creates: NONE,
    reopens: NONE,
    history: [line],
    rewrites: NONE,
    limits: NONE,
    trim: null,
  })
}

class PlainSettlement implements Decision {
  readonly change: Change
  readonly started: readonly StartedRun[] = NONE
  readonly success: HistoryRecord

  constructor(line: HistoryRecord, change: Change) {
    this.change = change
    this.success = line
  }

  get events(): readonly CronceEvent[] {
    return this.heard(all)
  }

  heard(hears: (type: EventType) => boolean): readonly CronceEvent[] {
    const isRunHeard = hears('run.ended')
    const isFireHeard = hears('fire.ended')
    if (!isRunHeard && !isFireHeard) return NONE
    const { schedule, job, dueAt, nonce, attempt, endedAt, ending, run } = this.success
    const { outcome, reason, detail } = ending
    const events: CronceEvent[] = []
    if (isRunHeard) {
      const { token, instance, startedAt, error } = run!
      const ended = { outcome, reason, durationMs: Math.max(0, endedAt - startedAt), error: copyJson(error) }
      events.push({ type: 'run.ended', schedule, job, dueAt, nonce, token, attempt, instance, ...ended })
    }
    if (isFireHeard) events.push({ type: 'fire.ended', schedule, job, dueAt, nonce, outcome, reason, detail, attempt })
    return events
  }
}

/** The fire has no data of its own: input, policy and tenant are the schedule's, it was not requested, and it was not late. */
function isOfSchedule({ own, asked, tenant, run }: RunningFire): boolean {
  return own === null && asked === undefined && tenant === undefined && run.cause === undefined
}

/** Only its next instant makes the schedule due, exactly at that instant. */
export function isQuiet({ pause, retiredAt, skipped, backfills, definition }: ScheduleState): boolean {
  const { jitter = DEFAULT_POLICY.jitter } = definition.policy
  if (hasCalendar(definition)) return false
  return pause === null && retiredAt === null && skipped === undefined && backfills.length === 0 && jitter.ms === 0
}

const KEPT_BY_DEFAULT_MS = Math.max(DEFAULT_POLICY.retention.keepMs, keepAtLeastMs(DEFAULT_POLICY))

function keptMs(policy: PolicyChoices): Instant {
  if (policy.retention === undefined && policy.misfire === undefined) return KEPT_BY_DEFAULT_MS
  return keepMs(policyOf(policy), 'succeeded')
}
