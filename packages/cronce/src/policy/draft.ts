import type { Change } from '../model/change.ts'
import type { CronceEvent } from '../model/event.ts'
import { keepAtLeastMs, type Policy, type PolicyChoices, policyOf } from '../model/policy.ts'
import type { FireKey, FireRecord, RunRecord } from '../model/record.ts'
import type { Instant, OpenFire, ScheduleState } from '../model/schedule.ts'
import { isFinished, isSpent } from './bounds.ts'
import type { Context, Decision, StartedRun } from './decision.ts'
import { inTurn } from './turn.ts'
import { wakeAtOf } from './wake.ts'

/** A decision in the making. Belongs to one call of one function; what that function was given is never changed. */
export interface Draft {
  readonly before: ScheduleState
  readonly context: Context
  /** As it will be, but for `open`, `version` and `wakeAt`. */
  state: ScheduleState
  open: OpenFire[]
  /** Mostly one, and no limit: they are looked through. */
  readonly records: { record: FireRecord; readonly isNew: boolean }[]
  readonly runs: Map<string, RunRecord>
  readonly limits: { readonly slot: string; limit: number }[]
  readonly started: StartedRun[]
  readonly events: CronceEvent[]
  notBefore: Instant | null
}

/** How often retention by count is looked after: once in so many records. */
const TRIM_EVERY = 64

export function begin(state: ScheduleState, context: Context): Draft {
  return {
    before: state,
    context,
    state,
    open: [...state.open],
    records: [],
    runs: new Map(),
    limits: [],
    started: [],
    events: [],
    notBefore: context.notBefore ?? null,
  }
}

export function set(draft: Draft, patch: Partial<ScheduleState>): void {
  Object.assign(ownState(draft), patch)
}

/** A copy that nobody else has seen, made when the first thing changes: one for each decision, not one for each change. */
function ownState(draft: Draft): { -readonly [Name in keyof ScheduleState]: ScheduleState[Name] } {
  if (draft.state === draft.before) draft.state = { ...draft.before }
  return draft.state
}

/** What is not true before this instant must not be written before it. */
export function demandTime(draft: Draft, at: Instant): void {
  draft.notBefore = Math.max(draft.notBefore ?? at, at)
}

/** Of a fire: its own where it was planned with another one than the schedule's. */
export function policyOfFire(draft: Draft, fire: OpenFire): Policy {
  return policyOf(choicesOfFire(draft, fire))
}

/** The same as it was written down, for whoever wants one part of it: to spell out the whole costs more than to decide. */
export function choicesOfFire(draft: Draft, fire: OpenFire): PolicyChoices {
  return fire.own?.policy ?? draft.state.definition.policy
}

export function putRecord(draft: Draft, record: FireRecord, isNew: boolean): void {
  // From the end: what changes again was mostly written last.
  const known = draft.records.findLast(
    (other) => other.record.dueAt === record.dueAt && other.record.nonce === record.nonce,
  )
  if (known === undefined) draft.records.push({ record, isNew })
  else known.record = record
}

export function keyOf({ dueAt, nonce }: Pick<FireKey, 'dueAt' | 'nonce'>): string {
  return `${dueAt} ${nonce}`
}

/** The decision, or `null` if it would change nothing. */
export function finishIfChanged(draft: Draft): Decision | null {
  const { before, state } = draft
  const isTouched = state !== before || draft.records.length > 0 || draft.runs.size > 0
  if (isTouched || isSpent(before) || wakeAtOf(before, draft.context.now) !== before.wakeAt) return finish(draft)
  return null
}

export function finish(draft: Draft): Decision {
  const { before, context } = draft
  const trim = trimOf(draft)
  const state = ownState(draft)
  state.open = inTurn(draft.open)
  state.trimmedBefore = laterOf(state.trimmedBefore, trim?.endedBefore ?? null)
  state.version = before.version + 1
  if (isFinished(state) && !isFinished(before) && before.version > 0) {
    draft.events.push({ type: 'schedule.finished', schedule: state.id, job: state.definition.job })
  }
  // Whoever changes a definition is told what it became, also if nothing is left of it.
  const isRemoved = isSpent(state) && before.version > 0 && before.revision === state.revision
  state.wakeAt = wakeAtOf(state, context.now)
  return decisionOf(draft, isRemoved ? null : state, trim)
}

/** The schedule goes, its records stay. */
export function finishWithout(draft: Draft): Decision {
  return decisionOf(draft, null, null)
}

function decisionOf(draft: Draft, state: ScheduleState | null, trim: Change['trim']): Decision {
  const creates: FireRecord[] = []
  const updates: FireRecord[] = []
  for (const { record, isNew } of draft.records) (isNew ? creates : updates).push(record)
  return {
    change: {
      id: draft.before.id,
      version: draft.before.version,
      epoch: draft.context.epoch,
      state,
      notBefore: draft.notBefore,
      creates,
      updates,
      runs: [...draft.runs.values()],
      limits: draft.limits,
      trim,
    },
    started: draft.started,
    events: draft.events,
  }
}

/** Retention by count, once in a while. */
function trimOf({ before, state, context }: Draft): Change['trim'] {
  if (Math.floor(before.ended / TRIM_EVERY) === Math.floor(state.ended / TRIM_EVERY)) return null
  const policy = policyOf(state.definition.policy)
  const belowNumber = state.ended - policy.retention.count
  return belowNumber > 0 ? { belowNumber, endedBefore: context.now - keepAtLeastMs(policy) } : null
}

function laterOf(a: Instant | null, b: Instant | null): Instant | null {
  return a === null ? b : b === null ? a : Math.max(a, b)
}
