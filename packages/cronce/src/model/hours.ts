import type { Instant } from './schedule.ts'

const HOUR_MS = 3_600_000

/** How long counts of fires are kept, by when the fires were due. */
export const COUNTS_KEPT_MS = 100 * 24 * HOUR_MS

/** When the hour began, in UTC. */
export function hourOf(at: Instant): Instant {
  return Math.floor(at / HOUR_MS) * HOUR_MS
}
