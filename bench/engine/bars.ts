import { atLeast, atMost, type Bar } from '../shared/bars.ts'
import { median } from '../shared/statistics.ts'
import { differenceOf } from './metrics-plan.ts'
import type { Results } from './report.ts'
import { ratios } from './throughput-plan.ts'
import { callsPerLook, mostRows } from './watch-plan.ts'

/**
 * Absolute figures depend on the disk and on what else runs; the ratios do not, or less. Bars of parts that were not measured are left
 * out.
 */
export function judge(results: Results): Bar[] {
  const { watch = [], metrics, bursts = [], fleets = [] } = results
  const costs = fleets.map(({ callsPerFire }) => callsPerFire)
  return [
    ...watch.flatMap((one) => [
      atMost(`watchdog, ${one.store}, 100,000 schedules: store calls a minute`, 1, callsPerLook(one)),
      atMost(`watchdog, ${one.store}, 100,000 schedules: rows read in a minute`, 1_000, mostRows(one)),
    ]),
    // Of CPU time the upper end: a measurement that is too noisy to tell does not pass.
    ...(metrics === undefined
      ? []
      : [atMost('metrics: more CPU per fire, % (with 95 % confidence)', 3, differenceOf(metrics, 'measured').to)]),
    ...rateBars(results),
    ...bursts
      .filter(({ options }) => options.store === 'sqlite' && options.instances === 4)
      .map((burst) => atMost('SQLite, 4 processes, burst of 10,000: last one started, ms', 5_000, burst.lastStartMs)),
    ...(costs.length < 2
      ? []
      : [atMost('store calls per fire, largest fleet to one instance', 1.2, costs.at(-1)! / costs[0]!)]),
    ...scaleBars(results),
  ]
}

function rateBars({ throughput = [] }: Results): Bar[] {
  if (throughput.length === 0) return []
  const alone = throughput.filter(({ options }) => options.instances === 1 && options.concurrency !== 20)
  const rate = (store: string) => {
    const found = alone.find(({ options }) => options.store === store)!
    return median(found.rounds.map(({ firesPerSecond }) => firesPerSecond))
  }
  const onSqlite = ratios(alone.find(({ options }) => options.store === 'sqlite')!)!
  return [
    atLeast('memory, one instance: fires/s', 20_000, rate('memory')),
    atLeast('SQLite, one process: fires/s', 4_000, rate('sqlite')),
    atLeast('SQLite, one process: fires per single commit of SQLite itself', 1, onSqlite.single),
  ]
}

function scaleBars({ scales = [] }: Results): Bar[] {
  const files = scales.filter(({ store }) => store === 'sqlite')
  if (files.length < 2) return []
  return [
    atMost('SQLite: heap of an instance, most schedules to fewest', 1.2, files.at(-1)!.heapBytes / files[0]!.heapBytes),
    atMost('SQLite: one look, most schedules to fewest', 2, files.at(-1)!.lookP50Ms / files[0]!.lookP50Ms),
  ]
}
