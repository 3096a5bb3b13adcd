import { DEFAULT_POLICY } from '../../model/policy.ts'
import type { Definition, Instant, ScheduleState } from '../../model/schedule.ts'
import { trigger } from '../../trigger/from-data.ts'
import { jittered } from './jitter.ts'

/** The instants of a schedule within its start and end. */
export interface Series {
  /** The first instant after `after`. */
  next(after: Instant): Instant | null
  /** When the fire of an instant may start. */
  readyAt(dueAt: Instant): Instant
}

/** Ignores the limit, which depends on how many were counted. */
export function seriesOf(id: string, definition: Definition): Series {
  const { start, end } = definition
  const timeline = definition.trigger === null ? null : trigger(definition.trigger)
  const next = (after: Instant): Instant | null => {
    const at = timeline?.next(start === null ? after : Math.max(after, start - 1)) ?? null
    return at === null || (end !== null && at >= end) ? null : at
  }
  const { jitter = DEFAULT_POLICY.jitter } = definition.policy
  return {
    next,
    readyAt: (dueAt) => (jitter.ms === 0 ? dueAt : jittered(jitter, id, dueAt, next(dueAt))),
  }
}

/** False for a time zone, or a kind of trigger, that only a newer runtime knows: this runtime cannot compute its instants. */
export function canRead({ trigger: data }: Definition): boolean {
  try {
    if (data !== null) trigger(data)
    return true
  } catch {
    return false
  }
}

/**
 * `Series.readyAt` without a series: without jitter the trigger is not needed. If this runtime cannot read the trigger, an instance
 * looks at the due time, so that a run that has begun can still be settled.
 */
export function readyAtOf(id: string, definition: Definition, dueAt: Instant): Instant {
  const { jitter = DEFAULT_POLICY.jitter } = definition.policy
  return jitter.ms === 0 || !canRead(definition) ? dueAt : seriesOf(id, definition).readyAt(dueAt)
}

/** The instant that follows, unless the schedule's limit is used up. */
export function nextOf(series: Series, definition: Definition, fired: number, after: Instant): Instant | null {
  return definition.limit !== null && fired >= definition.limit ? null : series.next(after)
}

/** The instant that the schedule will fire at next: what was skipped ahead of time is on record. */
export function nextUnskipped(state: ScheduleState, series: Series, after: Instant): Instant | null {
  let at = nextOf(series, state.definition, state.fired, after)
  while (at !== null && state.skipped?.includes(at)) at = series.next(at)
  return at
}

/** The mark: every instant up to here has been decided. */
export function markOf(state: Pick<ScheduleState, 'plannedTo' | 'nextAt' | 'updatedAt'>): Instant {
  return state.plannedTo ?? (state.nextAt ?? state.updatedAt + 1) - 1
}

/** The version of zone data that the instants of a definition depend on; `null`: none. */
export function zoneDataOf(definition: Definition, zoneData: string): string | null {
  if (definition.trigger?.kind !== 'cron') return null
  const timeline = trigger(definition.trigger)
  const isZoned = timeline.kind === 'cron' && timeline.tz !== 'UTC' && !/^[+-]/.test(timeline.tz)
  return isZoned ? zoneData : null
}
