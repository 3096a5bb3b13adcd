import type { Load, Start } from './protocol.ts'
import { quantile } from './statistics.ts'

export interface Late {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  /** For plots: percent of the fires, and the lateness that they do not exceed. */
  readonly quantilesMs?: readonly (readonly [percent: number, ms: number])[]
}

const PERCENTS = [1, 5, ...Array.from({ length: 18 }, (_, index) => 10 + index * 5), 97, 98, 99, 99.5, 100]

export function lateOf(starts: readonly Start[]): Late {
  const late = starts.map(([, , lateMs]) => lateMs)
  return {
    ...{ p50Ms: quantile(late, 0.5), p99Ms: quantile(late, 0.99), maxMs: quantile(late, 1) },
    quantilesMs: late.length === 0 ? [] : PERCENTS.map((percent) => [percent, quantile(late, percent / 100)] as const),
  }
}

/** Of a fire that started several times, the earliest. */
export function firstStarts(starts: readonly Start[]): Start[] {
  const firsts = new Map<string, Start>()
  for (const start of starts) {
    const key = `${start[0]} ${start[1]}`
    const known = firsts.get(key)
    if (known === undefined || start[2] < known[2]) firsts.set(key, start)
  }
  return [...firsts.values()]
}

/** Each exactly once. */
export function onceFaults(starts: readonly Start[], count: number): string[] {
  const distinct = new Set(starts.map(([number]) => number))
  const faults: string[] = []
  if (distinct.size < count) faults.push(`${count - distinct.size} of ${count} never started`)
  if (starts.length > distinct.size) faults.push(`${starts.length - distinct.size} started twice`)
  return faults
}

/** Every schedule once at every instant that lies within. */
export function repeatedFaults(
  starts: readonly Start[],
  fires: number,
  load: Load,
  from: number,
  to: number,
): string[] {
  const intervalMs = load.kind === 'together' ? load.intervalMs : 1_000
  const least = Math.floor((to - from) / intervalMs) * load.count
  const faults: string[] = []
  if (fires < least) faults.push(`${least - fires} of ${least} fires did not run`)
  if (starts.length > fires) faults.push(`${starts.length - fires} runs too many of ${fires} fires`)
  return faults
}
