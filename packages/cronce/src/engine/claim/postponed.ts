import type { ScheduleState } from '../../model/schedule.ts'
import type { Decision } from '../../policy/decision.ts'
import { isSuspect } from '../../policy/plan/wake.ts'

/**
 * Whether a decision only postpones a fire whose instances keep dying, because this instance is busy. It is not written: an
 * instance that is always busy, and looks first, would hide the fire from idle peers again and again.
 */
export function isOnlyPostponed(state: ScheduleState, { change, started }: Decision): boolean {
  if (started.length > 0 || change.state === null || !state.open.some(isSuspect)) return false
  const { creates, history } = change
  if (creates.length + history.length > 0) return false
  return timeless(state) === timeless(change.state)
}

/** The state without the time of the next look. */
function timeless(state: ScheduleState): string {
  return JSON.stringify({ ...state, version: 0, updatedAt: 0, wakeAt: null })
}
