import type { ScheduleView } from 'cronce'
import { upcomingInstants } from 'cronce/internal'

/** A due time that has just passed is not overdue, however short the period is. */
const SHORTEST_MS = 60_000

/**
 * When a schedule has been without a success for one and a half periods: half a period after the due time that follows its last success,
 * and a minute at least. It counts from when it was created, changed or returned, if that is later. `null`: no success is expected.
 */
export function overdueAt(schedule: ScheduleView): number | null {
  const { state, trigger, last, createdAt, updatedAt, retirements } = schedule
  if (state !== 'active' || trigger === null) return null
  const since = Math.max(createdAt, updatedAt, retirements.at(-1)?.to ?? 0)
  const succeededAt = last.succeededDueAt ?? 0
  const base = Math.max(since, succeededAt)
  const rule = { ...schedule, nextAt: base, pause: null, limit: null, skipped: [] }
  const following = upcomingInstants(rule, { from: base + 1, to: Number.POSITIVE_INFINITY })
  const next = following.next().value ?? null
  if (next === null) return null
  const periodMs = base === succeededAt ? next - base : (following.next().value ?? next) - next
  return next + Math.max(periodMs / 2, SHORTEST_MS)
}
