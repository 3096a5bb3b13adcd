import type { Finding } from './invariants/report.ts'
import type { Outcome } from './simulate.ts'

/** What many seeds came to. */
export interface Tally {
  seeds: number
  fires: number
  events: number
  simulatedMs: number
  readonly counters: Record<string, number>
  readonly faults: Record<string, number>
  /** The first of each seed that has any. */
  readonly violations: (Finding & { readonly seed: number })[]
}

export function emptyTally(): Tally {
  return { seeds: 0, fires: 0, events: 0, simulatedMs: 0, counters: {}, faults: {}, violations: [] }
}

export function tallyOf({ seed, fires, events, simulatedMs, counters, history, violations }: Outcome): Tally {
  const faults: Record<string, number> = {}
  for (const entry of history.entries) if (entry.kind === 'fault') faults[entry.fault] = (faults[entry.fault] ?? 0) + 1
  const found = violations.slice(0, 1).map((violation) => ({ seed, ...violation }))
  return { seeds: 1, fires, events, simulatedMs, counters, faults, violations: found }
}

export function addTally(sum: Tally, one: Tally): void {
  sum.seeds += one.seeds
  sum.fires += one.fires
  sum.events += one.events
  sum.simulatedMs += one.simulatedMs
  addCounts(sum.counters, one.counters)
  addCounts(sum.faults, one.faults)
  sum.violations.push(...one.violations)
}

function addCounts(sum: Record<string, number>, counts: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count
}
