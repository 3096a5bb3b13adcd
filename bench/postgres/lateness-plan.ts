import { setTimeout as sleep } from 'node:timers/promises'
import { quantile } from '../shared/statistics.ts'
import { ACQUAINT_MS, type Effort, effort, type FleetOptions, watchConnections, withFleet } from './fleet.ts'
import type { Load, Start } from './protocol.ts'
import { forgetStatements, type StatementCost, statementsOf } from './readings.ts'
import { perFire } from './rush-plan.ts'
import type { BenchServer } from './server.ts'

/** A load that the fleet can do: how late each fire starts, and what it costs. */
export interface Lateness {
  readonly options: FleetOptions
  readonly load: Load
  readonly fires: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
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
      const { value, connections } = await watchConnections(database, options.instances, async () => {
        // Between two instants, so that none is cut in half.
        await sleep(1_500 - (Date.now() % 1_000))
        await forgetStatements(database)
        const spent = await effort(database, fleet)
        const from = Date.now()
        await sleep(seconds * 1000)
        const to = Date.now()
        return { from, to, spent: await spent(), statements: await statementsOf(database) }
      })
      // What was due at the very end has until now to start.
      await sleep(1_500)
      const { from, to, spent, statements } = value
      await fleet.stop()
      const starts = (await fleet.collect()).flat().filter(([, dueAt]) => dueAt >= from && dueAt < to)
      const firsts = firstStarts(starts)
      const late = firsts.map(([, , lateMs]) => lateMs)
      return {
        options,
        load,
        fires: firsts.length,
        p50Ms: quantile(late, 0.5),
        p99Ms: quantile(late, 0.99),
        maxMs: quantile(late, 1),
        effort: perFire(spent, firsts.length),
        connections,
        watching: options.system === 'cronce' ? sum(statements.filter(isWatching)) / firsts.length : 0,
        byStatement: statements
          .map(({ text, calls }) => [text, calls / firsts.length] as const)
          .sort(([, left], [, right]) => right - left),
        faults: faultsOf(starts, firsts.length, load, from, to),
      }
    }),
  )
}

function isWatching({ text }: StatementCost): boolean {
  return WATCHING.test(text)
}

function sum(statements: readonly StatementCost[]): number {
  return statements.reduce((all, { calls }) => all + calls, 0)
}

/** Of a fire that started several times, the earliest. */
function firstStarts(starts: readonly Start[]): Start[] {
  const firsts = new Map<string, Start>()
  for (const start of starts) {
    const key = `${start[0]} ${start[1]}`
    const known = firsts.get(key)
    if (known === undefined || start[2] < known[2]) firsts.set(key, start)
  }
  return [...firsts.values()]
}

/** Every schedule once at every instant that lies within. */
function faultsOf(starts: readonly Start[], fires: number, load: Load, from: number, to: number): string[] {
  const intervalMs = load.kind === 'together' ? load.intervalMs : 1_000
  const least = Math.floor((to - from) / intervalMs) * load.count
  const faults: string[] = []
  if (fires < least) faults.push(`${least - fires} of ${least} fires did not run`)
  if (starts.length > fires) faults.push(`${starts.length - fires} runs too many of ${fires} fires`)
  return faults
}
