import { type Ending, ending } from '../../model/outcome.ts'
import { policyOf } from '../../model/policy.ts'
import type { Instant, OpenFire, ScheduleState } from '../../model/schedule.ts'
import { MAX_OPEN, MAX_STEPS } from '../bounds.ts'
import type { Context, Decision, Refusal } from '../decision.ts'
import { begin, type Draft, finish } from '../draft.ts'
import { keptSince } from '../end/retention.ts'
import { endUnrun, newFire, openFire } from '../fires.ts'
import { covers } from '../ledger.ts'
import { isOnTime } from '../plan/misfire.ts'
import { askedStepOf, openOnTime } from '../plan/on-time.ts'
import { isPauseOver, resumeStep } from '../plan/resume-step.ts'
import { markOf, seriesOf } from '../plan/series.ts'
import { recordOf } from '../records.ts'
import { refuseFull, refuseOld, refuseRetired } from '../refusals.ts'

/** How far ahead the clock of an external scheduler may be; a due time further ahead is refused as a mistake. */
export const AHEAD_MS = 60_000
const DAY_MS = 86_400_000

/** The schedule has a trigger and reaches this instant by itself. */
export interface ByItself {
  readonly readyAt: Instant
}

/**
 * An external scheduler says that an instant of the schedule is due. It is the same fire that the schedule itself would plan, so a
 * second delivery finds it on record. The caller has already checked that there is no record of it.
 */
export function deliver(state: ScheduleState, dueAt: Instant, context: Context): Decision | Refusal | ByItself {
  const refusal = refuse(state, dueAt, context.now)
  if (refusal !== null) return refusal
  const draft = begin(state, context)
  // An expired pause may not have been settled yet.
  for (let step = 0; isPauseOver(draft) && step < MAX_STEPS; step++) resumeStep(draft, draft.state.pause!.missed, null)
  // The instant fell into that pause, whose `missed` choice has just settled it.
  if (isSettledIn(draft, dueAt)) return finish(draft)
  // Only now: the instants of the pause may have used up the limit.
  const ended = refuseEnded(draft.state, dueAt)
  if (ended !== null) return ended
  const { nextAt, definition, skipped } = draft.state
  const isSkipped = skipped?.includes(dueAt) === true
  if (nextAt !== null && dueAt >= nextAt && !isSkipped)
    return { readyAt: seriesOf(state.id, definition).readyAt(dueAt) }
  if (draft.open.length >= MAX_OPEN) return refuseFull(state)
  // Lateness counts from when it was due, not from when it was delivered.
  const planned = newFire({ dueAt, readyAt: dueAt, plannedAt: context.now, kind: 'scheduled' })
  const fire: OpenFire = { ...planned, wait: { cause: 'asked' } }
  // An operator's decision stands, even if its record is gone.
  const end = isSkipped ? ending('skipped-by-operator') : openDelivered(draft, fire)
  if (end !== null) endUnrun(draft, recordOf(draft, fire), end)
  return finish(draft)
}

function isSettledIn(draft: Draft, dueAt: Instant): boolean {
  const isOpen = draft.open.some((fire) => fire.nonce === '' && fire.dueAt === dueAt)
  return isOpen || draft.history.some((line) => line.nonce === '' && covers(line, dueAt))
}

/** The schedule has planned all its fires, and the instant is after the last one. */
function refuseEnded(state: ScheduleState, dueAt: Instant): Refusal | null {
  const isOver = state.definition.trigger !== null && state.nextAt === null && dueAt > markOf(state)
  if (!isOver) return null
  const message = `The schedule ${state.id} has ended, and ${new Date(dueAt).toISOString()} is not one of its fires.`
  return { refused: 'INSTANT_UNKNOWN', message, hint: 'Look at its limit and its end.' }
}

/**
 * Misfire and overlap decide now, and misfire never again. During a pause it is skipped: it will not be delivered a second time.
 */
function openDelivered(draft: Draft, fire: OpenFire): Ending | null {
  const { state, context } = draft
  if (state.pause !== null) return ending('paused')
  const { misfire } = policyOf(state.definition.policy)
  if (isOnTime(misfire, context.now - fire.dueAt)) return openOnTime(draft, askedStepOf(draft), fire)
  if (misfire.late === 'skip') return ending('late')
  openFire(draft, fire)
  return null
}

function refuse(state: ScheduleState, dueAt: Instant, now: Instant): Refusal | null {
  const { id, definition } = state
  const due = new Date(dueAt).toISOString()
  if (state.retiredAt !== null) return refuseRetired(state)
  if (definition.trigger !== null && seriesOf(id, definition).next(dueAt - 1) !== dueAt) {
    const message = `${due} is not an instant of the schedule ${id}.`
    return { refused: 'INSTANT_UNKNOWN', message, hint: 'Deliver its instants, or to a schedule without a trigger.' }
  }
  if (dueAt > now + AHEAD_MS) {
    const message = `${due} is more than a minute ahead of the store's clock.`
    return { refused: 'FIRE_EARLY', message, hint: 'Deliver it when it is due.' }
  }
  const { windowMs } = policyOf(definition.policy).misfire
  // An earlier schedule of this name may have kept its records for a shorter time, but at least for a day.
  const sinceMs = dueAt < state.createdAt ? Math.min(windowMs, DAY_MS) : windowMs
  return dueAt >= Math.max(keptSince(state, now), now - sinceMs) ? null : refuseOld(dueAt)
}
