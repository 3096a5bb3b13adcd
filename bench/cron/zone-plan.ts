import { runFresh } from '../shared/processes.ts'
import { median } from '../shared/statistics.ts'
import type { ZoneTables } from './zone-tables.ts'

/** First use of a zone, over several fresh processes: each figure is their median. */
export interface ZoneTimes {
  readonly zones: number
  readonly processes: number
  readonly medianMs: number
  readonly maxMs: number
  readonly slowest: string
  readonly firstMs: number
}

export async function measureZones(processes: number): Promise<ZoneTimes> {
  const runs: ZoneTables[] = []
  for (let i = 0; i < processes; i++)
    runs.push(await runFresh<ZoneTables>(new URL('./zone-tables.ts', import.meta.url), [], 1_000))
  return {
    zones: runs[0]!.each.length + 1,
    processes,
    medianMs: median(runs.map((run) => median(run.each))),
    maxMs: median(runs.map((run) => Math.max(...run.each))),
    slowest: runs[0]!.slowest,
    firstMs: median(runs.map((run) => run.first)),
  }
}
