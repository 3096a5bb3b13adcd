import type { Instant, MissedChoice } from '../../model/schedule.ts'
import { MAX_STEPS } from '../bounds.ts'
import type { Draft } from '../draft.ts'
import { missWaiting, plan, planPaused } from './plan.ts'
import { isPauseOver, resumeStep } from './resume-step.ts'
import { canRead } from './series.ts'

/**
 * Plan every instant up to now, or before `end`, under the current rule, before it changes. True: done. False: more than a million
 * instants are due, and not all are planned.
 */
export function planUpToNow(draft: Draft, end: Instant | null = null): boolean {
  // This runtime cannot read the trigger, so it cannot plan the instants; changing or removing the schedule must still work.
  if (draft.state.retiredAt !== null || !canRead(draft.state.definition)) return true
  for (let step = 0; isPauseOver(draft) && step < MAX_STEPS; step++) resumeStep(draft, draft.state.pause!.missed, null)
  if (draft.state.pause !== null) return !isPauseOver(draft)
  let hasMore = true
  for (let step = 0; hasMore && step < MAX_STEPS; step++) hasMore = plan(draft, 'due', null, Infinity, end)
  missWaiting(draft)
  return !hasMore
}

/** Also plans what a pause has held back: no instance looks at those instants when the pause ends. */
export function settleUpToNow(draft: Draft, missed: MissedChoice): boolean {
  if (!planUpToNow(draft)) return false
  const { retiredAt, pause, definition } = draft.state
  let hasMore = retiredAt === null && pause !== null && canRead(definition)
  for (let step = 0; hasMore && step < MAX_STEPS; step++) hasMore = planPaused(draft, missed, null)
  return !hasMore
}
