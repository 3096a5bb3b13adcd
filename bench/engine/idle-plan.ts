import { setTimeout as sleep } from 'node:timers/promises'
import { acquaintMs, callsOf, type FleetOptions, startFleet, withFile } from './fleet.ts'
import type { Counted } from './protocol.ts'

/** What an instance costs while nothing is due, in a minute. */
export interface Idle {
  readonly options: FleetOptions
  readonly schedules: number
  readonly calls: number
  readonly byCall: ReadonlyMap<string, number>
  readonly statements: number
  readonly cpuMs: number
}

export function measureIdle(options: Omit<FleetOptions, 'file'>, schedules: number, seconds: number): Promise<Idle> {
  return withFile(async (file) => {
    const fleet = await startFleet({ ...options, file, countSql: options.store === 'sqlite' })
    await fleet.create({ kind: 'idle', count: schedules })
    await fleet.start()
    await sleep(2_000 + acquaintMs(options.instances))
    const before = await fleet.counts()
    await sleep(seconds * 1000)
    const after = await fleet.counts()
    await fleet.stop()
    const perMinute = (of: (count: Counted) => number) =>
      (after.reduce((sum, count, index) => sum + of(count) - of(before[index]!), 0) / options.instances / seconds) * 60
    const names = new Set(after.flatMap(({ calls }) => Object.keys(calls)))
    const byCall = [...names].map((name) => [name, perMinute(({ calls }) => calls[name] ?? 0)] as const)
    return {
      options,
      schedules,
      calls: perMinute((count) => callsOf([count])),
      byCall: new Map(byCall.filter(([, count]) => count > 0)),
      statements: perMinute(({ statements }) => statements),
      cpuMs: perMinute(({ cpuMs }) => cpuMs),
    }
  })
}
