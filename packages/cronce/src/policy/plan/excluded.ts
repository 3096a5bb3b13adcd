import { type Ending, ending } from '../../model/outcome.ts'
import type { Definition, Instant, ScheduleState } from '../../model/schedule.ts'
import { trigger } from '../../trigger/from-data.ts'
import type { CronData, ExcludedTimes } from '../../trigger/trigger.ts'
import { canRead, markOf } from './series.ts'

/** The instants that the calendar of a schedule excludes. They are recorded as skipped. */
export interface Excluded {
  readonly times: ExcludedTimes
  /** The first one after `after`. */
  next(after: Instant): Instant | null
  endingOf(at: Instant): Ending
}

/** `null`: it has no calendar. Only where `canRead` is true. */
export function excludedOf({ trigger: data, start, end }: Definition): Excluded | null {
  if (!hasCalendar({ trigger: data })) return null
  const timeline = trigger(data!)
  const times = timeline.kind === 'cron' ? timeline.excluded : null
  if (times === null) return null
  return {
    times,
    next: (after) => {
      const at = times.next(start === null ? after : Math.max(after, start - 1))
      return at === null || (end !== null && at >= end) ? null : at
    },
    endingOf: (at) => ending('calendar', times.why(at)),
  }
}

export function hasCalendar({ trigger: data }: Pick<Definition, 'trigger'>): boolean {
  return data?.kind === 'cron' && data.calendar !== undefined
}

/**
 * When the excluded instants after the mark are recorded: those of a day together, with the last one. A job of every minute would
 * otherwise write a record a minute.
 */
export function excludedWakeAt(state: ScheduleState): Instant | null {
  const { definition } = state
  if (!hasExcluded(state) || !canRead(definition)) return null
  const excluded = excludedOf(definition)
  const first = excluded?.next(markOf(state)) ?? null
  if (excluded === null || first === null) return null
  const last = excluded.times.lastOfDay(first - 1) ?? first
  return definition.end === null || last < definition.end ? last : Math.max(first, excluded.times.prev(definition.end)!)
}

/** Whether the calendar may exclude further instants: beyond its limit of fires a schedule has none. */
export function hasExcluded({ definition, fired }: ScheduleState): boolean {
  return hasCalendar(definition) && !isUsedUp(definition, fired)
}

/** The trigger of a range of excluded instants. */
export function rangeOf(data: CronData): CronData {
  return { ...data, calendar: { ...data.calendar!, only: 'excluded' } }
}

/** The last instant that may be recorded as excluded, if the fires before `nextAt` are planned. */
export function excludedUntil(definition: Definition, fired: number, to: Instant, nextAt: Instant | null): Instant {
  if (nextAt !== null) return nextAt - 1
  // What follows its last fire is not the schedule's if the limit ended it, and still is if the expression did.
  return isUsedUp(definition, fired) ? to : Number.POSITIVE_INFINITY
}

function isUsedUp({ limit }: Definition, fired: number): boolean {
  return limit !== null && fired >= limit
}
