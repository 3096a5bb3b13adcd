import { setTimeout as sleep } from 'node:timers/promises'
import { namesOf } from '../shared/audit.ts'
import { perFire, watchMost } from '../shared/effort.ts'
import { ACQUAINT_MS, type Fleet } from '../shared/fleet.ts'
import type { Load } from '../shared/protocol.ts'
import { firstStarts, type Late, lateOf, repeatedFaults } from '../shared/starts.ts'
import { type Effort, effort, type FleetOptions, withFleet } from './fleet.ts'
import { connectionsOf, forgetStatements, type StatementCost, statementsOf } from './readings.ts'
import type { BenchServer } from './server.ts'

/** A load that the fleet can do: how late each fire starts, and what it costs. */
export interface Lateness extends Late {
  readonly options: FleetOptions
  readonly load: Load
  readonly fires: number
  /** Per fire. */
  readonly effort: Effort
  readonly connections: number
  /** Of the statements per fire, those that watch the others' sessions while these hold runs: they come with time, not with fires. */
  readonly watching: number
  /** Per fire, by text, the most frequent first. */
  readonly byStatement: readonly (readonly [text: string, count: number])[]
  readonly faults: readonly string[]
}

const WARM_MS = 3_000
const WATCHING = /pg_(try_)?advisory_|set_config/

export function measureLateness(
  server: BenchServer,
  options: FleetOptions,
  load: Load,
  seconds: number,
): Promise<Lateness> {
  return server.withDatabase((database) =>
    withFleet(database, options, async (fleet) => {
      // Every instance of node-cron has all schedules in its own memory.
      if (options.system === 'cronce') await fleet.create(load)
      else await Promise.all(fleet.peers.map((peer) => peer.ask({ do: 'create', load }, 'done')))
      await fleet.start()
      await sleep(WARM_MS + (options.instances > 1 ? ACQUAINT_MS : 0))
      const look = () => connectionsOf(database)
      const { value, most } = await watchMost(look, async () => {
        // Between two instants, so that none is cut in half.
        await sleep(1_500 - (Date.now() % 1_000))
        await forgetStatements(database)
        const spent = await effort(database, fleet)
        const from = Date.now()
        await sleep(seconds * 1000)
        const to = Date.now()
        return { from, to, spent: await spent(), statements: await statementsOf(database) }
      })
      // Time for the last due fires to start.
      await sleep(1_500)
      const { from, to, spent, statements } = value
      await fleet.stop()
      const starts = (await fleet.collect()).flat().filter(([, dueAt]) => dueAt >= from && dueAt < to)
      const firsts = firstStarts(starts)
      const faults = repeatedFaults(starts, firsts.length, load, from, to)
      return {
        options,
        load,
        fires: firsts.length,
        ...lateOf(firsts),
        effort: perFire(spent, firsts.length),
        connections: most / options.instances,
        watching: options.system === 'cronce' ? sum(statements.filter(isWatching)) / firsts.length : 0,
        byStatement: statements
          .map(({ text, calls }) => [text, calls / firsts.length] as const)
          .sort(([, left], [, right]) => right - left),
        faults: options.system === 'cronce' && faults.length > 0 ? [...faults, await recordOf(fleet)] : faults,
      }
    }),
  )
}

/** The recorded outcomes of all fires, the first seconds included: why some did not run. */
async function recordOf(fleet: Fleet): Promise<string> {
  const audited = await fleet.first.ask({ do: 'audit' }, 'audited')
  return `on record since the start: ${audited.succeeded} succeeded, others: ${namesOf(audited) || 'none'}`
}

function isWatching({ text }: StatementCost): boolean {
  return WATCHING.test(text)
}

function sum(statements: readonly StatementCost[]): number {
  return statements.reduce((all, { calls }) => all + calls, 0)
}
