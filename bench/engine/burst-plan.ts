import { setTimeout as sleep } from 'node:timers/promises'
import { quantile } from '../shared/statistics.ts'
import { acquaintMs, callsOf, type FleetOptions, startFleet, withFile } from './fleet.ts'
import type { Counted } from './protocol.ts'

/** Many fires due at one instant, with the fleet waiting for it. */
export interface Burst {
  readonly options: FleetOptions
  readonly count: number
  /** From the instant on, in milliseconds. */
  readonly p50Ms: number
  readonly p99Ms: number
  readonly lastStartMs: number
  readonly lastEndMs: number
  readonly firesPerSecond: number
  /** Of all processes together. */
  readonly cpuMsPerFire: number
  /** Without the threads that collect garbage. */
  readonly mainMsPerFire: number
  readonly callsPerFire: number
  /** Runs of each process. */
  readonly spread: readonly number[]
  readonly faults: readonly string[]
}

export function measureBurst(options: Omit<FleetOptions, 'file'>, count: number): Promise<Burst> {
  return withFile(async (file) => {
    const fleet = await startFleet({ ...options, file })
    // Generous: all schedules exist by then, and all instances have joined.
    const at = Date.now() + 4_000 + count / 8 + acquaintMs(options.instances)
    await fleet.create({ kind: 'burst', count, at })
    await fleet.start()
    if (Date.now() >= at) throw new Error(`The burst of ${count} was due before the fleet was ready.`)
    const before = sumOf(await fleet.counts())
    await sleep(at - Date.now())
    const counts = await fleet.ended(count, 120_000)
    const starts = await fleet.collect()
    const { succeeded, others } = await fleet.first.ask({ do: 'audit' }, 'audited')
    await fleet.stop()
    const late = starts.flat().map(([, , lateMs]) => lateMs)
    const lastEndMs = Math.max(...counts.map(({ lastEndedAt }) => lastEndedAt)) - at
    const after = sumOf(counts)
    return {
      options,
      count,
      p50Ms: quantile(late, 0.5),
      p99Ms: quantile(late, 0.99),
      lastStartMs: quantile(late, 1),
      lastEndMs,
      firesPerSecond: count / (lastEndMs / 1000),
      cpuMsPerFire: (after.cpuMs - before.cpuMs) / count,
      mainMsPerFire: (after.mainMs - before.mainMs) / count,
      callsPerFire: (after.calls - before.calls) / count,
      spread: starts.map(({ length }) => length),
      faults: faultsOf(
        count,
        starts.flat().map(([schedule]) => schedule),
        { succeeded, others },
      ),
    }
  })
}

function sumOf(counts: readonly Counted[]): {
  readonly calls: number
  readonly cpuMs: number
  readonly mainMs: number
} {
  return {
    calls: callsOf(counts),
    cpuMs: counts.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
    mainMs: counts.reduce((sum, { mainMs }) => sum + mainMs, 0),
  }
}

/** Each exactly once, in the handlers and on record. */
function faultsOf(
  count: number,
  started: readonly number[],
  recorded: { readonly succeeded: number; readonly others: number },
): string[] {
  const distinct = new Set(started)
  const faults: string[] = []
  if (distinct.size < count) faults.push(`${count - distinct.size} of ${count} fires never started`)
  if (started.length > distinct.size) faults.push(`${started.length - distinct.size} fires started twice`)
  if (recorded.succeeded !== count || recorded.others !== 0) {
    faults.push(`on record are ${recorded.succeeded} succeeded fires and ${recorded.others} others, not ${count} and 0`)
  }
  return faults
}
