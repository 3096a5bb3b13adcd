import { ending } from '../model/outcome.ts'
import { policyOf } from '../model/policy.ts'
import type { Instant, ScheduleState } from '../model/schedule.ts'
import { MAX_OPEN } from './bounds.ts'
import type { Context, Decision, Refusal } from './decision.ts'
import { begin, type Draft, finish } from './draft.ts'
import { endUnrun, newFire } from './fires.ts'
import { isOnTime } from './misfire.ts'
import { openOnTime, stepOf } from './on-time.ts'
import { recordOf } from './records.ts'
import { refuseFull, refuseRetired } from './refusals.ts'
import { keptSince } from './retention.ts'
import { seriesOf } from './series.ts'

/** Clocks of those who deliver may be ahead by so much; what is further ahead is a mistake. */
export const AHEAD_MS = 60_000

/** The schedule has a trigger and will come to this instant by itself. */
export const BY_ITSELF = 'by-itself'

/**
 * Somebody outside says that an instant of the schedule is due. It is the same fire as if the schedule had come to it itself:
 * whoever says it a second time finds it on record. The caller has looked, and found no record of it.
 */
export function deliver(state: ScheduleState, dueAt: Instant, context: Context): Decision | Refusal | typeof BY_ITSELF {
  const refusal = refuse(state, dueAt, context.now)
  if (refusal !== null) return refusal
  if (state.nextAt !== null && dueAt >= state.nextAt) return BY_ITSELF
  if (state.open.length >= MAX_OPEN) return refuseFull(state)
  const draft = begin(state, context)
  // Before its time it only waits.
  const readyAt = Math.max(context.now, dueAt)
  const fire = newFire({ dueAt, readyAt, plannedAt: context.now, kind: 'scheduled' })
  const end = endingOf(draft, dueAt) ?? openOnTime(draft, stepOf(draft), fire)
  if (end !== null) endUnrun(draft, recordOf(draft, fire), end)
  return finish(draft)
}

function endingOf({ state, context }: Draft, dueAt: Instant) {
  if (state.pause !== null) return ending('paused')
  const { misfire } = policyOf(state.definition.policy)
  return misfire.late === 'skip' && !isOnTime(misfire, context.now - dueAt) ? ending('late') : null
}

function refuse(state: ScheduleState, dueAt: Instant, now: Instant): Refusal | null {
  const { id, definition } = state
  const due = new Date(dueAt).toISOString()
  if (state.retiredAt !== null) return refuseRetired(state)
  if (definition.trigger !== null && seriesOf(id, definition).next(dueAt - 1) !== dueAt) {
    const message = `${due} is no instant of the schedule ${id}.`
    return { refused: 'INSTANT_UNKNOWN', message, hint: 'Deliver its instants, or to a schedule without a trigger.' }
  }
  if (dueAt > now + AHEAD_MS) {
    const message = `${due} is more than a minute ahead of the store's clock.`
    return { refused: 'FIRE_EARLY', message, hint: 'Deliver it when it is due.' }
  }
  const { windowMs } = policyOf(definition.policy).misfire
  if (dueAt >= Math.max(keptSince(state, now), now - windowMs)) return null
  const message = `${due} is too long ago: what ran then may be off the record, and could be run twice.`
  return { refused: 'FIRE_TOO_OLD', message, hint: 'Trigger the job with the input it needs instead.' }
}
