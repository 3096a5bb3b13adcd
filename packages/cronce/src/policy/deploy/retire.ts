import { ending } from '../../model/outcome.ts'
import type { Retirement, ScheduleState } from '../../model/schedule.ts'
import { MAX_STEPS } from '../bounds.ts'
import type { Context, Decision } from '../decision.ts'
import { begin, choicesOfFire, type Draft, finish, set } from '../draft.ts'
import { endFire } from '../fires.ts'
import { comeBack } from '../operate/define.ts'
import { missRetired, planPaused } from '../plan/plan.ts'
import { canRead, markOf } from '../plan/series.ts'
import { planUpToNow, settleUpToNow } from '../plan/up-to-now.ts'
import { frozenUntil } from '../plan/wake.ts'
import { aboutSchedule, isRunning } from '../records.ts'
import { addStretch, isOldName, isRenamedTo, withoutRename } from './continue-job.ts'
import { type Beside, hasPassed, leaveTo } from './late-rename.ts'

export interface RetireWish extends Pick<Retirement, 'cause' | 'deployment' | 'number' | 'renamedTo'> {
  readonly app: string
  /** A schedule of another name plans what is due, and what a pause has held back. */
  readonly leavesDue?: boolean
  /** The active schedule that the job has had under another name for a while: what came due since then is its own. */
  readonly beside?: Beside & Pick<ScheduleState, 'plannedTo' | 'nextAt' | 'updatedAt' | 'open'>
}

/**
 * Stop a schedule whose job left the code: nothing more is planned, open runs continue, waiting fires are frozen, so that a
 * mistake can be undone; with `renamedTo`, waiting fires still run. `null`: it belongs to another app or a client, is retired already, or
 * has gone further than the schedule `beside` it, which passes over that first.
 */
export function retire(state: ScheduleState, by: RetireWish, context: Context): Decision | null {
  if (!isRetirable(state, by)) return null
  const draft = begin(state, context)
  // More instants than one step plans: the caller repeats it.
  if (by.leavesDue !== true && !settleOwn(draft, by.beside)) return finish(draft)
  const { cause, deployment, number, renamedTo } = by
  // Instants that are left to another name no longer belong to this one.
  const from = renamedTo === undefined ? context.now : Math.min(context.now, markOf(draft.state))
  if (by.beside !== undefined) leaveTo(draft, by.beside)
  const stretch: Retirement = { from, to: null, cause, deployment, number }
  const retirement = renamedTo === undefined ? stretch : { ...stretch, renamedTo }
  set(draft, { retiredAt: context.now, retirements: addStretch(state, retirement) })
  draft.events.push({ type: 'schedule.retired', ...aboutSchedule(draft), cause, deployment })
  return finish(draft)
}

function isRetirable(state: ScheduleState, { app, beside }: RetireWish): boolean {
  const { source, retiredAt } = state
  if (source.kind !== 'code' || source.app !== app || retiredAt !== null) return false
  return beside === undefined || hasPassed(beside, state)
}

function settleOwn(draft: Draft, beside: Beside | undefined): boolean {
  // What a pause has held back runs under no name.
  const isPaused = draft.state.pause !== null
  return beside === undefined || isPaused ? settleUpToNow(draft, 'skip') : planUpToNow(draft, beside.createdAt)
}

/**
 * Record the unplanned instants of a renamed schedule, since no other name will: the job continues with other instants. `null`:
 * nothing is left.
 */
export function settleHeld(state: ScheduleState, context: Context): Decision | null {
  if (state.retiredAt === null || !canRead(state.definition)) return null
  const draft = begin(state, context)
  const step = (): boolean => (state.pause === null ? missRetired(draft, null) : planPaused(draft, 'skip', null))
  for (let steps = 0; steps < MAX_STEPS && step(); steps++);
  return draft.state === state ? null : finish(draft)
}

/** A rename stopped half-way, and no release goes on with it: the job has left the code under its old name. */
export function dropOldName(state: ScheduleState, by: RetireWish, context: Context): Decision | null {
  const { source, retirements } = state
  if (source.kind !== 'code' || source.app !== by.app || !isOldName(state)) return null
  const draft = begin(state, context)
  const { cause, deployment, number } = by
  set(draft, { retirements: withoutRename(retirements, { cause, deployment, number }) })
  draft.events.push({ type: 'schedule.retired', ...aboutSchedule(draft), cause, deployment })
  return finish(draft)
}

/** End the frozen fires and backfills of a retired schedule whose misfire window has passed. */
export function endFrozen(draft: Draft): void {
  const { retiredAt, backfills, definition } = draft.state
  if (retiredAt === null) return
  const { now } = draft.context
  if (backfills.length > 0 && frozenUntil(retiredAt, definition.policy) <= now) set(draft, { backfills: [] })
  for (const fire of draft.open.filter((open) => !isRunning(open))) {
    if (frozenUntil(retiredAt, choicesOfFire(draft, fire)) <= now) endFire(draft, fire, ending('retired'))
  }
}

/** A schedule that had left the code, or was to get another name, goes on as `renamedTo`: what waits under the old name runs there. */
export function adopt(state: ScheduleState, renamedTo: string, context: Context): Decision | null {
  const last = state.retirements?.at(-1)
  if (state.retiredAt === null || last === undefined || isRenamedTo(state, renamedTo)) return null
  const draft = begin(state, context)
  set(draft, { retirements: [...state.retirements!.slice(0, -1), { ...last, renamedTo }] })
  return finish(draft)
}

/** The name that a schedule was to get is lost: its job goes on under the old one, and the misfire policy decides about what came due since. */
export function takeBack(state: ScheduleState, context: Context): Decision | null {
  if (!isOldName(state)) return null
  const draft = begin({ ...state, retirements: withoutRename(state.retirements, { cause: 'absent' }) }, context)
  comeBack(draft, state.retiredAt!, undefined)
  return finish(draft)
}
