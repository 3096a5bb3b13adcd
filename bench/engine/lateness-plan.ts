import { setTimeout as sleep } from 'node:timers/promises'
import { quantile } from '../shared/statistics.ts'
import { acquaintMs, callsOf, type FleetOptions, startFleet, withFile } from './fleet.ts'

/** A steady load that the fleet can do: how late each fire starts, and what it costs the store. */
export interface Lateness {
  readonly options: FleetOptions
  readonly perSecond: number
  readonly seconds: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  readonly callsPerFire: number
  readonly faults: readonly string[]
}

const WARM_MS = 3_000

export function measureLateness(
  options: Omit<FleetOptions, 'file'>,
  perSecond: number,
  seconds: number,
): Promise<Lateness> {
  return withFile(async (file) => {
    const fleet = await startFleet({ ...options, file })
    await fleet.create({ kind: 'steady', count: perSecond })
    await fleet.start()
    await sleep(WARM_MS + acquaintMs(options.instances))
    const before = await fleet.counts()
    const from = Date.now()
    await sleep(seconds * 1000)
    const to = Date.now()
    const after = await fleet.counts()
    // Time for the last due fires to start.
    await sleep(1_000)
    const starts = (await fleet.collect()).flat().filter(([, dueAt]) => dueAt >= from && dueAt < to)
    await fleet.stop()
    const late = starts.map(([, , lateMs]) => lateMs)
    const ended = sum(after.map((count) => count.ended)) - sum(before.map((count) => count.ended))
    return {
      options,
      perSecond,
      seconds,
      p50Ms: quantile(late, 0.5),
      p99Ms: quantile(late, 0.99),
      maxMs: quantile(late, 1),
      callsPerFire: (callsOf(after) - callsOf(before)) / ended,
      faults: faultsOf(starts, perSecond, from, to),
    }
  })
}

/** Every schedule once in every second that lies within. */
function faultsOf(
  starts: readonly (readonly [schedule: number, dueAt: number, lateMs: number])[],
  perSecond: number,
  from: number,
  to: number,
): string[] {
  const distinct = new Set(starts.map(([schedule, dueAt]) => `${schedule} ${dueAt}`))
  const least = Math.floor((to - from) / 1000) * perSecond
  const faults: string[] = []
  if (distinct.size < least) faults.push(`${least - distinct.size} of ${least} fires at ${perSecond}/s did not run`)
  if (starts.length > distinct.size) faults.push(`${starts.length - distinct.size} fires ran twice`)
  return faults
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0)
}
