import type { Meter } from '../engine/parts.ts'
import type { CronceEvent } from '../model/event.ts'
import type { Store } from '../store/store.ts'
import type { Emitter } from './emitter.ts'
import type { DeclaredJob, Middleware } from './job.ts'
import type { LazyStore } from './lazy-store.ts'
import type { Logger } from './logger.ts'
import type { ResolvedOptions } from './options.ts'
import type { Surroundings } from './surroundings.ts'

/** What all parts of one app share. */
export interface AppCore<Tx> {
  /** It is asked what it declares, and never starts. */
  readonly isDeclaring: boolean
  readonly resolved: ResolvedOptions
  readonly around: Surroundings
  readonly logger: Required<Logger>
  readonly events: Emitter
  /** Logs the event and passes it to all listeners. */
  readonly emit: (event: CronceEvent) => void
  /** Receivers of the engine's figures. */
  readonly meters: Meter[]
  /** What the store warned about, by code. */
  readonly storeWarnings: Map<string, string>
  readonly lazy: LazyStore<Tx>
  /** Opens another namespace of the store. */
  readonly open: (namespace: string) => Promise<Store<Tx>>
  /** The namespace that the heartbeats of all fleets share: opened with the first heartbeat, closed with the app. */
  heartbeats: LazyStore<Tx> | null
  /** The declared jobs, by name. */
  readonly jobs: Map<string, DeclaredJob<Tx>>
  readonly middleware: Middleware<Tx>[]
  /** Reports of ended runs that are on their way. */
  readonly checkIns: Set<Promise<void>>
}
