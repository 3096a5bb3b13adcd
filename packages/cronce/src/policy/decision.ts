import type { ErrorCode } from '../errors.ts'
import type { Change } from '../model/change.ts'
import type { CronceEvent, EventType } from '../model/event.ts'
import type { Json } from '../model/json.ts'
import type { Policy } from '../model/policy.ts'
import type { HistoryRecord, RunRecord } from '../model/record.ts'
import type { FireKind, Instant, Last, RunningFire } from '../model/schedule.ts'

/** What a decision may know besides the schedule: all of it handed in. */
export interface Context {
  /** The store's clock. */
  readonly now: Instant
  /** Where `now` was not asked for but counted: whatever is decided is not to be written before the store's clock shows it. */
  readonly notBefore?: Instant
  /** The store's epoch when the state was read. */
  readonly epoch: number
  /** Version of this process's time zone data. */
  readonly zoneData: string
  /** Uniform in [0, 1). */
  readonly random: () => number
}

/** Who would run what can be started now. */
export interface Claimant {
  readonly instance: string
  /** The number of this claim. */
  readonly claim: number
  /** How many runs it may begin. */
  readonly room: number
  /** It runs nothing: the place for a fire whose instances keep dying. */
  readonly idle: boolean
  /** Leave due times unplanned that would only wait for the first of them: see `leavesWaiting` in `plan/advance.ts`. */
  readonly oneByOne?: boolean
  /** Whether one of these limits is known to be used up: a run that counts against it would be refused, with all that starts beside it. */
  readonly isFull?: (slots: Change['limits']) => boolean
}

export interface Decision {
  readonly change: Change
  /** Runs that begin with this change, if it is applied. */
  readonly started: readonly StartedRun[]
  /** What to report once it is applied. */
  readonly events: readonly CronceEvent[]
  /** Those of the events that are heard: events that report the ordinary course need not be made without a listener. */
  heard?(hears: (type: EventType) => boolean): readonly CronceEvent[]
  /** The record of a success that need not have events. */
  readonly success?: HistoryRecord
}

/** All that an instance needs to execute a run. */
export interface StartedRun {
  readonly record: RunRecord
  /** The fire as it is open in the state. */
  readonly fire: RunningFire
  readonly kind: FireKind
  readonly input: Json
  readonly policy: Policy
  /** Of the schedule, before this fire. */
  readonly previous: Last
  /** Its instances died before: it runs alone. */
  readonly suspect: boolean
  /** It was claimed before it is due, and starts at `record.startedAt`. */
  readonly isAhead?: true
}

/** The run is not the fire's current one: what it wants is refused, and nothing changes. */
export const STALE = 'stale'
export type Stale = typeof STALE

/** A command that can't be followed, as data: the client makes an error of it. */
export interface Refusal {
  readonly refused: ErrorCode
  readonly message: string
  readonly hint: string
}
