/**
 * A history: what a harness saw from outside while a scheduler ran. Plain data, so that it can be written down, cut, replayed and
 * judged later. Its words are its own; the recorder translates.
 *
 * Two witnesses speak in it, and neither is believed alone: what handlers and the harness wrote down themselves (`entries`), and what
 * the scheduler says about itself (`reads`).
 */
export interface History {
  readonly format: 1
  /** What the store's clock showed at time 0. */
  readonly epoch: Instant
  readonly bounds: Bounds
  /** By `at`, ascending. */
  readonly entries: readonly Entry[]
  /** Reads of the whole ledger, the earliest first. The last one is judged in full, the others for what must not go back. */
  readonly reads: readonly Ledger[]
  /** Which app each schedule belonged to, the earliest first. Not given: every node that has a job runs all of its schedules. */
  readonly owners?: readonly Ownership[] | undefined
}

/** From `at` on, only nodes of this app run the schedule. `null`: a client made it, and it belongs to no app. */
export interface Ownership {
  readonly at: Time
  readonly schedule: string
  readonly app: string | null
}

/** Milliseconds since the history began, by the harness's clock, which nothing disturbs. */
export type Time = number
/** Epoch milliseconds, by the store's clock or of a schedule. */
export type Instant = number

/** What the scheduler declares, and is held to. */
export interface Bounds {
  /** How long an instance that died silently may hold its runs. */
  readonly leaseMs: number
  /** After the last fault is over, everything is right again within this. */
  readonly recoveryMs: number
  /** While nothing is wrong, what is ready starts within this. */
  readonly lateMs: number
  /** How long before their due time fires may be claimed. @default 0 */
  readonly claimAheadMs?: number
  /** How far the harness's idea of the store's clock may be off. */
  readonly clockErrorMs: number
  /** How far behind the store's clock a process may be when it records an end. @default 0 */
  readonly clockLagMs?: number
  /**
   * Nodes and the store were starved wherever no `healthy` entry covers them for longer than this. Rules about elapsed time do not
   * judge such stretches. `null`: time is virtual, and nothing can starve.
   */
  readonly starvedMs: number | null
}

/** A start, an end or an answer takes up to a dozen turns of a node and the store, one after the other: conflict, read, decide, write. */
const MOST_TURNS = 12

/** While nothing is wrong, what is ready starts within this, and what has finished is settled: every turn may take `starvedMs`. */
export function longestMs({ lateMs, starvedMs }: Bounds): number {
  return Math.max(lateMs, MOST_TURNS * (starvedMs ?? 0))
}

export type Entry = Operation | Start | Finish | Effect | NodeEntry | Fault | ClockStep | Healthy

/** A client or an operator made a request. */
export type Operation = OperationFrame & Request

interface OperationFrame {
  readonly kind: 'operation'
  /** When it was asked. */
  readonly at: Time
  /** When it was answered; `null`: never. */
  readonly endedAt: Time | null
  /** `info`: whether it happened, and when, is unknown. It may happen as late as the end of the history. */
  readonly result: 'ok' | 'fail' | 'info'
  readonly schedule: string
}

export type Request =
  /** Make it, or make it different. From the code (a deploy) or by an operator. */
  | { readonly verb: 'define'; readonly spec: Spec }
  /** `retire`: it left the code. Both end it. */
  | { readonly verb: 'remove' | 'retire' }
  | { readonly verb: 'pause'; readonly until: Instant | null; readonly missed: 'skip' | 'latest' | 'all' }
  | { readonly verb: 'resume'; readonly missed: 'skip' | 'latest' | 'all' }
  | { readonly verb: 'trigger'; readonly nonce: string | null }
  /** Instants from `from` to `to`, both included. `force`: also those from before the schedule was made. */
  | { readonly verb: 'backfill'; readonly from: Instant; readonly to: Instant; readonly force: boolean }
  | { readonly verb: 'skip-next'; readonly dueAt: Instant }
  /** A fire, or the run with this token. */
  | { readonly verb: 'cancel'; readonly dueAt: Instant; readonly nonce: string; readonly token: string | null }
  | { readonly verb: 'retry'; readonly dueAt: Instant; readonly nonce: string; readonly force: boolean }

/** A schedule, as far as it can be judged. Every field is explicit: nothing is defaulted here. */
export interface Spec {
  readonly job: string
  /** `null`: fires only when triggered. */
  readonly trigger: CronSpec | EverySpec | AtSpec | null
  readonly start: Instant | null
  readonly end: Instant | null
  readonly limit: number | null
  readonly guarantee: 'at-least-once' | 'at-most-once' | 'exactly-once'
  readonly overlap: { readonly kind: 'skip' | 'queue' | 'queue-all' | 'allow' | 'replace'; readonly limit: number }
  readonly misfire: {
    readonly graceMs: number
    readonly late: 'skip' | 'latest' | 'all'
    readonly limit: number
    readonly windowMs: number
  }
  readonly retry: { readonly attempts: number; readonly crashes: number; readonly deadlineMs: number | null }
  readonly timeout: { readonly runMs: number | null; readonly graceMs: number }
  /** Starts may be up to this much after the due time. */
  readonly jitterMs: number
  /** The minimum time for which records are kept after the fire ended. */
  readonly keepMs: number
  /** And at least this many of them. */
  readonly keepCount: number
  /** Runs at a time over all schedules of the job, and over all of a named group. */
  readonly jobLimit: number | null
  readonly group: { readonly name: string; readonly limit: number } | null
  readonly pauseAfter: number | null
}

export interface CronSpec {
  readonly kind: 'cron'
  readonly expression: string
  readonly tz: string
  readonly dst: 'auto' | 'wall' | 'once' | 'shift'
  /** Closed days, and what becomes of their fires. */
  readonly calendar?: {
    readonly days: string
    readonly excluded?: 'skip' | 'next-working-day' | 'previous-working-day' | 'nearest' | undefined
  }
}

export interface EverySpec {
  readonly kind: 'every'
  readonly everyMs: number
  readonly anchor: Instant
}

export interface AtSpec {
  readonly kind: 'at'
  readonly at: Instant
}

/** A handler was called. Written by the handler itself, over a channel that no fault cuts. */
export interface Start extends RunOfFire {
  readonly kind: 'start'
  readonly at: Time
  /** Which process it is in; a process that was started again is another one. */
  readonly node: string
}

/** It came to its end. A run without one was cut short. */
export interface Finish extends RunOfFire {
  readonly kind: 'finish'
  readonly at: Time
  readonly node: string
  readonly how: 'returned' | 'threw'
}

/** A run tried to leave a mark outside of itself, and was let or not. */
export interface Effect extends RunOfFire {
  readonly kind: 'effect'
  readonly at: Time
  readonly node: string
  /**
   * `transaction`: rows of the user, in one transaction with the settlement; `accepted` is what the table says in the end.
   * `step`: the work of a durable step was recorded as done by this run.
   * `fenced`: a resource that compares tokens took it.
   */
  readonly sink: 'transaction' | 'step' | 'fenced'
  /** Of the step or the resource. */
  readonly key: string
  readonly accepted: boolean
}

export interface RunOfFire {
  readonly schedule: string
  readonly dueAt: Instant
  readonly nonce: string
  readonly attempt: number
  /** The fencing token, in decimal. */
  readonly token: string
}

/** A process began, became able to run these schedules' jobs, was asked to stop, or ended. */
export interface NodeEntry {
  readonly kind: 'node'
  readonly at: Time
  readonly node: string
  readonly what: 'started' | 'ready' | 'stopping' | 'ended'
  /** Jobs that it can run. */
  readonly jobs: readonly string[]
  /** Runs that it executes at a time; absent: unlimited. */
  readonly concurrency?: number
  /** The app that the process belongs to. Must be given where the history has `owners`. */
  readonly app?: string
}

/** Something was done to the system on purpose. */
export interface Fault {
  readonly kind: 'fault'
  readonly at: Time
  /** When it was over; the same as `at` for what is over at once, such as a kill. */
  readonly until: Time
  /** `kill`, `pause`, `block`, `store-down`, `answer-lost` … for people and for counting. */
  readonly fault: string
  /** `null`: it concerned all nodes. */
  readonly node: string | null
  /** It may make things late, but must cost no node its runs: a wall clock that is set. */
  readonly sparesRuns?: boolean | undefined
}

/** The store's clock was set: from here on it is this much further ahead than before. */
export interface ClockStep {
  readonly kind: 'clock'
  readonly at: Time
  /** When it had surely been set; the same as `at` if not given. */
  readonly until?: Time
  readonly byMs: number
}

/**
 * A witness confirms that a node was scheduled, or that the store answered, whenever it was asked from `at` to `until`.
 */
export interface Healthy {
  readonly kind: 'healthy'
  readonly at: Time
  readonly until: Time
  /** `null`: the store. */
  readonly node: string | null
}

/** Everything that the scheduler reports about itself at one moment. */
export interface Ledger {
  /** When the read was asked for: it shows at least what was there then. */
  readonly at: Time
  /** When the read was complete: it shows nothing that came later. */
  readonly until: Time
  /** The time of the store's clock. */
  readonly storeAt: Instant
  readonly fires: readonly LedgerFire[]
  readonly runs: readonly LedgerRun[]
  readonly schedules: readonly LedgerSchedule[]
  readonly instances: readonly LedgerInstance[]
}

export interface LedgerFire {
  readonly schedule: string
  readonly dueAt: Instant
  readonly nonce: string
  readonly origin: 'scheduled' | 'backfill' | 'manual'
  readonly round: number
  readonly attempt: number
  readonly plannedAt: Instant
  readonly readyAt: Instant
  readonly endedAt: Instant | null
  /** `null` while it is open. */
  readonly outcome: Outcome | null
  readonly reason: string | null
  /** It stands for all instants up to this one, included. */
  readonly untilAt: Instant | null
  /** How many instants it stands for: 1, but for ranges. */
  readonly count: number
}

export type Outcome = 'succeeded' | 'failed' | 'skipped' | 'missed' | 'abandoned' | 'cancelled'

export interface LedgerRun extends RunOfFire {
  readonly round: number
  readonly instance: string
  /** When it started. */
  readonly startedAt: Instant
  /** When it was claimed, if that was before its fire was due. Taken from the record of the fire. */
  readonly claimedAt?: Instant
  /** From when it could have started; not every reader has it. */
  readonly readyAt?: Instant
  /** The recorded reason for a late start; `null`: none. Not every reader has it. */
  readonly cause?: string | null
  readonly endedAt: Instant | null
  readonly outcome: Outcome | null
  readonly reason: string | null
}

/** When a run was claimed. */
export function claimOf({ claimedAt, startedAt }: LedgerRun): Instant {
  return claimedAt ?? startedAt
}

/** A run with the time of its claim, if the fire was planned before it was due: then it was claimed at once. */
export function withClaim(run: LedgerRun, fire: LedgerFire | null): LedgerRun {
  const isAhead = fire !== null && fire.plannedAt < fire.dueAt && fire.round === 1 && run.attempt === 1
  return isAhead ? { ...run, claimedAt: fire.plannedAt } : run
}

export interface LedgerSchedule {
  readonly id: string
  readonly job: string
  /** The high-water mark: every instant before it is on record. `null`: no more to come. */
  readonly nextAt: Instant | null
  readonly createdAt: Instant
  readonly isPaused: boolean
  readonly isRetired: boolean
  /** Fires that have not ended. */
  readonly open: number
}

export interface LedgerInstance {
  readonly id: string
  readonly state: 'live' | 'draining' | 'left' | 'dead'
}
