import { OUTCOMES, type Outcome } from '../../model/outcome.ts'
import { keepAtLeastMs, type Policy, policyOf } from '../../model/policy.ts'
import type { Instant, ScheduleState } from '../../model/schedule.ts'

/** How long records of an outcome are kept: always long enough that the instant can't be planned again. */
export function keepMs(policy: Policy, outcome: Outcome): number {
  const { retention } = policy
  return Math.max(retention.keepMsBy[outcome] ?? retention.keepMs, keepAtLeastMs(policy))
}

export function shortestKeepMs(policy: Policy): number {
  return Math.min(...OUTCOMES.map((outcome) => keepMs(policy, outcome)))
}

/** Every fire that was due since then and has ended is on record. Running an older instant again might repeat it. */
export function keptSince(state: ScheduleState, now: Instant): Instant {
  const kept = now - shortestKeepMs(policyOf(state.definition.policy))
  return state.trimmedBefore === null ? kept : Math.max(kept, state.trimmedBefore)
}
