import { runFresh } from '../shared/processes.ts'
import { median } from '../shared/statistics.ts'
import { type Burst, measureBurst } from './burst-plan.ts'
import { type FleetOptions, withFile } from './fleet.ts'
import type { Floor } from './floor.ts'

/** Fires a second from end to end, while more are due than can be done. */
export interface Throughput {
  readonly options: FleetOptions
  readonly rounds: readonly Burst[]
  /** What SQLite itself did right before each round. */
  readonly floors: readonly Floor[]
}

export type Candidate = FleetOptions & { readonly count: number }

/** Round by round, so that what else the machine does hits all alike; each SQLite round has its own floor. */
export async function measureThroughput(
  candidates: readonly Candidate[],
  rounds: number,
  progress: (text: string) => void,
): Promise<Throughput[]> {
  const results = candidates.map((options) => ({ options, rounds: [] as Burst[], floors: [] as Floor[] }))
  for (let round = 0; round < rounds; round++) {
    for (const { options, rounds, floors } of results) {
      if (options.store === 'sqlite') floors.push(await measureFloor())
      const burst = await measureBurst(options, options.count)
      rounds.push(burst)
      progress(
        `${options.store}, ${options.instances} × ${options.concurrency}: ${Math.round(burst.firesPerSecond)} fires/s`,
      )
    }
  }
  return results
}

export function measureFloor(): Promise<Floor> {
  const script = new URL('./floor.ts', import.meta.url)
  return withFile((file) => runFresh<Floor>(script, [file, '1000'], 500))
}

/** Of what was done to what SQLite could have committed one by one, and of rows in batches: medians of the rounds' ratios. */
export function ratios({
  rounds,
  floors,
}: Throughput): { readonly single: number; readonly batch: number } | undefined {
  if (floors.length === 0) return undefined
  return {
    single: median(rounds.map(({ firesPerSecond }, round) => firesPerSecond / floors[round]!.singleCommits)),
    batch: median(rounds.map(({ firesPerSecond }, round) => firesPerSecond / floors[round]!.batchRows)),
  }
}
