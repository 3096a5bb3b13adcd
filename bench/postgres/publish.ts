import type { Bar } from '../shared/bars.ts'
import type { BenchCommand } from '../shared/command-line.ts'
import {
  compareLateness,
  compareRates,
  ENGINE_PATHS,
  failoverPlot,
  latenessPlot,
  publish,
  schedulesPlot,
  throughputPlot,
} from '../shared/publish.ts'
import { type FleetOptions, nameOf } from './fleet.ts'
import { report } from './report.ts'
import type { Part, Results } from './results.ts'

const COVERS = [...ENGINE_PATHS, 'packages/cronce/src/store/postgres', 'bench/postgres']

export function publishPostgres(
  { report: folder, quick, saved }: BenchCommand<Part>,
  results: Results,
  bars: readonly Bar[],
  version: string,
): void {
  const warm = (results.throughput ?? [])
    .filter(({ rounds: [first] }) => first!.options.warm === true)
    .map(({ rounds }) => ({ options: rounds[0]!.options, name: nameOf(rounds[0]!.options), rounds }))
  const late = (results.together ?? [])
    .filter(({ load }) => load.kind === 'together' && load.count === 1_000)
    .map((one) => ({ ...one, name: nameOf(one.options) }))
  publish(folder, {
    name: 'postgres',
    isQuick: quick,
    measured: saved.measured(),
    covers: COVERS,
    markdown: report(results, bars, version, ''),
    bars,
    comparisons: [
      ...besides(warm).map(([ours, theirs]) => compareRates('PostgreSQL, fires or jobs a second', ours, theirs)),
      ...besides(late).map(([ours, theirs]) => compareLateness('PostgreSQL, p99 late, 1,000/s', ours, theirs)),
    ],
    plots: [
      throughputPlot(
        'PostgreSQL',
        warm.map((one) => ({ ...one, group: groupOf(one.options) })),
      ),
      latenessPlot('PostgreSQL', late),
      schedulesPlot('PostgreSQL', results.scale ?? []),
      failoverPlot('PostgreSQL', results.failover?.eachMs ?? []),
    ],
  })
}

function groupOf({ instances }: FleetOptions): string {
  return instances === 1 ? '1 process' : `${instances} processes`
}

/** Each peer, beside cronce with as many processes. */
function besides<One extends { readonly options: FleetOptions }>(all: readonly One[]): readonly [One, One][] {
  return all
    .filter(({ options }) => options.system !== 'cronce')
    .flatMap((theirs) => {
      const isBeside = ({ options }: One): boolean =>
        options.system === 'cronce' && options.instances === theirs.options.instances
      const ours = all.find(isBeside)
      return ours === undefined ? [] : [[ours, theirs] satisfies [One, One]]
    })
}
