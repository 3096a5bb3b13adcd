import { setTimeout as sleep } from 'node:timers/promises'
import { ACQUAINT_MS } from '../shared/fleet.ts'
import { effort, type FleetOptions, withFleet } from './fleet.ts'
import { connectionsOf, forgetStatements, statementsOf } from './readings.ts'
import type { BenchServer } from './server.ts'

/** What an instance costs in a minute in which nothing is due. */
export interface Idle {
  readonly options: FleetOptions
  readonly schedules: number
  readonly seconds: number
  readonly statements: number
  readonly transactions: number
  readonly walBytes: number
  readonly serverCpuMs: number
  readonly clientCpuMs: number
  readonly connections: number
  /** Per minute and instance, by the beginning of the text. */
  readonly byStatement: readonly (readonly [text: string, count: number])[]
}

/** What starting leaves to be done: the app is announced, the others are met, and after the hold-down there is one look for what left the code. */
const SETTLE_MS = 90_000

export function measureIdle(
  server: BenchServer,
  options: FleetOptions,
  schedules: number,
  seconds: number,
): Promise<Idle> {
  return server.withDatabase((database) =>
    withFleet(database, options, async (fleet) => {
      await fleet.create({ kind: 'idle', count: schedules })
      await fleet.start()
      await sleep(SETTLE_MS + ACQUAINT_MS)
      await forgetStatements(database)
      const spent = await effort(database, fleet)
      await sleep(seconds * 1000)
      const done = await spent()
      const all = await statementsOf(database)
      const connections = (await connectionsOf(database)) / options.instances
      await fleet.stop()
      const perMinute = (count: number) => ((count / seconds) * 60) / options.instances
      return {
        options,
        schedules,
        seconds,
        statements: perMinute(done.statements),
        transactions: perMinute(done.transactions),
        walBytes: perMinute(done.walBytes),
        serverCpuMs: perMinute(done.cpuMs),
        clientCpuMs: perMinute(done.clientCpuMs),
        connections,
        byStatement: all.map(({ text, calls }) => [text, perMinute(calls)] as const),
      }
    }),
  )
}
