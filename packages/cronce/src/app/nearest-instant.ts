import type { Timeline } from '../trigger/trigger.ts'

export interface NearestInstant {
  /** The nearest instant. */
  readonly dueAt: number
  /** Time until then; 0 if it has come. */
  readonly waitMs: number
}

/** Longest distance from its instant for a caller that does not name one. */
export const NEAREST_TOLERANCE_MS = 60_000

/**
 * Which instant a caller means by "now": a crontab line, a CronJob, a scheduler that delivers no due time. It may be just ahead,
 * since a host whose clock is one second fast must not get the slot before. `null`: none is clearly the nearest, and a wrong
 * guess would run one instant twice and skip another.
 */
export function nearestInstant(
  trigger: Timeline,
  now: number,
  toleranceMs: number = NEAREST_TOLERANCE_MS,
): NearestInstant | null {
  const before = trigger.prev(now + 1)
  const after = trigger.next(now)
  const sinceMs = before === null ? Number.POSITIVE_INFINITY : now - before
  const untilMs = after === null ? Number.POSITIVE_INFINITY : after - now
  const dueAt = sinceMs <= untilMs ? before : after
  if (dueAt === null) return null
  const distanceMs = Math.min(sinceMs, untilMs)
  if (distanceMs > toleranceMs || distanceMs * 2 >= gapAround(trigger, dueAt)) return null
  return { dueAt, waitMs: Math.max(0, dueAt - now) }
}

/** Distance to the nearer neighbor. */
function gapAround(trigger: Timeline, at: number): number {
  const previous = trigger.prev(at)
  const next = trigger.next(at)
  return Math.min(
    previous === null ? Number.POSITIVE_INFINITY : at - previous,
    next === null ? Number.POSITIVE_INFINITY : next - at,
  )
}
