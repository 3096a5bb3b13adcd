import type { Policy, RetryPolicy } from '../model/policy.ts'
import type { Instant, OpenFire } from '../model/schedule.ts'

/** How long to wait after so many failures. Chance only shortens it: the cap is a promise. */
export function backoffMs(policy: RetryPolicy, failures: number, random: number): number {
  const grown = policy.baseMs * policy.factor ** (failures - 1)
  // Zero times infinity is no number; a delay of nothing stays nothing.
  const delay = Number.isNaN(grown) ? 0 : Math.min(policy.capMs, grown)
  return Math.max(0, Math.round(delay * (1 - policy.jitter * random)))
}

/**
 * No run of the fire may begin after this, once it has been run. What was planned long after its instant on purpose (a
 * backfill, a retry by an operator, a resume) counts from then: it would be too late before its first run. Likewise, unless
 * the policy names a deadline, for the first run of what had to wait for its turn: a crash of that must not be the end.
 */
export function deadlineOf(fire: OpenFire, policy: Policy): Instant {
  const { windowMs } = policy.misfire
  const { deadlineMs } = policy.retry
  const isOnPurpose = fire.kind !== 'scheduled' || fire.round > 1 || fire.plannedAt - fire.dueAt > windowMs
  const from = isOnPurpose ? fire.plannedAt : fire.dueAt
  if (deadlineMs !== null) return from + deadlineMs
  return (fire.attempt === 1 && fire.run !== null ? Math.max(from, fire.run.startedAt) : from) + windowMs
}
