import type { Instant, RunningFire } from '../../model/schedule.ts'
import type { Draft } from '../draft.ts'
import { changeFire, freezeFire } from '../fires.ts'

/**
 * Whether this run was claimed ahead, as far as the state tells: it is planned and started as of its due time. A run that was claimed in
 * the very millisecond that it was due looks the same.
 */
export function isClaimedAhead({ kind, round, attempt, dueAt, plannedAt, run }: RunningFire): boolean {
  return kind === 'scheduled' && round === 1 && attempt === 1 && plannedAt === dueAt && run.startedAt === dueAt
}

/** The fire as it is recorded. A run that was claimed ahead counts as planned and started when its handler was called. */
export function withStart(fire: RunningFire, startedAt: Instant | undefined): RunningFire {
  if (startedAt === undefined || startedAt === fire.run.startedAt) return fire
  return { ...fire, plannedAt: startedAt, run: { ...fire.run, startedAt } }
}

/** A run that was claimed ahead and never started leaves no trace: its fire waits as if it had not been claimed yet. */
export function putBack(draft: Draft, fire: RunningFire): void {
  const waiting = { ...fire, attempt: 0, run: null }
  changeFire(draft, fire, waiting)
  if (draft.state.pause !== null) freezeFire(draft, waiting)
}
