import { setTimeout as sleep } from 'node:timers/promises'
import { perFire, watchMost } from '../shared/effort.ts'
import { ACQUAINT_MS } from '../shared/fleet.ts'
import type { Load } from '../shared/protocol.ts'
import { firstStarts, type Late, lateOf, repeatedFaults } from '../shared/starts.ts'
import { type Effort, effort, type FleetOptions, withFleet } from './fleet.ts'
import { monitor, type Seen } from './monitor.ts'
import { connectionsOf } from './readings.ts'
import { withServer } from './server.ts'

/** A load that the fleet can do: how late each fire starts, and what it costs. */
export interface Lateness extends Late {
  readonly options: FleetOptions
  readonly load: Load
  readonly fires: number
  /** Per fire. */
  readonly effort: Effort
  readonly connections: number
  /** Where every command was looked at. */
  readonly seen?: Seen
  readonly faults: readonly string[]
}

export interface LatenessOptions extends FleetOptions {
  readonly load: Load
  readonly seconds: number
  /** Look at every command, which a busy server has no time for. */
  readonly closely?: boolean
}

const WARM_MS = 3_000

export function measureLateness({ load, seconds, closely = false, ...options }: LatenessOptions): Promise<Lateness> {
  return withServer('everysec', (server) =>
    withFleet(server, options, async (fleet) => {
      if (options.system === 'BullMQ') {
        // Its schedulers begin at a given instant, for which the workers are there.
        await fleet.connect()
        await fleet.start()
        await fleet.create(load)
      } else {
        // Every instance of node-cron has all schedules in its own memory.
        if (options.system === 'cronce') await fleet.create(load)
        else await Promise.all(fleet.peers.map((peer) => peer.ask({ do: 'create', load }, 'done')))
        await fleet.start()
      }
      await sleep(WARM_MS + (options.instances > 1 ? ACQUAINT_MS : 0))
      const look = () => connectionsOf(server)
      const { value, most } = await watchMost(look, async () => {
        // Between two instants, so that none is cut in half.
        await sleep(1_500 - (Date.now() % 1_000))
        const seen = closely ? await monitor(server) : undefined
        const spent = await effort(server, options, fleet)
        const from = Date.now()
        await sleep(seconds * 1000)
        const to = Date.now()
        return { from, to, spent: await spent(), seen: seen?.() }
      })
      // Time for the last due fires to start.
      await sleep(1_500)
      const { from, to, spent, seen } = value
      await fleet.stop()
      const starts = (await fleet.collect()).flat().filter(([, dueAt]) => dueAt >= from && dueAt < to)
      const firsts = firstStarts(starts)
      return {
        options,
        load,
        fires: firsts.length,
        ...lateOf(firsts),
        effort: perFire(spent, firsts.length),
        connections: most / options.instances,
        ...(seen === undefined ? {} : { seen }),
        faults: repeatedFaults(starts, firsts.length, load, from, to),
      }
    }),
  )
}
