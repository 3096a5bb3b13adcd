import { DEFAULT_POLICY } from '../../model/policy.ts'
import type { Instant, OpenRun, ScheduleState } from '../../model/schedule.ts'
import { isOnTime } from '../../policy/plan/misfire.ts'
import { skipsOverlap } from '../../policy/plan/plain-fire.ts'
import { isRunning } from '../../policy/records.ts'
import type { Core } from '../core.ts'
import type { LocalRun } from '../run/run-table.ts'

/** How long a due time is left to the end of a run that is expected soon. */
const SOON_MS = 1_000

/**
 * Whether to leave a due schedule until its open run has ended. Its next instant would be skipped, or wait, because of a run that is over
 * and not settled yet, or that has not started: the fleet is slow, not the job. The misfire policy judges what is left for too long.
 */
export function awaitsEnd(core: Core, state: ScheduleState, now: Instant): boolean {
  const { nextAt, wakeAt, open, definition } = state
  const [fire] = open
  if (open.length !== 1 || nextAt === null || wakeAt !== nextAt || !skipsOverlap(definition.policy)) return false
  const { misfire = DEFAULT_POLICY.misfire } = definition.policy
  if (!isRunning(fire!) || !isOnTime(misfire, now - nextAt)) return false
  const own = core.runs.find(state.id, fire.run.token)
  if (own !== undefined && !own.isExecuting) return true
  return endsSoon(fire.run, nextAt, now) && (nextAt <= fire.plannedAt || isLeftToPeer(core, state, own))
}

/** A peer that is to plan the schedule has not done so, maybe because it holds the run and knows that it is over. */
function isLeftToPeer(core: Core, state: ScheduleState, own: LocalRun | undefined): boolean {
  return own === undefined && !core.transient && !core.nextLook.isMine(state)
}

function endsSoon({ startedAt, parkedUntil }: OpenRun, nextAt: Instant, now: Instant): boolean {
  return parkedUntil === undefined && now - Math.max(nextAt, startedAt) < SOON_MS
}
