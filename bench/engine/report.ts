import { availableParallelism } from 'node:os'
import { type Bar, barTable } from '../shared/bars.ts'
import { median } from '../shared/statistics.ts'
import { grouped, table } from '../shared/table.ts'

import type { Burst } from './burst-plan.ts'
import type { FleetOptions } from './fleet.ts'
import type { Idle } from './idle-plan.ts'
import type { Lateness } from './lateness-plan.ts'
import { type Difference, differenceOf, moreInstructions, type Overhead } from './metrics-plan.ts'
import type { Scale } from './scale-plan.ts'
import { ratios, type Throughput } from './throughput-plan.ts'
import { callsPerLook, mostRows, type Watching } from './watch-plan.ts'

/** Everything that is measured; a part that was left out is not there. */
export interface Results {
  readonly throughput?: readonly Throughput[]
  readonly bursts?: readonly Burst[]
  readonly lateness?: readonly Lateness[]
  readonly fleets?: readonly Lateness[]
  readonly metrics?: Overhead
  readonly watch?: readonly Watching[]
  readonly idle?: readonly Idle[]
  readonly scales?: readonly Scale[]
  /** Parts that could not be measured, and why. */
  readonly failures?: readonly string[]
}

export type Part = Exclude<keyof Results, 'failures'>

export const PARTS = [
  ...(['throughput', 'bursts', 'lateness', 'fleets', 'metrics', 'watch', 'idle', 'scales'] as const),
] satisfies readonly Part[]

/** A fire that was lost or run twice, and parts that failed. */
export function faultsOf({
  throughput = [],
  bursts = [],
  lateness = [],
  fleets = [],
  failures = [],
}: Results): string[] {
  const runs = [...throughput.flatMap(({ rounds }) => rounds), ...bursts, ...lateness, ...fleets]
  return [...failures, ...runs.flatMap(({ options, faults }) => faults.map((fault) => `${nameOf(options)}: ${fault}`))]
}

/** The results as Markdown, which is also readable in a terminal. */
export function report(results: Results, bars: readonly Bar[], origin: string): string {
  const { node, sqlite } = process.versions
  const section = <Some>(title: string, part: Some | undefined, text: (part: Some) => string): string[] =>
    part === undefined ? [] : [`### ${title}`, text(part)]
  const faults = faultsOf(results)
  const parts = [
    `Node ${node}, SQLite ${sqlite}, ${availableParallelism()} cores.`,
    ...(origin === '' ? [] : [origin]),
    ...section('Fires a second', results.throughput, (all) => `${throughputTable(all)}\n\n${floorText(all)}`),
    ...section('10,000 due at one instant', results.bursts, burstTable),
    ...section('Lateness', results.lateness, latenessTable),
    ...section('Cost per fire as the fleet grows', results.fleets, fleetTable),
    ...section('What metrics cost', results.metrics, overheadTable),
    ...section('What the watchdog costs while nothing is wrong', results.watch, watchingTable),
    ...section('Nothing due', results.idle, idleTable),
    ...section('Many schedules', results.scales, scaleTable),
    ...section('Bars', bars.length > 0 ? bars : undefined, barTable),
    ...section('Faults', faults.length > 0 ? faults : undefined, (all) => all.map((one) => `- ${one}`).join('\n')),
  ]
  return `${parts.join('\n\n')}\n`
}

export function nameOf({ store, instances, concurrency = 1_000 }: FleetOptions): string {
  const unit = store === 'sqlite' ? 'process' : 'instance'
  const many = instances === 1 ? unit : unit === 'process' ? 'processes' : 'instances'
  return `${store === 'sqlite' ? 'SQLite' : 'memory'}, ${instances} ${many}, concurrency ${grouped(concurrency)}`
}

function throughputTable(all: readonly Throughput[]): string {
  return table(
    ['', 'median', 'best', 'CPU µs per fire', 'main thread', '× single commits', '× batch rows'],
    all.map((one) => {
      const rates = one.rounds.map(({ firesPerSecond }) => firesPerSecond)
      const toFloor = ratios(one)
      return [
        nameOf(one.options),
        grouped(median(rates)),
        grouped(Math.max(...rates)),
        grouped(median(one.rounds.map(({ cpuMsPerFire }) => cpuMsPerFire * 1000))),
        grouped(median(one.rounds.map(({ mainMsPerFire }) => mainMsPerFire * 1000))),
        toFloor?.single.toPrecision(3) ?? '-',
        toFloor?.batch.toPrecision(2) ?? '-',
      ]
    }),
  )
}

function floorText(all: readonly Throughput[]): string {
  const floors = all.flatMap(({ floors }) => floors)
  const range = (values: readonly number[]) =>
    `${grouped(Math.min(...values))} to ${grouped(Math.max(...values))}, median ${grouped(median(values))}`
  return (
    `SQLite itself, in the same minutes: ${range(floors.map(({ singleCommits }) => singleCommits))} commits/s of one row; ` +
    `${range(floors.map(({ batchRows }) => batchRows))} rows/s in commits of 500.`
  )
}

function burstTable(bursts: readonly Burst[]): string {
  return table(
    [
      'ms after the instant',
      'p50',
      'p99',
      'last started',
      'last settled',
      'store calls per fire',
      'runs of each process',
    ],
    bursts.map((burst) => [
      nameOf(burst.options),
      grouped(burst.p50Ms),
      grouped(burst.p99Ms),
      grouped(burst.lastStartMs),
      grouped(burst.lastEndMs),
      burst.callsPerFire.toPrecision(2),
      burst.spread.map(grouped).join(' / '),
    ]),
  )
}

function latenessTable(all: readonly Lateness[]): string {
  return table(
    ['ms', 'fires/s', 'p50', 'p99', 'max', 'store calls per fire'],
    all.map(({ options, perSecond, p50Ms, p99Ms, maxMs, callsPerFire }) => [
      nameOf(options),
      grouped(perSecond),
      ...[p50Ms, p99Ms, maxMs].map(grouped),
      callsPerFire.toPrecision(3),
    ]),
  )
}

function fleetTable(fleets: readonly Lateness[]): string {
  return table(
    ['instances, memory', 'store calls per fire', '× one instance', 'p50 ms late', 'p99'],
    fleets.map(({ options, callsPerFire, p50Ms, p99Ms }) => [
      grouped(options.instances),
      callsPerFire.toPrecision(3),
      (callsPerFire / fleets[0]!.callsPerFire).toFixed(2),
      grouped(p50Ms),
      grouped(p99Ms),
    ]),
  )
}

function overheadTable(overhead: Overhead): string {
  const words = ({ percent, from, to }: Difference): string =>
    `${percent.toFixed(1)} (${from.toFixed(1)} to ${to.toFixed(1)})`
  const { rounds, instructions, countingNs } = overhead
  const without = median(rounds.map((round) => round.without))
  const measured = differenceOf(overhead, 'measured')
  const rows = [
    ['CPU µs of the main thread', without.toFixed(1), words(measured), words(differenceOf(overhead, 'control'))],
  ]
  const share = (countingNs / (without * 1_000)) * 100
  rows.push([`calls that count a fire, in a loop: ${countingNs.toFixed(0)} ns`, '', share.toFixed(2), ''])
  if (instructions !== null) {
    rows.push([
      'million instructions of 140,000 fires, from start to end',
      grouped(Math.round(instructions.without)),
      moreInstructions(overhead)!.toFixed(1),
      '',
    ])
  }
  return table(['per fire', 'without metrics', 'metrics add, %', 'control, %'], rows)
}

function watchingTable(all: readonly Watching[]): string {
  return table(
    ['', 'schedules', 'looks', 'store calls a minute', 'most rows read', 'ms in them, median'],
    all.map((one) => [
      one.store === 'sqlite' ? 'SQLite' : 'memory',
      grouped(one.schedules),
      grouped(one.looks.length),
      callsPerLook(one).toFixed(2),
      grouped(mostRows(one)),
      median(one.looks.map(({ ms }) => ms)).toFixed(1),
    ]),
  )
}

function idleTable(all: readonly Idle[]): string {
  return table(
    ['per minute and instance', 'schedules', 'store calls', 'SQL statements', 'CPU ms', 'by call'],
    all.map(({ options, schedules, calls, statements, cpuMs, byCall }) => [
      nameOf(options),
      grouped(schedules),
      grouped(calls),
      options.store === 'sqlite' ? grouped(statements) : '-',
      grouped(cpuMs),
      [...byCall].map(([name, count]) => `${name} ${grouped(count)}`).join(', '),
    ]),
  )
}

function scaleTable(scales: readonly Scale[]): string {
  return table(
    ['', 'schedules', 'created in s', 'one look p50 ms', 'p99', 'RSS MB', 'heap MB', 'file MB'],
    scales.map((scale) => [
      scale.store === 'sqlite' ? 'SQLite' : 'memory',
      grouped(scale.schedules),
      (scale.createMs / 1000).toFixed(1),
      scale.lookP50Ms.toFixed(3),
      scale.lookP99Ms.toFixed(3),
      ...[scale.rssBytes, scale.heapBytes].map(megabytes),
      scale.store === 'sqlite' ? megabytes(scale.fileBytes) : '-',
    ]),
  )
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1)
}
