import { setTimeout as sleep } from 'node:timers/promises'
import { lateOf, onceFaults } from '../shared/starts.ts'
import { quantile } from '../shared/statistics.ts'
import { type FleetOptions, withFleet } from './fleet.ts'
import { monitor, totalOf } from './monitor.ts'
import { read } from './readings.ts'
import { withServer } from './server.ts'

/** What many schedules cost. */
export interface Scale {
  readonly schedules: number
  readonly createMs: number
  /** Of the server, and of its log. */
  readonly memoryBytes: number
  readonly aofBytes: number
  /** One look for what is due, and for when the next one is. */
  readonly lookP50Ms: number
  readonly lookP99Ms: number
  /** Of a fresh process with one instance. */
  readonly heapBytes: number
  /** Commands a minute. */
  readonly idleSent: number
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

export function measureScale(options: FleetOptions, schedules: number, idleSeconds: number): Promise<Scale> {
  return withServer('everysec', async (server) => {
    const empty = await read(server)
    const createMs = await withFleet(server, options, async (fleet) => {
      const ms = await fleet.create({ kind: 'idle', count: schedules })
      await fleet.stop()
      return ms
    })
    const full = await read(server)
    // A fresh process: what creating has left behind is not what an instance needs.
    return withFleet(server, options, async (fleet) => {
      await fleet.start()
      const { each } = await fleet.first.ask({ do: 'look', looks: LOOKS }, 'looked')
      await sleep(5_000)
      const { heapBytes } = await fleet.first.ask({ do: 'weigh' }, 'weighed')
      const before = await read(server)
      const seen = await monitor(server)
      await sleep(idleSeconds * 1000)
      const { sent } = seen()
      const after = await read(server)
      const at = Date.now() + 4_000
      await fleet.create({ kind: 'burst', count: DUE, first: schedules, at })
      await fleet.until('ended', DUE, 60_000)
      const starts = (await fleet.collect()).flat()
      await fleet.stop()
      const { p50Ms, p99Ms, maxMs } = lateOf(starts)
      return {
        schedules,
        createMs,
        memoryBytes: full.memoryBytes - empty.memoryBytes,
        aofBytes: full.aofBytes - empty.aofBytes,
        lookP50Ms: quantile(each, 0.5),
        lookP99Ms: quantile(each, 0.99),
        heapBytes,
        idleSent: (totalOf(sent) / idleSeconds) * 60,
        idleServerCpuMs: ((after.cpuMs - before.cpuMs) / idleSeconds) * 60,
        due: DUE,
        dueP50Ms: p50Ms,
        dueP99Ms: p99Ms,
        dueLastMs: maxMs,
        faults: onceFaults(starts, DUE),
      }
    })
  })
}
