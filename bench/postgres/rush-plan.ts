import { setTimeout as sleep } from 'node:timers/promises'
import { quantile } from '../shared/statistics.ts'
import {
  ACQUAINT_MS,
  type Effort,
  effort,
  type Fleet,
  type FleetOptions,
  watchConnections,
  withFleet,
} from './fleet.ts'
import type { Start } from './protocol.ts'
import { type StatementCost, type TableUse, tablesOf } from './readings.ts'
import { type BenchDatabase, type BenchServer, tell } from './server.ts'

/** More to do than can be done at once: all due at one instant, or all waiting in a queue. */
export interface Rush {
  readonly options: FleetOptions
  readonly count: number
  /** Until the last one is done and durably recorded as done. */
  readonly firesPerSecond: number
  /** From the instant on, in milliseconds. Of a queue: from when its workers were told to begin. */
  readonly p50Ms: number
  readonly p99Ms: number
  readonly lastStartMs: number
  readonly lastEndMs: number
  /** Per fire. */
  readonly effort: Effort
  readonly connections: number
  /** Runs of each process. */
  readonly spread: readonly number[]
  readonly tables: readonly TableUse[]
  readonly statements?: readonly StatementCost[]
  readonly faults: readonly string[]
}

export interface RushOptions extends FleetOptions {
  readonly count: number
  /** Vacuum and analyze what was created, as a server that has been up for a minute would have. */
  readonly settled: boolean
}

/** While the fires are running, for whoever wants to look closer. */
export interface Closer {
  begin(database: BenchDatabase, fleet: Fleet): Promise<void>
  end(database: BenchDatabase, fleet: Fleet): Promise<void>
}

const PATIENCE_MS = 180_000
const TRIAL = 1_000
const TRIAL_FIRST = 10_000_000

export function measureRush(server: BenchServer, options: RushOptions, closer?: Closer): Promise<Rush> {
  return server.withDatabase(async (database) => {
    const rushed = await withFleet(database, options, (fleet) =>
      options.system === 'cronce'
        ? rushOfFires(database, fleet, options, closer)
        : rushOfJobs(database, fleet, options),
    )
    const tables = await tablesOf(database)
    const { starts, from, lastEndedAt, spent, connections, faults } = rushed
    const late = starts.flat().map(([, dueAt, lateMs]) => dueAt + lateMs - from)
    const { count } = options
    return {
      options,
      count,
      firesPerSecond: count / ((lastEndedAt - from) / 1000),
      p50Ms: quantile(late, 0.5),
      p99Ms: quantile(late, 0.99),
      lastStartMs: quantile(late, 1),
      lastEndMs: lastEndedAt - from,
      effort: perFire(spent, count),
      connections,
      spread: starts.map(({ length }) => length),
      tables,
      faults: [...startFaults(starts.flat(), count), ...faults],
    }
  })
}

interface Rushed {
  readonly starts: readonly (readonly Start[])[]
  readonly from: number
  readonly lastEndedAt: number
  readonly spent: Effort
  readonly connections: number
  readonly faults: readonly string[]
}

/** The schedules exist, the fleet waits for the instant. */
async function rushOfFires(
  database: BenchDatabase,
  fleet: Fleet,
  { count, settled, instances }: RushOptions,
  closer: Closer | undefined,
): Promise<Rushed> {
  // How fast it is today says how long it will take; these are not due within the hour.
  const trialMs = await fleet.create({ kind: 'idle', count: TRIAL, first: TRIAL_FIRST })
  await fleet.start()
  const creatingMs = Math.ceil(2 * trialMs * (count / TRIAL))
  const from = Date.now() + 3_000 + creatingMs + (instances > 1 ? ACQUAINT_MS : 0)
  await fleet.create({ kind: 'burst', count, at: from })
  if (settled) await tell(database, 'vacuum analyze')
  if (Date.now() >= from - 1_000) throw new Error(`The burst of ${count} was due before the fleet was ready.`)
  await sleep(from - 500 - Date.now())
  await closer?.begin(database, fleet)
  const spent = await effort(database, fleet)
  await sleep(from - Date.now())
  const { value: counts, connections } = await watchConnections(database, instances, () =>
    fleet.until('ended', count, PATIENCE_MS),
  )
  const lastEndedAt = Math.max(...counts.map((counted) => counted.lastEndedAt))
  const done = await spent()
  await closer?.end(database, fleet)
  const starts = await fleet.collect()
  const { succeeded, others } = await fleet.first.ask({ do: 'audit' }, 'audited')
  await fleet.stop()
  const isComplete = succeeded === count && others === 0
  const faults = isComplete
    ? []
    : [`on record are ${succeeded} succeeded fires and ${others} others, not ${count} and 0`]
  return { starts, from, lastEndedAt, spent: done, connections, faults }
}

/** The jobs wait in the queue, the processes are connected, and the clock runs from when they are told to begin. */
async function rushOfJobs(
  database: BenchDatabase,
  fleet: Fleet,
  { count, system, instances }: RushOptions,
): Promise<Rushed> {
  await fleet.create({ kind: 'burst', count, at: 0 })
  await tell(database, 'vacuum analyze')
  await Promise.all(fleet.peers.map((peer) => peer.ask({ do: 'connect' }, 'done')))
  const spent = await effort(database, fleet)
  const from = Date.now()
  await fleet.start()
  const { connections } = await watchConnections(database, instances, () => fleet.until('started', count, PATIENCE_MS))
  const lastEndedAt =
    system === 'pg-boss'
      ? Math.max(...(await fleet.until('ended', count, PATIENCE_MS)).map((counted) => counted.lastEndedAt))
      : await emptyAt(database)
  const done = await spent()
  const starts = await fleet.collect()
  const recorded = await leftOf(database, system)
  await fleet.stop()
  const faults = recorded === 0 ? [] : [`${recorded} jobs are not done`]
  return { starts, from, lastEndedAt, spent: done, connections, faults }
}

/** graphile-worker completes behind the backs of its tasks, and deletes what is done. */
async function emptyAt(database: BenchDatabase): Promise<number> {
  for (let tries = 0; tries < 2_000; tries++) {
    const at = Date.now()
    if ((await leftOf(database, 'graphile-worker')) === 0) return at
    await sleep(5)
  }
  throw new Error('graphile-worker did not complete its jobs.')
}

async function leftOf(database: BenchDatabase, system: RushOptions['system']): Promise<number> {
  const sql =
    system === 'pg-boss'
      ? `select count(*) as left from pgboss.job where state <> 'completed' and name = 'noop'`
      : 'select count(*) as left from graphile_worker._private_jobs'
  const [row] = await tell<{ readonly left: string }>(database, sql)
  return Number(row!.left)
}

export function perFire(spent: Effort, count: number): Effort {
  return {
    statements: spent.statements / count,
    transactions: spent.transactions / count,
    walBytes: spent.walBytes / count,
    cpuMs: spent.cpuMs / count,
    clientCpuMs: spent.clientCpuMs / count,
    clientMainMs: spent.clientMainMs / count,
  }
}

/** Each exactly once. */
function startFaults(starts: readonly Start[], count: number): string[] {
  const distinct = new Set(starts.map(([number]) => number))
  const faults: string[] = []
  if (distinct.size < count) faults.push(`${count - distinct.size} of ${count} never started`)
  if (starts.length > distinct.size) faults.push(`${starts.length - distinct.size} started twice`)
  return faults
}
