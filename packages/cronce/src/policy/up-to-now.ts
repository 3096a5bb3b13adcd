import { MAX_STEPS } from './bounds.ts'
import type { Draft } from './draft.ts'
import { missWaiting, plan } from './plan.ts'

/**
 * Settle every instant up to now under the rule as it is, before that rule changes. True: done. False: more than a million
 * instants are due, and they are not all settled.
 */
export function planUpToNow(draft: Draft): boolean {
  if (draft.state.retiredAt !== null || draft.state.pause !== null) return true
  let hasMore = true
  for (let step = 0; hasMore && step < MAX_STEPS; step++) hasMore = plan(draft, 'due', null)
  missWaiting(draft)
  return !hasMore
}
