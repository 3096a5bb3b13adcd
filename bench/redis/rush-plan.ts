import { recordFaults } from '../shared/audit.ts'
import { perFire, watchMost } from '../shared/effort.ts'
import type { Fleet } from '../shared/fleet.ts'
import { figuresOf, RUSH_PATIENCE_MS, type Rushed, type RushFigures, rushOfFires } from '../shared/rush.ts'
import { type Effort, effort, type FleetOptions, withFleet } from './fleet.ts'
import { connectionsOf, read } from './readings.ts'
import { type BenchServer, type Fsync, withServer } from './server.ts'

export interface Rush extends RushFigures {
  readonly options: RushOptions
  /** Per fire. */
  readonly effort: Effort
  /** Memory of the server per fire that is done: of a queue, all that is left of a job; of cronce, what came to the schedule. */
  readonly keptBytes: number
  readonly connections: number
}

export interface RushOptions extends FleetOptions {
  readonly count: number
  readonly fsync: Fsync
  /** In processes that have done as much before. @default false */
  readonly warm?: boolean
}

/** Optional measurements while the fires are running. */
export interface Closer {
  begin(server: BenchServer, fleet: Fleet): Promise<void>
  end(server: BenchServer, fleet: Fleet): Promise<void>
}

interface Kept extends Rushed<Effort> {
  readonly keptBytes: number
}

export function measureRush(options: RushOptions, closer?: Closer): Promise<Rush> {
  const { count, fsync, instances } = options
  return withServer(fsync, async (server) => {
    const rushed = await withFleet(server, options, (fleet) =>
      options.system === 'cronce' ? rush(server, fleet, options, closer) : rushOfJobs(server, fleet, options),
    )
    return {
      options,
      ...figuresOf(rushed, count),
      effort: perFire(rushed.spent, count),
      keptBytes: rushed.keptBytes / count,
      connections: rushed.connections / instances,
    }
  })
}

async function rush(server: BenchServer, fleet: Fleet, options: RushOptions, closer?: Closer): Promise<Kept> {
  const rushed = await rushOfFires(fleet, {
    count: options.count,
    instances: options.instances,
    warm: options.warm ?? false,
    begin: async () => {
      await closer?.begin(server, fleet)
      const spent = await effort(server, options, fleet)
      return async () => {
        const done = await spent()
        await closer?.end(server, fleet)
        return done
      }
    },
    connections: () => connectionsOf(server),
  })
  return { ...rushed, keptBytes: rushed.spent.memoryBytes }
}

/** The jobs are queued, the processes are connected, and timing starts when they are asked to start. */
async function rushOfJobs(server: BenchServer, fleet: Fleet, options: RushOptions): Promise<Kept> {
  const { count, removes = false, warm = false } = options
  await fleet.connect()
  if (warm) {
    await fleet.create({ kind: 'burst', count, at: 0, first: count })
    await fleet.start()
    await fleet.until('ended', count, RUSH_PATIENCE_MS)
    await fleet.pause()
  }
  const total = warm ? 2 * count : count
  const empty = await read(server)
  await fleet.create({ kind: 'burst', count, at: 0 })
  const spent = await effort(server, options, fleet)
  const from = Date.now()
  await fleet.start()
  const { value: counts, most } = await watchMost(
    () => connectionsOf(server),
    () => fleet.until('ended', total, RUSH_PATIENCE_MS),
  )
  const lastEndedAt = Math.max(...counts.map((counted) => counted.lastEndedAt))
  const done = await spent()
  const { memoryBytes } = await read(server)
  const starts = (await fleet.collect()).map((own) => own.filter(([number]) => number < count))
  const audited = await fleet.first.ask({ do: 'audit' }, 'audited')
  await fleet.stop()
  return {
    starts,
    from,
    lastEndedAt,
    spent: done,
    connections: most,
    faults: recordFaults(audited, removes ? 0 : total),
    keptBytes: memoryBytes - empty.memoryBytes,
  }
}
