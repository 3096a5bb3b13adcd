import type { StoreSource } from '../store.ts'
import { makeCore } from './core.ts'
import { emptyData, type MemoryData } from './data.ts'
import { openStore } from './store.ts'
import { beginTransaction, commit, type MemoryTransaction } from './transaction.ts'

/** Options of `memory()`. */
export interface MemoryOptions {
  /** The store's clock. @default the process's */
  readonly clock?: { wall(): number } | undefined
  /** What it begins with, and keeps writing to. @default nothing */
  readonly data?: MemoryData | undefined
  /** A `restore` to a higher epoch is a failover that lost what was written since. @default false */
  readonly losesWrites?: boolean | undefined
}

/**
 * A store that lives as long as this object: all that is opened from it shares its data, as several processes would share a
 * database.
 */
export interface MemorySource extends StoreSource<MemoryTransaction> {
  /** As it is now, and changing; to keep a moment, take a copy. To be read only. */
  readonly data: MemoryData
  /** Go on with other data, which is the store's from now on. Open transactions are lost. */
  restore(data: MemoryData): void
  /** A transaction by itself: committed when the function ends, rolled back if it throws. */
  transaction<Value>(work: (tx: MemoryTransaction) => Value | Promise<Value>): Promise<Value>
}

/**
 * The reference store: in this process only, and gone with it. For tests, simulations and applications with one instance
 * that need no memory of what ran before a restart.
 *
 * States and records are kept as they are handed in, not copied, and are what later answers contain: neither side changes them.
 * Values that user code gets from the store itself (results of steps, what a transaction reads and writes) are copied.
 */
export function memory({
  clock = { wall: Date.now },
  data = emptyData(),
  losesWrites = false,
}: MemoryOptions = {}): MemorySource {
  const core = makeCore(data, clock, losesWrites)
  return {
    name: 'memory',
    get data() {
      return core.data
    },
    restore: core.restore,
    open: async ({ namespace }) => openStore(core, namespace),
    async transaction(work) {
      const open = beginTransaction(core)
      try {
        const value = await work(open.tx)
        commit(core, open)
        return value
      } finally {
        open.isOver = true
      }
    },
  }
}
