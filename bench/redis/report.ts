import { availableParallelism } from 'node:os'
import { type Bar, barTable } from '../shared/bars.ts'
import { median } from '../shared/statistics.ts'
import { grouped, table } from '../shared/table.ts'
import type { SteadyAudit } from './audit-plan.ts'
import { nameOf } from './fleet.ts'
import type { Idle } from './idle-plan.ts'
import type { Lateness } from './lateness-plan.ts'
import { breakdownText } from './report-costs.ts'
import { type Failover, faultsOf, type Results, type Rounds } from './results.ts'
import type { Rush } from './rush-plan.ts'
import type { Scale } from './scale-plan.ts'
import { commandName } from './script-names.ts'

/** The results as Markdown, which is also readable in a terminal. */
export function report(results: Results, bars: readonly Bar[], serverVersion: string, origin: string): string {
  const section = <Part>(title: string, part: Part | undefined, text: (part: Part) => string): string[] =>
    part === undefined ? [] : [`### ${title}`, text(part)]
  const parts = [
    `Node ${process.versions.node}, Redis ${serverVersion}, ${availableParallelism()} cores.`,
    ...(origin === '' ? [] : [origin]),
    ...section('Fires a second', results.throughput, throughputTable),
    ...section('10,000 due at one instant', results.bursts, burstTable),
    ...section('Lateness under steady load', results.lateness, latenessTable),
    ...section('Many at the same instants', results.together, latenessTable),
    ...section('Failover', results.failover, failoverText),
    ...section('Fires one by one', results.isolated, isolatedText),
    ...section('Nothing due', results.idle, idleTable),
    ...section('Nothing lost', results.audit, auditText),
    ...section('Many schedules', results.scale, scaleTable),
    ...section('Where the time goes', results.breakdown, breakdownText),
    ...section('Bars', bars.length > 0 ? bars : undefined, barTable),
  ]
  const faults = faultsOf(results)
  if (faults.length > 0) parts.push('### Faults', faults.map((fault) => `- ${fault}`).join('\n'))
  return `${parts.join('\n\n')}\n`
}

function throughputTable(all: readonly Rounds[]): string {
  return table(
    [
      '',
      'appendfsync',
      'median',
      'best',
      'CPU µs per fire: processes',
      'server',
      'commands sent per fire',
      'of them scripts',
      'executed',
      'AOF bytes',
      'memory kept, bytes',
      'connections',
    ],
    all.map(({ rounds }) => {
      const of = (value: (rush: Rush) => number) => median(rounds.map(value))
      return [
        `${nameOf(rounds[0]!.options)}${rounds[0]!.options.warm === true ? '' : ', fresh'}`,
        rounds[0]!.options.fsync,
        grouped(of(({ firesPerSecond }) => firesPerSecond)),
        grouped(Math.max(...rounds.map(({ firesPerSecond }) => firesPerSecond))),
        grouped(of(({ effort }) => effort.clientCpuMs * 1000)),
        grouped(of(({ effort }) => effort.cpuMs * 1000)),
        of(({ effort }) => effort.sent).toPrecision(2),
        of(({ effort }) => effort.scripts).toPrecision(2),
        of(({ effort }) => effort.executed).toPrecision(3),
        grouped(of(({ effort }) => effort.aofBytes)),
        grouped(of(({ keptBytes }) => keptBytes)),
        of(({ connections }) => connections).toPrecision(2),
      ]
    }),
  )
}

function burstTable(bursts: readonly Rush[]): string {
  return table(
    ['ms after the instant', 'p50', 'p99', 'last started', 'last settled', 'commands per fire', 'runs of each process'],
    bursts.map((burst) => [
      nameOf(burst.options),
      ...[burst.p50Ms, burst.p99Ms, burst.lastStartMs, burst.lastEndMs].map(grouped),
      burst.effort.sent.toPrecision(2),
      burst.spread.map(grouped).join(' / '),
    ]),
  )
}

function latenessTable(all: readonly Lateness[]): string {
  const head = [
    'ms late',
    'load',
    'p50',
    'p99',
    'max',
    'commands sent per fire',
    'executed',
    'AOF bytes',
    'server CPU µs',
    'processes',
  ]
  const lines = all.map((one) => [
    nameOf(one.options),
    one.load.kind === 'together'
      ? `${grouped(one.load.count)} every ${one.load.intervalMs / 1000} s`
      : `${grouped(one.load.count)}/s`,
    ...[one.p50Ms, one.p99Ms, one.maxMs].map(grouped),
    one.effort.sent.toPrecision(3),
    one.effort.executed.toPrecision(3),
    grouped(one.effort.aofBytes),
    grouped(one.effort.cpuMs * 1000),
    grouped(one.effort.clientCpuMs * 1000),
  ])
  const others = all
    .filter(({ options, faults }) => options.system !== 'cronce' && faults.length > 0)
    .map(({ options, faults }) => `- ${nameOf(options)}: ${faults.join('; ')}`)
  return [table(head, lines), ...(others.length > 0 ? [others.join('\n')] : [])].join('\n\n')
}

/** With what was sent, by name. */
function isolatedText(all: readonly Lateness[]): string {
  const lines = all.map(({ options, seen, fires }) => {
    const each = [...(seen?.sent ?? [])].map(
      ([command, calls]) => `\`${commandName(command)}\` ${(calls / fires).toFixed(2)}`,
    )
    return `- ${nameOf(options)}, per fire: ${each.join(', ')}`
  })
  return [latenessTable(all), lines.join('\n')].join('\n\n')
}

function failoverText({ options, eachMs }: Failover): string {
  const each = eachMs.map(grouped).join(', ')
  return `${nameOf(options)}; from \`kill -9\` of the one that runs until the next attempt starts in another: ${each} ms.`
}

function idleTable(all: readonly Idle[]): string {
  return table(
    [
      'per minute and instance',
      'schedules',
      'commands sent',
      'by name',
      'executed in scripts',
      'AOF bytes',
      'server CPU ms',
      'CPU ms',
      'connections',
    ],
    all.map((idle) => [
      nameOf(idle.options),
      grouped(idle.schedules),
      idle.sent.toFixed(1),
      idle.byCommand.map(([name, count]) => `\`${name}\` ${count.toFixed(1)}`).join(', '),
      idle.inside.toFixed(0),
      grouped(idle.aofBytes),
      grouped(idle.serverCpuMs),
      grouped(idle.clientCpuMs),
      idle.connections.toPrecision(2),
    ]),
  )
}

function auditText({ options, perSecond, seconds, fires, onRecord, ...audit }: SteadyAudit): string {
  const { p50Ms, p99Ms, maxMs, passedOver, reasons, faults } = audit
  const verdict = faults.length === 0 ? 'none was lost, run twice or not written down' : faults.join('; ')
  const skipped = passedOver === 0 ? '' : ` Not run, for a reason on record: ${reasons}.`
  return (
    `${nameOf(options)}; ${grouped(perSecond)} fires a second for ${seconds} s: ${grouped(fires)} fires ran, ` +
    `${grouped(onRecord)} are on record as succeeded; ${verdict}.${skipped} p50 ${grouped(p50Ms)}, p99 ${grouped(p99Ms)}, ` +
    `at most ${grouped(maxMs)} ms late.`
  )
}

function scaleTable(scales: readonly Scale[]): string {
  const head = [
    'schedules',
    'created in s',
    'memory MB',
    'AOF MB',
    'one look p50 ms',
    'p99',
    'heap MB',
    'idle commands/min',
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
      grouped(scale.memoryBytes / 1_000_000),
      grouped(scale.aofBytes / 1_000_000),
      scale.lookP50Ms.toFixed(2),
      scale.lookP99Ms.toFixed(2),
      (scale.heapBytes / 1_000_000).toFixed(1),
      scale.idleSent.toFixed(1),
      grouped(scale.idleServerCpuMs),
      ...[scale.dueP50Ms, scale.dueP99Ms, scale.dueLastMs].map(grouped),
    ]),
  )
}
