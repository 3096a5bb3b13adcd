import { trigger } from '../trigger/from-data.ts'
import type { ScheduleView } from './views.ts'

export interface Stretch {
  /** Included. */
  readonly from: number
  /** Not included. */
  readonly to: number
}

/**
 * The instants at which a schedule will fire if no operator changes it: without those inside its pause, those that an operator
 * skipped, and those beyond its end or its limit. The first one has passed if no instance has planned it yet. `null` stands for an
 * instant that was computed and left out, so that the caller can bound the work.
 */
export function* upcomingInstants(schedule: ScheduleView, stretch: Stretch): Generator<number | null, void, undefined> {
  const { nextAt, limit, fired, skipped } = schedule
  if (schedule.trigger === null || nextAt === null || isStopped(schedule)) return
  const line = trigger(schedule.trigger)
  const { from: earliest, to: before } = within(schedule, stretch)
  // With a limit, instants inside the pause and before `from` have to be counted.
  let at = limit === null && earliest > nextAt ? line.next(earliest - 1) : nextAt
  let left = limit === null ? Number.POSITIVE_INFINITY : limit - fired
  for (; at !== null && at < before && left > 0; at = line.next(at)) {
    // `fired` already counts what was skipped.
    const isSkipped = skipped.includes(at)
    if (!isSkipped) left--
    yield isSkipped || at < earliest ? null : at
  }
}

/** The part of the stretch that lies behind the pause and before the end of the schedule. */
function within({ pause, endAt }: ScheduleView, { from, to }: Stretch): Stretch {
  return {
    from: Math.max(from, pause?.untilAt ?? Number.NEGATIVE_INFINITY),
    to: Math.min(to, endAt ?? Number.POSITIVE_INFINITY),
  }
}

/** Retired, or paused until an operator resumes it. */
function isStopped({ retiredAt, pause }: ScheduleView): boolean {
  return retiredAt !== null || (pause !== null && pause.untilAt === null)
}
