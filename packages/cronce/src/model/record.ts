import type { TriggerData } from '../trigger/trigger.ts'
import type { Json } from './json.ts'
import type { Ending, StartCause } from './outcome.ts'
import type { Asked, CancelRequest, FireKind, Instant } from './schedule.ts'

/** The identity of a fire within its namespace. */
export interface FireKey {
  readonly schedule: string
  readonly dueAt: Instant
  readonly nonce: string
}

/** What is on record about a fire, or about a range of instants that were never run. */
export interface FireRecord extends FireKey {
  /** The job that runs it, or was the last to. */
  readonly job: string
  /** Whose data it is: the schedule's tenant when it was planned. It never changes. */
  readonly tenant: string | null
  readonly kind: FireKind
  readonly round: number
  readonly plannedAt: Instant
  readonly readyAt: Instant
  /** Runs so far. */
  readonly attempt: number
  /** The input it was given, where it is not its schedule's. */
  readonly input: Json
  /** It was given `null`: `input` does not stand for its schedule's. */
  readonly givenNull?: true
  /** Who wanted its last round, and why, where somebody said so. */
  readonly asked?: Asked
  /** `null` while it is open. */
  readonly ending: Ending | null
  readonly endedAt: Instant | null
  /** Set once it has ended: the number of the record in its schedule, and when it may go. */
  readonly number: number | null
  readonly expiresAt: Instant | null
  /** Instants from `dueAt` to `range.untilAt`, both included, that ended alike. */
  readonly range: { readonly untilAt: Instant; readonly count: number; readonly trigger: TriggerData } | null
}

/** One try at a fire. `(schedule, token)` is its identity. */
export interface RunRecord extends FireKey {
  readonly token: string
  readonly job: string
  readonly round: number
  readonly attempt: number
  readonly instance: string
  readonly request: string
  readonly startedAt: Instant
  /** When it could have started: lateness is the difference. */
  readonly readyAt: Instant
  /** Why it started late, where it started later than the grace. */
  readonly cause?: StartCause
  /** Names of the fleet-wide limits that it counts against while it is open. */
  readonly slots: readonly string[]
  readonly cancel: CancelRequest | null
  /** `null` while it is open. */
  readonly ending: Ending | null
  readonly endedAt: Instant | null
  readonly error: ErrorRecord | null
  readonly result: Json
}

export interface ErrorRecord {
  readonly name: string
  readonly message: string
  readonly code: string | null
  readonly stack: string | null
}

export interface Progress {
  readonly fraction: number
  readonly message: string | null
  readonly at: Instant
}

export interface LogLine {
  readonly at: Instant
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
}

/** What a run tells while it runs. Kept beside its record, since it is written by nobody but the run. */
export interface RunNotes {
  readonly progress: Progress | null
  readonly log: readonly LogLine[]
  /** The log was longer than what is kept of it. */
  readonly logCut: boolean
}

/** A durable step of a fire. */
export interface StepRecord extends FireKey {
  readonly step: string
  readonly state: 'begun' | 'done' | 'failed'
  /** Of the run that began it: only that run can end it. */
  readonly token: string
  readonly result: Json
  readonly begunAt: Instant
  readonly endedAt: Instant | null
}
