import { setTimeout as sleep } from 'node:timers/promises'
import { quantile } from '../shared/statistics.ts'
import { effort, type FleetOptions, withFleet } from './fleet.ts'
import { tablesOf } from './readings.ts'
import { type BenchServer, tell } from './server.ts'

/** What many schedules cost. */
export interface Scale {
  readonly schedules: number
  readonly createMs: number
  /** Of the tables and their indexes. */
  readonly diskBytes: number
  /** One look for what is due, and for when the next one is. */
  readonly lookP50Ms: number
  readonly lookP99Ms: number
  /** Of a fresh process with one instance. */
  readonly heapBytes: number
  readonly idleStatements: number
  readonly idleServerCpuMs: number
  /** The number of these that are due at one instant. */
  readonly due: number
  readonly dueP50Ms: number
  readonly dueP99Ms: number
  readonly dueLastMs: number
  readonly faults: readonly string[]
}

const LOOKS = 300
const DUE = 1_000

export function measureScale(
  server: BenchServer,
  options: FleetOptions,
  schedules: number,
  idleSeconds: number,
): Promise<Scale> {
  return server.withDatabase(async (database) => {
    const createMs = await withFleet(database, options, async (fleet) => {
      const ms = await fleet.create({ kind: 'idle', count: schedules })
      await fleet.stop()
      return ms
    })
    await tell(database, 'vacuum analyze')
    // A fresh process: what creating has left behind is not what an instance needs.
    return withFleet(database, options, async (fleet) => {
      await fleet.start()
      const { each } = await fleet.first.ask({ do: 'look', looks: LOOKS }, 'looked')
      await sleep(5_000)
      const { heapBytes } = await fleet.first.ask({ do: 'weigh' }, 'weighed')
      const spent = await effort(database, fleet)
      await sleep(idleSeconds * 1000)
      const idle = await spent()
      const at = Date.now() + 4_000
      await fleet.create({ kind: 'burst', count: DUE, first: schedules, at })
      await fleet.until('ended', DUE, 60_000)
      const starts = (await fleet.collect()).flat()
      await fleet.stop()
      const late = starts.map(([, , lateMs]) => lateMs)
      const distinct = new Set(starts.map(([number]) => number)).size
      const tables = await tablesOf(database)
      return {
        schedules,
        createMs,
        diskBytes: tables.reduce((sum, { bytes }) => sum + bytes, 0),
        lookP50Ms: quantile(each, 0.5),
        lookP99Ms: quantile(each, 0.99),
        heapBytes,
        idleStatements: (idle.statements / idleSeconds) * 60,
        idleServerCpuMs: (idle.cpuMs / idleSeconds) * 60,
        due: DUE,
        dueP50Ms: quantile(late, 0.5),
        dueP99Ms: quantile(late, 0.99),
        dueLastMs: quantile(late, 1),
        faults:
          distinct === DUE && starts.length === DUE ? [] : [`${starts.length} runs of ${distinct} of ${DUE} fires`],
      }
    })
  })
}
