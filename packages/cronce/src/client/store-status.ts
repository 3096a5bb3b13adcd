import { readStore } from './ask-store.ts'
import type { ClientParts } from './parts.ts'

/** The store: its kind, clock and epoch. */
export interface StoreView {
  /** The kind of store and where it is, without secrets. */
  readonly name: string
  readonly epoch: number
  /** Whether `exactly-once` is possible. */
  readonly transactions: boolean
  /** Whether the end of a process is noticed without waiting for its lease. */
  readonly probes: boolean
  /** Whether a failover may lose what was acknowledged. */
  readonly losesWrites: boolean
  /** The store's clock. */
  readonly now: number
  /** How long it took to answer. */
  readonly latencyMs: number
  /** This machine's clock minus the store's, give or take half the latency. */
  readonly offsetMs: number
}

/** Questions about the store itself. */
export interface StoreStatus {
  /** Ask the store, and say what it is and how far away. */
  check(): Promise<StoreView>
}

export function makeStoreStatus<Tx>({ store, context }: ClientParts<Tx>): StoreStatus {
  return {
    async check() {
      const { clock } = context()
      // The first answer may have to wait for the store to be opened.
      await readStore('answer', () => store.load([]))
      const sentAt = clock.wall()
      const begunAt = clock.mono()
      const { now, epoch } = await readStore('answer', () => store.load([]))
      const latencyMs = clock.mono() - begunAt
      const { name, transactions, probes, losesWrites } = store.info
      const offsetMs = Math.round(sentAt + latencyMs / 2 - now)
      return { name, epoch, transactions, probes, losesWrites, now, latencyMs, offsetMs }
    },
  }
}
