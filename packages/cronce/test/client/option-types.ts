import { parseDuration } from '../../src/duration.ts'
import type { Duration } from '../../src/index.ts'

export type { Duration, JobOptions, NewSchedule } from '../../src/index.ts'

export function parseDurations(durations: readonly Duration[]): readonly (number | null)[] {
  return durations.map((duration) => parseDuration(duration))
}
