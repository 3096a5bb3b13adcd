import { setTimeout as sleep } from 'node:timers/promises'
import { ACQUAINT_MS } from '../shared/fleet.ts'
import { effort, type FleetOptions, withFleet } from './fleet.ts'
import { monitor, totalOf } from './monitor.ts'
import { connectionsOf } from './readings.ts'
import { commandName } from './script-names.ts'
import { withServer } from './server.ts'

/** What an instance costs in a minute in which nothing is due. */
export interface Idle {
  readonly options: FleetOptions
  readonly schedules: number
  readonly seconds: number
  /** Commands that it sends, and those that are called inside its scripts. */
  readonly sent: number
  readonly inside: number
  readonly aofBytes: number
  readonly serverCpuMs: number
  readonly clientCpuMs: number
  readonly connections: number
  /** Per minute and instance, the most frequent first. */
  readonly byCommand: readonly (readonly [name: string, count: number])[]
}

/** What starting leaves to be done: the app is announced, the others are met, old records are looked for. */
const SETTLE_MS = 90_000

export function measureIdle(options: FleetOptions, schedules: number, seconds: number): Promise<Idle> {
  return withServer('everysec', (server) =>
    withFleet(server, options, async (fleet) => {
      await fleet.create({ kind: 'idle', count: schedules })
      await fleet.start()
      await sleep(SETTLE_MS + ACQUAINT_MS)
      const connections = (await connectionsOf(server)) / options.instances
      const spent = await effort(server, options, fleet)
      const seen = await monitor(server)
      await sleep(seconds * 1000)
      const { sent, inside } = seen()
      const done = await spent()
      await fleet.stop()
      const perMinute = (count: number) => ((count / seconds) * 60) / options.instances
      return {
        options,
        schedules,
        seconds,
        sent: perMinute(totalOf(sent)),
        inside: perMinute(totalOf(inside)),
        aofBytes: perMinute(done.aofBytes),
        serverCpuMs: perMinute(done.cpuMs),
        clientCpuMs: perMinute(done.clientCpuMs),
        connections,
        byCommand: [...sent].map(([command, calls]) => [commandName(command), perMinute(calls)] as const),
      }
    }),
  )
}
