import { availableParallelism, loadavg } from 'node:os'
import { median } from '../shared/statistics.ts'
import { grouped, table } from '../shared/table.ts'
import type { Bar } from './bars.ts'
import type { Burst } from './burst-plan.ts'
import type { FleetOptions } from './fleet.ts'
import type { Idle } from './idle-plan.ts'
import type { Lateness } from './lateness-plan.ts'
import { type Difference, differenceOf, moreInstructions, type Overhead } from './metrics-plan.ts'
import type { Scale } from './scale-plan.ts'
import { ratios, type Throughput } from './throughput-plan.ts'
import { callsPerLook, mostRows, type Watching } from './watch-plan.ts'

export interface Results {
  readonly watching: readonly Watching[]
  readonly overhead: Overhead
  readonly throughput: readonly Throughput[]
  readonly bursts: readonly Burst[]
  readonly lateness: readonly Lateness[]
  readonly fleets: readonly Lateness[]
  readonly idle: readonly Idle[]
  readonly scales: readonly Scale[]
}

/** The results as Markdown, which is also readable in a terminal. */
export function report(results: Results, bars: readonly Bar[]): string {
  const { watching, overhead, throughput, bursts, lateness, fleets, idle, scales } = results
  const { node, sqlite } = process.versions
  const runs = [...throughput.flatMap(({ rounds }) => rounds), ...bursts, ...lateness, ...fleets]
  const faults = runs.flatMap(({ options, faults }) => faults.map((fault) => `- ${nameOf(options)}: ${fault}`))
  const parts = [
    `Node ${node}, SQLite ${sqlite}, ${availableParallelism()} cores, ${load()}; ${throughput[0]!.rounds.length} rounds.`,
    '### Fires a second',
    throughputTable(throughput),
    floorText(throughput),
    '### 10,000 due at one instant',
    burstTable(bursts),
    '### Lateness',
    latenessTable(lateness),
    '### Cost per fire as the fleet grows',
    fleetTable(fleets),
    '### What metrics cost',
    overheadTable(overhead),
    '### What the watchdog costs while nothing is wrong',
    watchingTable(watching),
    '### Nothing due',
    idleTable(idle),
    '### Many schedules',
    scaleTable(scales),
    '### Bars',
    table(
      ['bar', 'limit', 'measured', ''],
      bars.map(({ what, limit, measured, pass }) => [what, limit, measured, pass ? 'PASS' : 'FAIL']),
    ),
  ]
  if (faults.length > 0) parts.push('### Faults', faults.join('\n'))
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

/** How many processes wanted a core, at the end of the run. */
function load(): string {
  return `load average ${loadavg()
    .map((value) => value.toFixed(1))
    .join(' ')}`
}

function nameOf({ store, instances, concurrency = 1_000 }: FleetOptions): string {
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

export function overheadTable(overhead: Overhead): string {
  const words = ({ percent, from, to }: Difference): string =>
    `${percent.toFixed(1)} (${from.toFixed(1)} to ${to.toFixed(1)})`
  const { rounds, instructions } = overhead
  const without = median(rounds.map((round) => round.without))
  const measured = differenceOf(overhead, 'measured')
  const rows = [
    ['CPU µs of the main thread', without.toFixed(1), words(measured), words(differenceOf(overhead, 'control'))],
  ]
  if (instructions !== null) {
    rows.push(['instructions', grouped(Math.round(instructions.without)), moreInstructions(overhead)!.toFixed(1), ''])
  }
  return table(['per fire', 'without metrics', 'metrics add, %', 'control, %'], rows)
}

export function watchingTable(all: readonly Watching[]): string {
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
