import type { Policy, RetryPolicy } from '../../model/policy.ts'
import type { Instant } from '../../model/schedule.ts'
import type { RunningFire } from '../records.ts'

/** How long to wait after this number of failures. Jitter only shortens the wait: the cap is a promise. */
export function backoffMs(policy: RetryPolicy, failures: number, random: number): number {
  const grown = policy.baseMs * policy.factor ** (failures - 1)
  // Zero times infinity is not a number; a delay of nothing stays nothing.
  const delay = Number.isNaN(grown) ? 0 : Math.min(policy.capMs, grown)
  return Math.max(0, Math.round(delay * (1 - policy.jitter * random)))
}

/**
 * No run of the fire may begin after this, once it has been run. Decided when it first has to be run again. What was planned
 * long after its instant on purpose (a backfill, a retry by an operator, a resume) counts from then: it would be too late before
 * its first run. Likewise, unless the policy names a deadline, what had to wait for its turn counts from its first run.
 */
export function deadlineOf(fire: RunningFire, policy: Policy): Instant {
  if (fire.giveUp !== undefined) return fire.giveUp.at
  const { windowMs } = policy.misfire
  const { deadlineMs } = policy.retry
  const isOnPurpose = fire.kind !== 'scheduled' || fire.round > 1 || fire.plannedAt - fire.dueAt > windowMs
  const from = isOnPurpose ? fire.plannedAt : fire.dueAt
  // Work that goes on elsewhere may take longer than the window: what counts is when that time was up.
  const { startedAt, parkedUntil = startedAt } = fire.run
  return deadlineMs === null ? Math.max(from, parkedUntil) + windowMs : from + deadlineMs
}
