import { OUTCOMES, type Outcome } from '../../model/outcome.ts'
import { keepAtLeastMs, type Policy, policyOf } from '../../model/policy.ts'
import type { Instant, ScheduleState } from '../../model/schedule.ts'

/** How long records of an outcome are kept: never so short that the instant could be planned again. */
export function keepMs(policy: Policy, outcome: Outcome): number {
  const { retention } = policy
  return Math.max(retention.keepMsBy[outcome] ?? retention.keepMs, keepAtLeastMs(policy))
}

export function shortestKeepMs(policy: Policy): number {
  return Math.min(...OUTCOMES.map((outcome) => keepMs(policy, outcome)))
}

/** Whatever was due from here on is on record, if it ended: nothing older can be run again without a risk to repeat it. */
export function keptSince(state: ScheduleState, now: Instant): Instant {
  const kept = now - shortestKeepMs(policyOf(state.definition.policy))
  return state.trimmedBefore === null ? kept : Math.max(kept, state.trimmedBefore)
}
