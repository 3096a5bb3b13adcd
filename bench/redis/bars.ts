import { atLeast, atMost, type Bar, below, processes } from '../shared/bars.ts'
import { median } from '../shared/statistics.ts'
import type { System } from './fleet.ts'
import type { Lateness } from './lateness-plan.ts'
import { faultsOf, type Results } from './results.ts'
import type { Fsync } from './server.ts'

/** What an earlier measurement found of BullMQ's job schedulers: overloaded, they must not lend us their lateness. */
const BULLMQ_P99_MS = 460

/** Bars of parts that were not measured are left out. */
export function judge(results: Results): Bar[] {
  const { idle = [] } = results
  return [
    ...throughputBars(results),
    ...latenessBars(results),
    ...idle.map(({ options, schedules, sent }) => {
      const what = `idle, ${processes(options)}, ${schedules.toLocaleString('en-US')} schedules: commands/min each`
      return atMost(what, 12, sent)
    }),
    ...auditBars(results),
    atMost('faults of cronce in all of this', 0, faultsOf(results).length),
  ]
}

/**
 * Each system's better one of one and four processes, with what is done kept and the same durability. BullMQ as it comes, and once more with an
 * option of its client that saves it some of the work. Of processes that have done as much before: a scheduler runs for weeks, and a
 * fresh process shows the compiler.
 */
function throughputBars(results: Results): Bar[] {
  const throughput = results.throughput?.filter(({ rounds }) => rounds[0]!.options.warm === true)
  if (throughput === undefined) return []
  const best = (system: System, fsync: Fsync, isPipelined: boolean) =>
    Math.max(
      ...throughput
        .filter(({ rounds: [first] }) => first!.options.system === system && first!.options.fsync === fsync)
        .filter(({ rounds: [first] }) => first!.options.removes !== true)
        .filter(({ rounds: [first] }) => (first!.options.pipelined ?? false) === isPipelined)
        .map(({ rounds }) => median(rounds.map(({ firesPerSecond }) => firesPerSecond))),
    )
  const serverMs = (system: System) =>
    median(
      throughput
        .find(({ rounds: [first] }) => first!.options.system === system && first!.options.fsync === 'everysec')!
        .rounds.map(({ effort }) => effort.cpuMs),
    )
  const rates = (['everysec', 'always'] satisfies Fsync[]).flatMap((fsync) => {
    const ours = best('cronce', fsync, false)
    const what = `fires/s, appendfsync ${fsync}: times BullMQ`
    return [
      atLeast(what, 2.5, ours / best('BullMQ', fsync, false)),
      atLeast(`${what} with auto pipelining`, 2.5, ours / best('BullMQ', fsync, true)),
    ]
  })
  return [
    atMost('one process: server CPU per fire, times BullMQ', 0.3, serverMs('cronce') / serverMs('BullMQ')),
    ...rates,
  ]
}

/** How late 1,000 fires every second may be. */
const EVERY_SECOND_MS = 20

function latenessBars({ together = [] }: Results): Bar[] {
  const of = (system: System): Lateness | undefined => together.find(({ options }) => options.system === system)
  const ours = of('cronce')
  if (ours === undefined) return []
  const theirs = of('BullMQ')?.p99Ms ?? BULLMQ_P99_MS
  const limit = Math.min((Number.isNaN(theirs) ? BULLMQ_P99_MS : theirs) / 10, EVERY_SECOND_MS)
  const what = '1,000 every second, 3 processes: p99 late, ms'
  const bars = [atMost(`${what} (20, or a tenth of BullMQ)`, limit, ours.p99Ms)]
  const nodeCron = of('node-cron')
  if (nodeCron !== undefined) bars.push(below(`${what} (node-cron)`, nodeCron.p99Ms, ours.p99Ms))
  return bars
}

function auditBars({ audit }: Results): Bar[] {
  if (audit === undefined) return []
  const what = `${audit.perSecond.toLocaleString('en-US')} fires/s on ${processes(audit.options)}`
  return [
    atMost(`${what}: kinds of loss (lost, run twice, not on record)`, 0, audit.faults.length),
    atMost(`${what}: skipped, on record`, 0, audit.passedOver),
  ]
}
