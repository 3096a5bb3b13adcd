import { policyOf } from '../../model/policy.ts'
import type { Instant, ScheduleState } from '../../model/schedule.ts'
import type { Context, Decision } from '../decision.ts'
import { shortestKeepMs } from '../end/retention.ts'
import { isRefusal } from '../refusals.ts'
import { remove } from './remove.ts'

/** Nothing of it is open, and its records have expired since it was last used. */
export function isUnused({ open, createdAt, updatedAt, last, definition }: ScheduleState, now: Instant): boolean {
  const usedAt = Math.max(createdAt, updatedAt, last.dueAt ?? createdAt)
  return open.length === 0 && now - usedAt > shortestKeepMs(policyOf(definition.policy))
}

/** Remove it if it is still unused. */
export function removeUnused(state: ScheduleState, context: Context): Decision | null {
  if (!isUnused(state, context.now)) return null
  const removed = remove(state, { force: false }, context)
  return isRefusal(removed) ? null : removed
}
