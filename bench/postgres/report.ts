import { availableParallelism } from 'node:os'
import { type Bar, barTable } from '../shared/bars.ts'
import { median } from '../shared/statistics.ts'
import { grouped, table } from '../shared/table.ts'
import type { Failover } from './failover-plan.ts'
import { nameOf } from './fleet.ts'
import type { Idle } from './idle-plan.ts'
import type { Lateness } from './lateness-plan.ts'
import { breakdownText, historyText, shortened, tablesTable } from './report-costs.ts'
import { faultsOf, type Results, type Rounds } from './results.ts'
import type { Rush } from './rush-plan.ts'
import type { Scale } from './scale-plan.ts'
import type { HeldSnapshot } from './snapshot-plan.ts'

/** The results as Markdown, which is also readable in a terminal. */
export function report(results: Results, bars: readonly Bar[], serverVersion: string, origin: string): string {
  const section = <Part>(title: string, part: Part | undefined, text: (part: Part) => string): string[] =>
    part === undefined ? [] : [`### ${title}`, text(part)]
  const parts = [
    `Node ${process.versions.node}, PostgreSQL ${serverVersion}, ${availableParallelism()} cores.`,
    ...(origin === '' ? [] : [origin]),
    ...section('Fires a second', results.throughput, throughputTable),
    ...section('10,000 due at one instant', results.bursts, burstTable),
    ...section('Lateness under steady load', results.lateness, latenessTable),
    ...section('Many at the same instants', results.together, latenessTable),
    ...section('Failover', results.failover, failoverText),
    ...section('Fires one by one', results.isolated, latenessTable),
    ...section('Nothing due', results.idle, idleTable),
    ...section('Many schedules', results.scale, scaleTable),
    ...section('Many records', results.history, historyText),
    ...section('A snapshot held by another client', results.snapshot, snapshotText),
    ...section('Tables', tablesPart(results), tablesTable),
    ...section('Where the time goes', results.breakdown, breakdownText),
    ...section('Bars', bars.length > 0 ? bars : undefined, barTable),
  ]
  const faults = faultsOf(results)
  if (faults.length > 0) parts.push('### Faults', faults.map((fault) => `- ${fault}`).join('\n'))
  return `${parts.join('\n\n')}\n`
}

function tablesPart({ throughput, bursts }: Results): Rush['tables'] | undefined {
  const all = [...(throughput ?? []).flatMap(({ rounds }) => rounds), ...(bursts ?? [])]
  return all.find(({ options }) => options.system === 'cronce')?.tables
}

function throughputTable(all: readonly Rounds[]): string {
  return table(
    ['', 'median', 'best', 'CPU µs per fire: processes', 'server', 'statements per fire', 'WAL bytes', 'connections'],
    all.map(({ rounds }) => {
      const of = (value: (rush: Rush) => number) => median(rounds.map(value))
      return [
        `${nameOf(rounds[0]!.options)}${rounds[0]!.options.warm === true ? '' : ', fresh'}`,
        grouped(of(({ firesPerSecond }) => firesPerSecond)),
        grouped(Math.max(...rounds.map(({ firesPerSecond }) => firesPerSecond))),
        grouped(of(({ effort }) => effort.clientCpuMs * 1000)),
        grouped(of(({ effort }) => effort.cpuMs * 1000)),
        of(({ effort }) => effort.statements).toPrecision(2),
        grouped(of(({ effort }) => effort.walBytes)),
        of(({ connections }) => connections).toPrecision(2),
      ]
    }),
  )
}

function burstTable(bursts: readonly Rush[]): string {
  return table(
    [
      'ms after the instant',
      'p50',
      'p99',
      'last started',
      'last settled',
      'statements per fire',
      'runs of each process',
    ],
    bursts.map((burst) => [
      nameOf(burst.options),
      ...[burst.p50Ms, burst.p99Ms, burst.lastStartMs, burst.lastEndMs].map(grouped),
      burst.effort.statements.toPrecision(2),
      burst.spread.map(grouped).join(' / '),
    ]),
  )
}

function latenessTable(all: readonly Lateness[]): string {
  const lines = all.map((one) => [
    nameOf(one.options),
    loadName(one),
    ...[one.p50Ms, one.p99Ms, one.maxMs].map(grouped),
    (one.effort.statements - one.watching).toPrecision(3),
    one.watching.toPrecision(2),
    grouped(one.effort.walBytes),
    grouped(one.effort.cpuMs * 1000),
    grouped(one.effort.clientCpuMs * 1000),
  ])
  const head = [
    'ms late',
    'load',
    'p50',
    'p99',
    'max',
    'statements per fire',
    'and watching',
    'WAL bytes',
    'server CPU µs',
    'processes',
  ]
  const others = all
    .filter(({ options, faults }) => options.system !== 'cronce' && faults.length > 0)
    .map(({ options, faults }) => `- ${nameOf(options)}: ${faults.join('; ')}`)
  return [table(head, lines), ...(others.length > 0 ? [others.join('\n')] : [])].join('\n\n')
}

function loadName({ load }: Lateness): string {
  if (load.kind !== 'together') return `${grouped(load.count)}/s`
  return `${grouped(load.count)} every ${load.intervalMs / 1000} s`
}

function failoverText({ options, eachMs }: Failover): string {
  const each = eachMs.map(grouped).join(', ')
  return `${nameOf(options)}; from \`kill -9\` of the one that runs until the next attempt starts in another: ${each} ms.`
}

function idleTable(all: readonly Idle[]): string {
  const head = [
    'per minute and instance',
    'schedules',
    'statements',
    'by statement',
    'WAL bytes',
    'server CPU ms',
    'CPU ms',
    'connections',
  ]
  const lines = all.map((idle) => [
    nameOf(idle.options),
    grouped(idle.schedules),
    idle.statements.toFixed(1),
    idle.byStatement.map(([text, count]) => `${shortened(text)} ${count.toFixed(1)}`).join(', '),
    grouped(idle.walBytes),
    grouped(idle.serverCpuMs),
    grouped(idle.clientCpuMs),
    idle.connections.toPrecision(2),
  ])
  return table(head, lines)
}

function scaleTable(scales: readonly Scale[]): string {
  const head = [
    'schedules',
    'created in s',
    'MB',
    'one look p50 ms',
    'p99',
    'heap MB',
    'idle statements/min',
    'idle server CPU ms/min',
    '1,000 due among them: p50 ms',
    'p99',
    'last',
  ]
  return table(
    head,
    scales.map((scale) => [
      grouped(scale.schedules),
      (scale.createMs / 1000).toFixed(1),
      grouped(scale.diskBytes / 1_000_000),
      scale.lookP50Ms.toFixed(2),
      scale.lookP99Ms.toFixed(2),
      (scale.heapBytes / 1_000_000).toFixed(1),
      scale.idleStatements.toFixed(1),
      grouped(scale.idleServerCpuMs),
      ...[scale.dueP50Ms, scale.dueP99Ms, scale.dueLastMs].map(grouped),
    ]),
  )
}

function snapshotText(snapshot: HeldSnapshot): string {
  const { options, perSecond, heldSeconds, lookSeconds, burst } = snapshot
  const stretches = [
    ['before', snapshot.before],
    [`held for ${heldSeconds} s`, snapshot.held],
    [`${2 * lookSeconds} s after its end`, snapshot.after],
  ] as const
  const intro = `${nameOf(options)}; ${grouped(perSecond)} fires/s all the time, and ${grouped(burst)} at one instant at the end of each stretch.`
  const figures = table(
    [
      '',
      'p50 ms late',
      'p99',
      'burst: last started, ms',
      'server ms per fire',
      'ms per statement of the three that take most',
    ],
    stretches.map(([name, { p50Ms, p99Ms, burstLastMs, top }]) => [
      name,
      ...[p50Ms, p99Ms, burstLastMs].map(grouped),
      (top.reduce((sum, { planMs, execMs }) => sum + planMs + execMs, 0) / (perSecond * lookSeconds)).toFixed(2),
      top.map(({ planMs, execMs, calls }) => ((planMs + execMs) / calls).toFixed(2)).join(' / '),
    ]),
  )
  const dead = snapshot.tables.filter((use) => use.dead > 0).map((use) => `\`${use.table}\` ${grouped(use.dead)}`)
  return [intro, figures, `Dead rows when the snapshot ended: ${dead.join(', ') || 'none'}.`].join('\n\n')
}
