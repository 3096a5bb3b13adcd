import type { Instant, RunningFire } from '../../model/schedule.ts'
import type { Draft } from '../draft.ts'
import { changeFire, freezeFire } from '../fires.ts'

/** The run was claimed before its fire was due. Only first runs are. */
export function isClaimedAhead({ attempt, dueAt, plannedAt }: RunningFire): boolean {
  return attempt === 1 && plannedAt < dueAt
}

/** The fire with the time at which its handler was called, where the state only has the planned start. */
export function withStart(fire: RunningFire, startedAt: Instant | undefined): RunningFire {
  if (startedAt === undefined || startedAt === fire.run.startedAt) return fire
  return { ...fire, run: { ...fire.run, startedAt } }
}

/** A run that was claimed ahead and never started leaves no trace: its fire waits as if it had not been claimed yet. */
export function putBack(draft: Draft, fire: RunningFire): void {
  const waiting = { ...fire, plannedAt: fire.dueAt, attempt: 0, run: null }
  changeFire(draft, fire, waiting)
  if (draft.state.pause !== null) freezeFire(draft, waiting)
}
