import { DAY_MS, formatWall, offsetAt } from './format.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const times = (unit: number, ...counts: readonly number[]): number[] => counts.map((count) => count * unit)
/** Steps that people count in. */
const STEPS: readonly number[] = [
  ...times(1, 1, 2, 5, 10, 20, 50, 100, 200, 500),
  ...times(SECOND_MS, 1, 2, 5, 10, 15, 30),
  ...times(MINUTE_MS, 1, 2, 5, 10, 15, 30),
  ...times(HOUR_MS, 1, 2, 3, 6, 12),
  ...times(DAY_MS, 1, 2, 7, 14, 28),
]

function stepFor(spanMs: number, most: number): number {
  return STEPS.find((step) => spanMs / step <= most) ?? Math.ceil(spanMs / most / DAY_MS) * DAY_MS
}

export interface Tick {
  readonly at: number
  readonly label: string
}

/** Round times of the wall clock between two instants. */
export function timeTicks(from: number, to: number, zone: string, most: number): readonly Tick[] {
  const step = Math.max(SECOND_MS, stepFor(to - from, most))
  const ticks: Tick[] = []
  const first = Math.ceil((from + offsetAt(from, zone)) / step) * step
  for (let wall = first; ticks.length <= most; wall += step) {
    // The offset at the tick itself: the clock may change in between.
    const at = wall - offsetAt(wall - offsetAt(from, zone), zone)
    if (at > to) break
    ticks.push({ at, label: labelOf(formatWall(at, zone), step) })
  }
  return ticks
}

function labelOf(wall: string, step: number): string {
  const isMidnight = wall.endsWith('00:00:00')
  if (step >= DAY_MS || isMidnight) return wall.slice(5, 10)
  return wall.slice(11, step < MINUTE_MS ? 19 : 16)
}

/** Round durations from 0 on. */
export function durationTicks(spanMs: number, most: number): readonly number[] {
  const step = stepFor(spanMs, most)
  return Array.from({ length: Math.floor(spanMs / step) + 1 }, (_, index) => index * step)
}
