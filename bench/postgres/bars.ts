import { atLeast, atMost, type Bar, below, processes } from '../shared/bars.ts'
import { median } from '../shared/statistics.ts'
import type { Failover } from './failover-plan.ts'
import type { System } from './fleet.ts'
import type { History } from './history-plan.ts'
import type { Lateness } from './lateness-plan.ts'
import type { Results } from './results.ts'
import type { Rush } from './rush-plan.ts'

/** What an earlier measurement found of node-cron with advisory locks: overloaded, it must not lend us its lateness. */
const NODE_CRON_P99_MS = 560

/** By the number of schedules: how late they may be. */
const AT_ONE_INSTANT_MS = new Map([
  [500, 25],
  [5_000, 60],
])
const EVERY_SECOND_MS = 20
const TIMES_AS_FAST = [
  { instances: 1, pgBoss: 1.1, graphileWorker: 0.9 },
  { instances: 4, pgBoss: 0.8, graphileWorker: 0.6 },
]
const PROCESS_MICROSECONDS = 15
const ISOLATED_MS = 3

/** Bars of parts that were not measured are left out. */
export function judge(results: Results): Bar[] {
  return [
    ...throughputBars(results),
    ...latenessBars(results),
    ...costBars(results),
    ...(results.history === undefined ? [] : historyBars(results.history)),
    ...(results.bursts ?? [])
      .filter(({ options }) => options.instances === 4)
      .map((burst) => below('burst of 10,000, 4 processes: last one started, ms', 3_000, burst.lastStartMs)),
    ...(results.failover === undefined
      ? []
      : [below('failover after kill -9: slowest, ms', 1_000, slowest(results.failover))]),
  ]
}

/**
 * One process beside one, and four beside four, with about a thousand fires at a time in each. Of processes that have done as much
 * before: a scheduler runs for weeks, and a fresh process shows the compiler.
 */
function throughputBars(results: Results): Bar[] {
  const throughput = results.throughput?.filter(({ rounds }) => rounds[0]!.options.warm === true)
  if (throughput === undefined) return []
  const rate = (system: System, instances: number): number => {
    const one = throughput.find(({ rounds }) => {
      const { options } = rounds[0]!
      return options.system === system && options.instances === instances && (options.batch ?? 0) <= 1_000
    })
    return median(one!.rounds.map(({ firesPerSecond }) => firesPerSecond))
  }
  const ratios = TIMES_AS_FAST.flatMap(({ instances, pgBoss, graphileWorker }) => {
    const ours = rate('cronce', instances)
    const where = processes({ instances })
    return [
      atLeast(`fires/s, ${where}: times pg-boss in bulk`, pgBoss, ours / rate('pg-boss', instances)),
      atLeast(
        `fires/s, ${where}: times graphile-worker, tuned`,
        graphileWorker,
        ours / rate('graphile-worker', instances),
      ),
    ]
  })
  const alone = throughput.find(({ rounds: [first] }) => first!.options.system === 'cronce')!
  const each = (of: (rush: Rush) => number) => median(alone.rounds.map(of))
  return [
    atMost(
      'one process: server CPU µs per fire',
      25,
      each(({ effort }) => effort.cpuMs * 1000),
    ),
    atMost(
      'one process: WAL bytes per fire',
      900,
      each(({ effort }) => effort.walBytes),
    ),
    atMost(
      'one process: its own CPU µs per fire',
      PROCESS_MICROSECONDS,
      each(({ effort }) => effort.clientCpuMs * 1000),
    ),
    ...ratios,
  ]
}

function latenessBars({ together = [] }: Results): Bar[] {
  const bars: Bar[] = []
  for (const { options, load, p99Ms } of together) {
    const limit = AT_ONE_INSTANT_MS.get(load.count)
    if (options.system !== 'cronce' || limit === undefined) continue
    const count = load.count.toLocaleString('en-US')
    bars.push(atMost(`${count} due at one instant, ${processes(options)}: p99 late, ms`, limit, p99Ms))
  }
  const everySecond = (system: System): Lateness | undefined =>
    together.find(({ options, load }) => options.system === system && load.count === 1_000)
  const ours = everySecond('cronce')
  const theirs = everySecond('node-cron')
  if (ours !== undefined) {
    const measured = theirs === undefined || Number.isNaN(theirs.p99Ms) ? NODE_CRON_P99_MS : theirs.p99Ms
    const limit = Math.min(measured / 10, EVERY_SECOND_MS)
    bars.push(atMost('1,000 every second, 3 processes: p99 late, ms', limit, ours.p99Ms))
  }
  return bars
}

function costBars({ idle = [], isolated = [], throughput = [], bursts = [], lateness = [] }: Results): Bar[] {
  const bars = [
    ...idle.map(({ options, schedules, statements }) =>
      atMost(
        `idle, ${processes(options)}, ${schedules.toLocaleString('en-US')} schedules: statements/min each`,
        6,
        statements,
      ),
    ),
    ...isolated.map(({ options, p99Ms }) =>
      atMost(`isolated fires, ${processes(options)}: p99 late, ms`, ISOLATED_MS, p99Ms),
    ),
    ...isolated.map(({ options, effort, watching }) => {
      const what = `isolated fires, ${processes(options)}: statements each${watching > 0 ? ', watching apart' : ''}`
      return atMost(what, 3, effort.statements - watching)
    }),
  ]
  const connections = [...throughput.flatMap(({ rounds }) => rounds), ...bursts, ...lateness, ...isolated, ...idle]
    .filter(({ options }) => options.system === 'cronce')
    .map((one) => one.connections)
  if (connections.length > 0) bars.push(atMost('connections per instance, at most', 3, Math.max(...connections)))
  return bars
}

/** Beside the most records and beside the fewest. */
function historyBars(all: readonly History[]): Bar[] {
  const few = all[0]!
  const many = all.at(-1)!
  const perFire = ({ statements, fires }: History): number =>
    statements.reduce((sum, { planMs, execMs }) => sum + planMs + execMs, 0) / fires
  const reads = many.reads.map(({ p50Ms }, index) => p50Ms / few.reads[index]!.p50Ms)
  const sizes = `${many.records.toLocaleString('en-US')} records to ${few.records.toLocaleString('en-US')}`
  return [
    atMost(`statements of a fire, ${sizes}`, 2, perFire(many) / perFire(few)),
    atMost(`slowest read by comparison, ${sizes}`, 2, Math.max(...reads)),
  ]
}

function slowest({ eachMs }: Failover): number {
  return eachMs.length === 0 ? Number.NaN : Math.max(...eachMs)
}
