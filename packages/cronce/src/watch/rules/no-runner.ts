import { needsInstance } from '../../client/exec-app.ts'
import type { ScheduleFacts, Verdict } from './facts.ts'
import { hasRunner } from './overdue.ts'
import type { ThresholdOf } from './thresholds.ts'

/** The job of an active schedule is on no live instance. Held for a while: a deployment stops instances before it starts others. */
export function noRunner({ schedule, instances }: ScheduleFacts, { afterMs }: ThresholdOf<'no-runner'>): Verdict {
  if (schedule.state !== 'active' || !needsInstance(schedule) || hasRunner(schedule, instances)) return 'fine'
  return { text: `its job ${schedule.job} is on no live instance`, holdMs: afterMs }
}
