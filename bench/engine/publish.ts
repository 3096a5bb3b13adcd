import type { Plot } from '../../scripts/reports/plot.ts'
import type { Bar } from '../shared/bars.ts'
import type { BenchCommand } from '../shared/command-line.ts'
import { ENGINE_PATHS, publish } from '../shared/publish.ts'
import { median } from '../shared/statistics.ts'
import { nameOf, type Part, type Results, report } from './report.ts'

const COVERS = [
  ...ENGINE_PATHS,
  ...['packages/cronce/src/store/memory', 'packages/cronce/src/store/sqlite', 'bench/engine'],
]

export function publishEngine(
  { report: folder, quick, saved }: BenchCommand<Part>,
  results: Results,
  bars: readonly Bar[],
): void {
  publish(folder, {
    name: 'engine',
    isQuick: quick,
    measured: saved.measured(),
    covers: COVERS,
    markdown: report(results, bars, ''),
    bars,
    plots: [ratesPlot(results), fleetsPlot(results), schedulesPlot(results)],
  })
}

function ratesPlot({ throughput = [] }: Results): Plot | null {
  if (throughput.length === 0) return null
  return {
    kind: 'bars',
    id: 'throughput',
    title: 'Memory and SQLite: fires a second',
    note: 'Median of the rounds, of fresh processes.',
    unit: 'fires/s, more is better',
    bars: throughput.map(({ options, rounds }) => ({
      group: options.store === 'sqlite' ? 'SQLite' : 'memory',
      label: nameOf(options),
      value: Math.round(median(rounds.map(({ firesPerSecond }) => firesPerSecond))),
    })),
  }
}

function fleetsPlot({ fleets = [] }: Results): Plot | null {
  if (fleets.length < 2) return null
  return {
    kind: 'lines',
    id: 'fleet-size',
    title: 'Cost of a fire as the fleet grows',
    note: '200 fires a second in memory; calls of all instances together, their heartbeats included.',
    unit: 'store calls per fire, less is better',
    x: 'instances',
    isLogX: true,
    lines: [
      {
        label: 'cronce',
        points: fleets.map(({ options, callsPerFire }) => [options.instances, callsPerFire] as const),
      },
    ],
  }
}

function schedulesPlot({ scales = [] }: Results): Plot | null {
  const stores = [...new Set(scales.map(({ store }) => store))]
  if (scales.length < 2 * stores.length || stores.length === 0) return null
  return {
    kind: 'lines',
    id: 'schedules',
    title: 'One look for what is due, by the number of schedules',
    note: 'Half of the looks take at most this long.',
    unit: 'ms, less is better',
    x: 'schedules',
    isLogX: true,
    lines: stores.map((store) => ({
      label: store === 'sqlite' ? 'SQLite' : 'memory',
      points: scales.filter((scale) => scale.store === store).map((one) => [one.schedules, one.lookP50Ms] as const),
    })),
  }
}
