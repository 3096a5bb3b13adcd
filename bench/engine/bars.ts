import { median } from '../shared/statistics.ts'
import { differenceOf, moreInstructions } from './metrics-plan.ts'
import type { Results } from './report.ts'
import { ratios } from './throughput-plan.ts'
import { callsPerLook, mostRows } from './watch-plan.ts'

export interface Bar {
  readonly what: string
  readonly limit: string
  readonly measured: string
  readonly pass: boolean
}

/** Absolute figures depend on the disk and on what else runs; the ratios do not, or less. */
export function judge({ watching, overhead, throughput, bursts, fleets, scales }: Results): Bar[] {
  const alone = throughput.filter(({ options }) => options.instances === 1 && options.concurrency !== 20)
  const rate = (store: string) => {
    const found = alone.find(({ options }) => options.store === store)!
    return median(found.rounds.map(({ firesPerSecond }) => firesPerSecond))
  }
  const onSqlite = ratios(alone.find(({ options }) => options.store === 'sqlite')!)!
  const burst = bursts.find(({ options }) => options.store === 'sqlite' && options.instances === 4)!
  const costs = fleets.map(({ callsPerFire }) => callsPerFire)
  const files = scales.filter(({ store }) => store === 'sqlite')
  return [
    ...watching.flatMap((one) => [
      atMost(`watchdog, ${one.store}, 100,000 schedules: store calls a minute`, 1, callsPerLook(one)),
      atMost(`watchdog, ${one.store}, 100,000 schedules: rows read in a minute`, 1_000, mostRows(one)),
    ]),
    // Of CPU time the upper end: a measurement that is too noisy to tell does not pass.
    moreInstructions(overhead) === null
      ? atMost('metrics: more CPU per fire, % (with 95 % confidence)', 3, differenceOf(overhead, 'measured').to)
      : atMost('metrics: more instructions per fire, %', 3, moreInstructions(overhead)!),
    atLeast('memory, one instance: fires/s', 20_000, rate('memory')),
    atLeast('SQLite, one process: fires/s', 4_000, rate('sqlite')),
    atLeast('SQLite, one process: fires per single commit of SQLite itself', 1, onSqlite.single),
    atMost('SQLite, 4 processes, burst of 10,000: last one started, ms', 5_000, burst.lastStartMs),
    atMost('store calls per fire, largest fleet to one instance', 1.2, costs.at(-1)! / costs[0]!),
    atMost('SQLite: heap of an instance, most schedules to fewest', 1.2, files.at(-1)!.heapBytes / files[0]!.heapBytes),
    atMost('SQLite: one look, most schedules to fewest', 2, files.at(-1)!.lookP50Ms / files[0]!.lookP50Ms),
  ]
}

function atLeast(what: string, limit: number, measured: number): Bar {
  return { what, limit: `≥ ${limit.toLocaleString('en-US')}`, measured: rounded(measured), pass: measured >= limit }
}

function atMost(what: string, limit: number, measured: number): Bar {
  return { what, limit: `≤ ${limit.toLocaleString('en-US')}`, measured: rounded(measured), pass: measured <= limit }
}

function rounded(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toPrecision(3)
}
