import type { ErrorCode } from '../errors.ts'
import type { Change } from '../model/change.ts'
import type { CronceEvent, EventType } from '../model/event.ts'
import type { Json } from '../model/json.ts'
import type { Policy } from '../model/policy.ts'
import type { HistoryRecord, RunRecord } from '../model/record.ts'
import type { FireKind, Instant, Last, RunningFire } from '../model/schedule.ts'

/** What a decision may use besides the schedule: everything is passed in. */
export interface Context {
  /** The store's clock. */
  readonly now: Instant
  /** If `now` was estimated instead of read: the decision must not be written before the store's clock shows it. */
  readonly notBefore?: Instant
  /** The store's epoch when the state was read. */
  readonly epoch: number
  /** Version of this process's time zone data. */
  readonly zoneData: string
  /** Uniform in [0, 1). */
  readonly random: () => number
}

/** The instance that would run what can start now. */
export interface Claimant {
  readonly instance: string
  /** The number of this claim. */
  readonly claim: number
  /** Most runs it may start. */
  readonly room: number
  /** It runs nothing now: the right place for a fire whose instances keep dying. */
  readonly idle: boolean
  /** Leave due times unplanned that would only wait for the first of them: see `leavesWaiting` in `plan/advance.ts`. */
  readonly oneByOne?: boolean
  /** Whether one of these limits is known to be used up: a run that counts against it would be refused, with the whole change. */
  readonly isFull?: (slots: Change['limits']) => boolean
}

export interface Decision {
  readonly change: Change
  /** Runs that begin with this change, if it is applied. */
  readonly started: readonly StartedRun[]
  /** What to report once it is applied. */
  readonly events: readonly CronceEvent[]
  /** Only events with a listener: events about the normal course are not created without one. */
  heard?(hears: (type: EventType) => boolean): readonly CronceEvent[]
  /** The record of a success, for which no events were created. */
  readonly success?: HistoryRecord
}

/** Everything an instance needs to execute a run. */
export interface StartedRun {
  readonly record: RunRecord
  /** The open fire as stored in the state. */
  readonly fire: RunningFire
  readonly kind: FireKind
  readonly input: Json
  readonly policy: Policy
  /** Earlier fires of the schedule. */
  readonly previous: Last
  /** Earlier instances died with it: it runs alone. */
  readonly suspect: boolean
  /** It was claimed before its due time, and starts at `record.startedAt`. */
  readonly isAhead?: true
}

/** The run is not the current run of the fire: its write is refused, and nothing changes. */
export const STALE = 'stale'
export type Stale = typeof STALE

/** A refused command, as data: the client turns it into an error. */
export interface Refusal {
  readonly refused: ErrorCode
  readonly message: string
  readonly hint: string
}
