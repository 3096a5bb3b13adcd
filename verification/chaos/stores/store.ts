import type { StoreSource } from '../../../packages/cronce/src/store/store.ts'
import type { FakeClock } from '../clock/clock.ts'
import type { EffectRow } from '../order.ts'

/** A store that chaos can be made on. Another one is another such object; nothing else knows what kind it is. */
export interface ChaosStore {
  readonly name: string
  /** It wants to mount a disk of its own. */
  readonly mounts: boolean
  /** What users write can be part of the store's own transactions. */
  readonly transacts: boolean
  /** Everything is in this folder, which is deleted on close. */
  prepare(folder: string, options: PrepareOptions): Promise<PreparedStore>
}

export interface PrepareOptions {
  /** The clock of the processes of the fleet. */
  readonly wall: () => number
  /** Clocks will be set: the server's too, if that can be done. */
  readonly setsClock: boolean
}

export interface PreparedStore {
  /** What a process opens: the path of a `StoreModule`, and the address for it. */
  readonly module: string
  readonly url: string
  /** For the controller itself. */
  readonly source: StoreSource<unknown>
  /**
   * Where the server listens, and its address through another port of this host (a proxy). `null`: the store has no
   * network.
   */
  readonly network: { readonly host: string; readonly port: number; readonly urlBy: (port: number) => string } | null
  /** What its clock shows. */
  readonly now: () => Promise<number>
  /** A small write, committed as the product's are. Rejects if the store refuses it or cannot be reached. */
  readonly probe: () => Promise<unknown>
  /** `host`: that of the processes, which is set for all of them together. `own`: a server's; each process has another one. */
  readonly clock: 'host' | 'own'
  /** How far recorded times may be from the store's clock, if the store reports its clock inexactly. @default 0 */
  readonly clockErrorMs?: number
  /** `Bounds.clockLagMs`. */
  readonly clockLagMs?: number
  /** Faults of the server. `null`: the store has no server. */
  readonly server: ServerUnderChaos | null
  /** No stopped process blocks the writes of its peers. */
  readonly isFree: () => boolean
  /** Use up the disk under it, and give it back; or why that can't be done here. */
  readonly disk: { readonly fill: () => void; readonly free: () => void } | { readonly reason: string }
  /** The user's table. */
  readonly effects: () => Promise<readonly EffectRow[]>
  readonly close: () => Promise<void>
}

/**
 * How a server ends. `fast`: it notifies its sessions. `immediate`: it skips the clean-up. `crash`: SIGKILL to all its
 * processes.
 */
export type ServerEnd = 'fast' | 'immediate' | 'crash'

export interface ServerUnderChaos {
  /** Returns when it is there again, `downMs` after it ended. */
  readonly restart: (end: ServerEnd, downMs: number) => Promise<void>
  /** Ends this share of the open connections, in random order. Returns their number. */
  readonly disconnect: (share: number) => Promise<number>
  /** Its own, which no process of the fleet has; or why it can't be set. */
  readonly clock: Pick<FakeClock, 'step'> | { readonly reason: string }
  /** What else servers of this kind do. */
  readonly tricks: readonly ServerTrick[]
}

export interface ServerTrick {
  readonly name: string
  /** Lasts about `ms`. `wait` ends early when calm is requested. Resolves when the fault is over. */
  readonly play: (ms: number, wait: (ms: number) => Promise<void>) => Promise<void>
}

/** What processes of the fleet import. */
export interface StoreModule {
  readonly source: (url: string) => StoreSource<unknown>
  /** Write a row of the user's table in the user's transaction. Waits only where such a transaction may. */
  readonly insert: (tx: unknown, row: EffectRow) => void | Promise<void>
  /** A process inside a transaction blocks the writes of all others. */
  readonly isOneWriter: boolean
}
