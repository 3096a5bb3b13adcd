import { setTimeout as sleep } from 'node:timers/promises'
import { perFire, watchMost } from '../shared/effort.ts'
import type { Fleet } from '../shared/fleet.ts'
import { figuresOf, RUSH_PATIENCE_MS, type Rushed, type RushFigures, rushOfFires } from '../shared/rush.ts'
import { type Effort, effort, type FleetOptions, withFleet } from './fleet.ts'
import { connectionsOf, type StatementCost, type TableUse, tablesOf } from './readings.ts'
import { type BenchDatabase, type BenchServer, tell } from './server.ts'

export interface Rush extends RushFigures {
  readonly options: RushOptions
  /** Per fire. */
  readonly effort: Effort
  readonly connections: number
  readonly tables: readonly TableUse[]
  readonly statements?: readonly StatementCost[]
}

export interface RushOptions extends FleetOptions {
  readonly count: number
  /** Vacuum and analyze what was created, as a server that has been up for a minute would have. */
  readonly settled: boolean
  /** In processes that have done as much before. @default false */
  readonly warm?: boolean
}

/** Optional measurements while the fires are running. */
export interface Closer {
  begin(database: BenchDatabase, fleet: Fleet): Promise<void>
  end(database: BenchDatabase, fleet: Fleet): Promise<void>
}

export function measureRush(server: BenchServer, options: RushOptions, closer?: Closer): Promise<Rush> {
  const { count, instances, system, settled, warm = false } = options
  return server.withDatabase(async (database) => {
    const rushed = await withFleet(database, options, (fleet) =>
      system === 'cronce'
        ? rushOfFires(fleet, {
            count,
            instances,
            warm,
            created: async () => void (settled && (await tell(database, 'vacuum analyze'))),
            begin: () => begin(database, fleet, closer),
            connections: () => connectionsOf(database),
          })
        : rushOfJobs(database, fleet, options),
    )
    const tables = await tablesOf(database)
    return {
      options,
      ...figuresOf(rushed, count),
      effort: perFire(rushed.spent, count),
      connections: rushed.connections / instances,
      tables,
    }
  })
}

async function begin(database: BenchDatabase, fleet: Fleet, closer?: Closer): Promise<() => Promise<Effort>> {
  await closer?.begin(database, fleet)
  const spent = await effort(database, fleet)
  return async () => {
    const done = await spent()
    await closer?.end(database, fleet)
    return done
  }
}

/** The jobs are queued, the processes are connected, and timing starts when they are asked to start. */
async function rushOfJobs(
  database: BenchDatabase,
  fleet: Fleet,
  { count, system, warm = false }: RushOptions,
): Promise<Rushed<Effort>> {
  if (warm) {
    await fleet.create({ kind: 'burst', count, at: 0, first: count })
    await fleet.connect()
    await fleet.start()
    await endOfJobs(database, fleet, count, system)
    await fleet.pause()
  }
  const total = warm ? 2 * count : count
  await fleet.create({ kind: 'burst', count, at: 0 })
  await tell(database, 'vacuum analyze')
  if (!warm) await fleet.connect()
  const spent = await effort(database, fleet)
  const from = Date.now()
  await fleet.start()
  const { most } = await watchMost(
    () => connectionsOf(database),
    () => fleet.until('started', total, RUSH_PATIENCE_MS),
  )
  const lastEndedAt = await endOfJobs(database, fleet, total, system)
  const done = await spent()
  const starts = (await fleet.collect()).map((own) => own.filter(([number]) => number < count))
  const recorded = await leftOf(database, system)
  await fleet.stop()
  const faults = recorded === 0 ? [] : [`${recorded} jobs are not done`]
  return { starts, from, lastEndedAt, spent: done, connections: most, faults }
}

/** When the last job was completed in the database. */
async function endOfJobs(
  database: BenchDatabase,
  fleet: Fleet,
  total: number,
  system: RushOptions['system'],
): Promise<number> {
  if (system !== 'pg-boss') {
    await fleet.until('started', total, RUSH_PATIENCE_MS)
    return emptyAt(database)
  }
  const counts = await fleet.until('ended', total, RUSH_PATIENCE_MS)
  return Math.max(...counts.map(({ lastEndedAt }) => lastEndedAt))
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
