import { setTimeout as sleep } from 'node:timers/promises'
import { quantile } from '../shared/statistics.ts'
import { sizeOf, startFleet, withFile } from './fleet.ts'
import type { StoreKind } from './protocol.ts'

/** What many schedules cost. */
export interface Scale {
  readonly store: StoreKind
  readonly schedules: number
  readonly createMs: number
  /** One look for what is due, and for when the next one is. */
  readonly lookP50Ms: number
  readonly lookP99Ms: number
  /** Of a process with one instance; in memory, the store is in it. */
  readonly rssBytes: number
  readonly heapBytes: number
  readonly fileBytes: number
}

const LOOKS = 500

export function measureScale(store: StoreKind, schedules: number): Promise<Scale> {
  return withFile(async (file) => {
    const options = { store, instances: 1, file, megabytes: 12_000 }
    let fleet = await startFleet(options)
    const createMs = await fleet.create({ kind: 'idle', count: schedules })
    // A fresh process: what creating has left behind is not what an instance needs.
    if (store === 'sqlite') {
      await fleet.stop()
      fleet = await startFleet(options)
    }
    await fleet.start()
    const { each } = await fleet.first.ask({ do: 'look', looks: LOOKS }, 'looked')
    await sleep(2_000)
    const { rssBytes, heapBytes } = await fleet.first.ask({ do: 'weigh' }, 'weighed')
    await fleet.stop()
    return {
      store,
      schedules,
      createMs,
      lookP50Ms: quantile(each, 0.5),
      lookP99Ms: quantile(each, 0.99),
      rssBytes,
      heapBytes,
      fileBytes: sizeOf(file),
    }
  })
}
