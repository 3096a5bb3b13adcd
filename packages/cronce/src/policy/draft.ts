import type { Change } from '../model/change.ts'
import type { CronceEvent } from '../model/event.ts'
import { keepAtLeastMs, type Policy, type PolicyChoices, policyOf } from '../model/policy.ts'
import type { FireKey, HistoryRecord } from '../model/record.ts'
import type { Instant, OpenFire, ScheduleState } from '../model/schedule.ts'
import { isFinished, isSpent } from './bounds.ts'
import type { Context, Decision, StartedRun } from './decision.ts'
import { inTurn } from './plan/turn.ts'
import { wakeAtOf } from './plan/wake.ts'

/** A decision in the making. It belongs to one call of one function, and never changes its inputs. */
export interface Draft {
  readonly before: ScheduleState
  readonly context: Context
  /** The new state, except `open`, `version` and `wakeAt`. */
  state: ScheduleState
  open: OpenFire[]
  readonly creates: FireKey[]
  readonly reopens: FireKey[]
  readonly history: HistoryRecord[]
  readonly rewrites: HistoryRecord[]
  readonly limits: { readonly slot: string; limit: number }[]
  readonly started: StartedRun[]
  readonly events: CronceEvent[]
  notBefore: Instant | null
}

/** Retention by count is checked once in this many records of a schedule. */
export const TRIM_EVERY = 64

export function begin(state: ScheduleState, context: Context): Draft {
  return {
    before: state,
    context,
    state,
    open: [...state.open],
    creates: [],
    reopens: [],
    history: [],
    rewrites: [],
    limits: [],
    started: [],
    events: [],
    notBefore: context.notBefore ?? null,
  }
}

export function set(draft: Draft, patch: Partial<ScheduleState>): void {
  Object.assign(ownState(draft), patch)
}

/** A private copy, made on the first change: one per decision, not one per change. */
function ownState(draft: Draft): { -readonly [Name in keyof ScheduleState]: ScheduleState[Name] } {
  if (draft.state === draft.before) draft.state = { ...draft.before }
  return draft.state
}

/** The change must not be written before this instant. */
export function demandTime(draft: Draft, at: Instant): void {
  draft.notBefore = Math.max(draft.notBefore ?? at, at)
}

/** The policy of a fire: its own if it was planned with another one than the schedule's. */
export function policyOfFire(draft: Draft, fire: OpenFire): Policy {
  return policyOf(choicesOfFire(draft, fire))
}

/** The policy as declared, without defaults: callers that need one part avoid the cost of filling in all defaults. */
export function choicesOfFire(draft: Draft, fire: OpenFire): PolicyChoices {
  return fire.own?.policy ?? draft.state.definition.policy
}

/** Append a line to the history, with the next number. */
export function append(draft: Draft, line: Omit<HistoryRecord, 'number'>): void {
  const number = draft.state.ended + 1
  set(draft, { ended: number })
  draft.history.push({ ...line, number })
}

/** Replace the line with this number, which may have been appended by this same draft. */
export function rewrite(draft: Draft, line: HistoryRecord): void {
  for (const lines of [draft.history, draft.rewrites]) {
    const place = lines.findIndex(({ number }) => number === line.number)
    if (place < 0) continue
    lines[place] = line
    return
  }
  draft.rewrites.push(line)
}

export function keyOf({ dueAt, nonce }: Pick<FireKey, 'dueAt' | 'nonce'>): string {
  return `${dueAt} ${nonce}`
}

/** The decision, or `null` if it would change nothing. */
export function finishIfChanged(draft: Draft): Decision | null {
  const { before, state } = draft
  if (state !== before || isSpent(before) || wakeAtOf(before, draft.context.now) !== before.wakeAt) return finish(draft)
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
  // A caller that changes a definition gets the new state, even if the schedule is finished by it.
  const isRemoved = isSpent(state) && before.version > 0 && before.revision === state.revision
  state.wakeAt = wakeAtOf(state, context.now)
  return decisionOf(draft, isRemoved ? null : state, trim)
}

/** The schedule is removed, its records stay. */
export function finishWithout(draft: Draft): Decision {
  return decisionOf(draft, null, null)
}

function decisionOf(draft: Draft, state: ScheduleState | null, trim: Change['trim']): Decision {
  return {
    change: {
      id: draft.before.id,
      version: draft.before.version,
      epoch: draft.context.epoch,
      state,
      notBefore: draft.notBefore,
      creates: draft.creates,
      reopens: draft.reopens,
      history: draft.history,
      rewrites: draft.rewrites,
      limits: draft.limits,
      trim,
    },
    started: draft.started,
    events: draft.events,
  }
}

/** Applies retention by count, once in a while. */
function trimOf({ before, state, context }: Draft): Change['trim'] {
  if (Math.floor(before.ended / TRIM_EVERY) === Math.floor(state.ended / TRIM_EVERY)) return null
  const policy = policyOf(state.definition.policy)
  const belowNumber = state.ended - policy.retention.count
  return belowNumber > 0 ? { belowNumber, endedBefore: context.now - keepAtLeastMs(policy) } : null
}

function laterOf(a: Instant | null, b: Instant | null): Instant | null {
  return a === null ? b : b === null ? a : Math.max(a, b)
}
