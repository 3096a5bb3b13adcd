import type { Policy, RetryPolicy } from '../../model/policy.ts'
import type { Instant } from '../../model/schedule.ts'
import type { RunningFire } from '../records.ts'

/** How long to wait after this number of failures. Jitter only shortens the wait: the cap is a promise. */
export function backoffMs(policy: RetryPolicy, failures: number, random: number): number {
  const grown = policy.baseMs * policy.factor ** (failures - 1)
  // Zero times infinity is NaN; a delay of zero stays zero.
  const delay = Number.isNaN(grown) ? 0 : Math.min(policy.capMs, grown)
  return Math.max(0, Math.round(delay * (1 - policy.jitter * random)))
}

/**
 * No attempt may start after this time, once the fire has run. Decided at the first retry. Fires that were planned long after
 * their instant on purpose (a backfill, an operator's retry, a resume) count from then. Unless the policy names a deadline, fires
 * that waited for their turn count from their first run.
 */
export function deadlineOf(fire: RunningFire, policy: Policy): Instant {
  if (fire.giveUp !== undefined) return fire.giveUp.at
  const { windowMs } = policy.misfire
  const { deadlineMs } = policy.retry
  const isOnPurpose = fire.kind !== 'scheduled' || fire.round > 1 || fire.plannedAt - fire.dueAt > windowMs
  const from = isOnPurpose ? fire.plannedAt : fire.dueAt
  // Work that continues elsewhere may take longer than the window: the time of its deadline counts.
  const { startedAt, parkedUntil = startedAt } = fire.run
  return deadlineMs === null ? Math.max(from, parkedUntil) + windowMs : from + deadlineMs
}
