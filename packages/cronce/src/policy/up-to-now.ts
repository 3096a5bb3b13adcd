import type { MissedChoice } from '../model/schedule.ts'
import { MAX_STEPS } from './bounds.ts'
import type { Draft } from './draft.ts'
import { missWaiting, plan, planPaused } from './plan.ts'
import { isPauseOver, resumeStep } from './resume-step.ts'

/**
 * Settle every instant up to now under the rule as it is, before that rule changes. True: done. False: more than a million
 * instants are due, and they are not all settled.
 */
export function planUpToNow(draft: Draft): boolean {
  if (draft.state.retiredAt !== null) return true
  for (let step = 0; isPauseOver(draft) && step < MAX_STEPS; step++) resumeStep(draft, draft.state.pause!.missed, null)
  if (draft.state.pause !== null) return !isPauseOver(draft)
  let hasMore = true
  for (let step = 0; hasMore && step < MAX_STEPS; step++) hasMore = plan(draft, 'due', null)
  missWaiting(draft)
  return !hasMore
}

/** The same, and what a pause has held back, too: nothing will look at it any more when the pause ends. */
export function settleUpToNow(draft: Draft, missed: MissedChoice): boolean {
  if (!planUpToNow(draft)) return false
  let hasMore = draft.state.retiredAt === null && draft.state.pause !== null
  for (let step = 0; hasMore && step < MAX_STEPS; step++) hasMore = planPaused(draft, missed, null)
  return !hasMore
}
