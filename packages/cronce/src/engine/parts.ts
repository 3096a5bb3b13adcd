import type { Clock } from '../clock.ts'
import type { CronceEvent, EventType } from '../model/event.ts'
import type { Json } from '../model/json.ts'
import type { Labels } from '../model/placement.ts'
import type { LogLine } from '../model/record.ts'
import type { Definition } from '../model/schedule.ts'
import type { StartedRun } from '../policy/decision.ts'
import type { StepOptions } from '../run/run.ts'
import type { Store } from '../store/store.ts'
import type { LeaseLeft } from './fleet/lease.ts'

/** Everything that an engine is made of. It uses no other clock, randomness or identity. */
export interface EngineParts<Tx = unknown> {
  readonly store: Store<Tx>
  readonly clock: Clock
  /** Uniform in [0, 1). */
  readonly random: () => number
  /** Returns a new unique id. */
  readonly newId: () => string
  readonly emit: (event: CronceEvent) => void
  /** Whether events of this type are listened to. */
  readonly hears: (type: EventType) => boolean
  /** Receivers of figures that no event has. Empty unless the app is measured. */
  readonly meters: readonly Meter[]
  /** Jobs that this instance can run, by name. */
  readonly jobs: ReadonlyMap<string, Job<Tx>>
  /** Named moments at which a test may hold or crash the engine. Does nothing in production. */
  readonly sync: (point: SyncPoint) => Promise<void> | void
}

/** Figures that no event has, as plain arguments: a call allocates nothing. */
export interface Meter {
  /** A handler is called: how long after the run was ready it was claimed, and how long after that time it starts. */
  runStarted(job: string, claimLagMs: number, startLagMs: number): void
  /**
   * A run and its fire have succeeded, and no event says so, because nothing listens: see `Decision.success`. `null`: there was an event
   * about the run. `isFire`: there was none about the fire.
   */
  succeeded(job: string, durationMs: number | null, isFire: boolean): void
  /** The store has answered a call of the engine, or failed to. */
  storeCalled(operation: string, ms: number, isFailed: boolean): void
  /** Changes that the store refused because the schedule had been changed since it was read. */
  conflicted(operation: string, count: number): void
}

export type SyncPoint =
  | 'due:sent'
  | 'claim:sent'
  | 'claim:answered'
  | 'run:starting'
  | 'run:due'
  | 'run:returned'
  | 'settle:sent'
  | 'settle:answered'
  | 'beat:sent'
  | 'step:sent'
  | 'step:answered'
  | 'transaction:sent'
  | 'recover:sent'
  | 'declare:sent'
  | 'retire:sent'

export interface Job<Tx = unknown> {
  readonly name: string
  /** Calls the target. Anything it throws becomes the run's error. Unless it returns a promise, the target has ended. */
  readonly execute: (run: RunHandle<Tx>) => unknown
  /** Whether a run is retried after this error. */
  readonly retryable: (error: unknown) => boolean
  /** Its handler only waits for work elsewhere, which another run can go on waiting for, if the fire may have another one. */
  readonly waits?: boolean
}

/** What a target gets to work with. */
export interface RunHandle<Tx = unknown> {
  readonly started: StartedRun
  readonly signal: AbortSignal
  /** A durable step: executed by one run, its result known to all later runs. */
  once(step: string, work: () => unknown, options?: StepOptions): Promise<Json>
  /** Work and the fire's settlement in one transaction of the store's database. */
  transaction<Value>(work: (tx: Tx) => Value | Promise<Value>): Promise<Value>
  progress(fraction: number, message: string | null): void
  log(level: LogLine['level'], message: string): void
  /** Parks the run for `ms` when the handler returns, instead of ending it. Has no effect if the handler throws. */
  park(ms: number): void
  readonly lease: RunLease
}

/** For code that executes a run outside of this process, and must stop by itself if this process is suspended. */
export interface RunLease {
  left(): LeaseLeft
  /** Called whenever the deadline changes, while this instance holds the run. Returns how to unsubscribe. */
  onChange(tell: () => void): () => void
  /** The work was ended from outside, because no renewal of the lease was reported in time. */
  lost(): void
}

export interface EngineSettings {
  readonly app: string
  readonly deployment: string
  /** Whether the deployment has an explicit id; otherwise it is the hash of the declarations. */
  readonly isExplicit: boolean
  readonly host: string
  /** Includes `host`. */
  readonly labels: Labels
  readonly pid: number
  readonly version: string
  readonly zoneData: string
  /** Most runs at a time on this instance. */
  readonly concurrency: number
  readonly leaseMs: number
  /** Longest wait for an answer of the store. */
  readonly storeDeadlineMs: number
  /** How long before its due time a schedule may be claimed. 0: never before. */
  readonly claimAheadMs: number
  /** How long settlements are gathered, so that runs that end one after the other share a write. */
  readonly settleDelayMs: number
  /** How long the preferred instance of a schedule goes first. */
  readonly patienceMs: number
  /** Time between two probes of peers' processes, where the store can tell whether they live. */
  readonly probeMs: number
  /** How long a deployment must be gone before an older one counts again, and ready before it retires anything. */
  readonly holdDownMs: number
  /** How long live processes of an older explicit deployment keep a schedule that the newest one does not declare. */
  readonly retireAfterMs: number
  /** A run without a timeout is reported as stuck after this time. */
  readonly stuckMs: number
  /** What it does besides its jobs, as names that its peers see among them. */
  readonly duties: readonly string[]
  /** Time between two looks of the watchdog. */
  readonly watchMs: number
  /** Schedules that the code declares. */
  readonly declared: readonly Declared[]
  /** Names that stand for the schedules of all hosts: see `everyHost`. */
  readonly families: readonly string[]
  /** The option `watch` of the jobs, by job. */
  readonly watch: Readonly<Record<string, Json>>
}

export interface Declared {
  readonly id: string
  readonly definition: Definition
  /** The schedule that it continues under a new name. */
  readonly was?: string | undefined
}
