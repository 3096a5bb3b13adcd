import type { TriggerData } from '../trigger/trigger.ts'
import type { Json } from './json.ts'
import type { Ending, Outcome, Reason, StartCause } from './outcome.ts'
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
  /** Who requested its last round, and why, if given. */
  readonly asked?: Asked
  /** `null` while it is open. */
  readonly ending: Ending | null
  readonly endedAt: Instant | null
  /** Set once it has ended: the number of the record in its schedule, and when it may go. */
  readonly number: number | null
  readonly expiresAt: Instant | null
  readonly range: Range | null
}

/**
 * One line of a schedule's history: how a run ended, or how a fire or a range of instants ended without a run. Written once; see
 * `Change` for the two exceptions. Fires and runs are views of it and of what is open: see `model/views.ts`.
 */
export interface HistoryRecord extends FireKey {
  /** Its place in the history of the schedule: 1, 2, 3, … */
  readonly number: number
  /** The fire ended with it. Cleared when another round of the fire opens. */
  readonly isFinal: boolean
  readonly job: string
  readonly tenant: string | null
  readonly kind: FireKind
  readonly round: number
  readonly plannedAt: Instant
  readonly readyAt: Instant
  /** Runs of the fire so far, this one included. */
  readonly attempt: number
  readonly input: Json
  readonly givenNull?: true
  readonly asked?: Asked
  /** `null`: the fire ended without a run, or for another reason than its last one. */
  readonly run: EndedRun | null
  readonly ending: Ending
  readonly endedAt: Instant
  /** When the fire's records may be deleted. Counts on the final record only. */
  readonly expiresAt: Instant
  readonly range: Range | null
}

/**
 * What lists return: a line of the history, or an open fire in the same shape, without an end. `notes`: what its run reported; `null`
 * if it reported nothing, or if fires are listed.
 */
export interface ListedRecord extends FireRecord {
  readonly run: EndedRun | null
  readonly notes: RunNotes | null
}

/** An open run in a `ListedRecord` has no error and no result yet. */
export interface EndedRun {
  readonly token: string
  readonly instance: string
  readonly startedAt: Instant
  readonly cause?: StartCause
  readonly cancel: CancelRequest | null
  readonly error: ErrorRecord | null
  readonly result: Json
}

/** How a fire or a range of instants ended, as an overview shows it: without what the fire was given, returned or threw. */
export interface FireEnd extends FireKey {
  readonly outcome: Outcome
  readonly reason: Reason
  /** Runs in all. */
  readonly attempt: number
  /** Of its last run; `null`: it ended without one, or for another reason than its last one. */
  readonly startedAt: Instant | null
  readonly endedAt: Instant
  /** Instants that ended alike, and the last of them: 1 and `dueAt` unless it is a range. */
  readonly count: number
  readonly untilAt: Instant
}

/** How many fires that were due in an hour ended so. */
export interface HourCount {
  /** When the hour began, in UTC. */
  readonly hour: Instant
  readonly outcome: Outcome
  readonly count: number
}

/** Instants from `dueAt` of the record to `untilAt`, both included, that ended alike. */
export interface Range {
  readonly untilAt: Instant
  readonly count: number
  readonly trigger: TriggerData
}

/** One try at a fire. `(schedule, token)` is its identity. */
export interface RunRecord extends FireKey {
  readonly token: string
  readonly job: string
  readonly round: number
  readonly attempt: number
  readonly instance: string
  readonly startedAt: Instant
  /** When it could have started: lateness is the difference. */
  readonly readyAt: Instant
  /** Why it started late, where it started later than the grace. */
  readonly cause?: StartCause
  readonly cancel: CancelRequest | null
  /** Of its line in the history; `null` while it is open, as are the next two. */
  readonly number: number | null
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

/** What a run reports while it executes. Stored beside its record, since only the run writes it. */
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
