import type { Instant, LedgerFire, LedgerRun } from '../history.ts'
import type { Violation } from '../verdict.ts'

/**
 * The records of one schedule in production, without another witness. Judges whether a scheduler that keeps its
 * promises can have written them.
 */
export interface LedgerSubject {
  readonly schedule: string
  /** All that are kept. Read last: after the rule, so that they have come to its mark, and after the runs, so that each has its fire. */
  readonly fires: readonly LedgerFire[]
  readonly runs: readonly LedgerRun[]
  /** What the store's clock showed before the first record was read. */
  readonly readAt: Instant
  /** What happened before this had been written by then. What happened since may be half read: a time is taken before it is written. */
  readonly settledBefore: Instant
  /** `null`: the schedule was removed, and only its records are left. */
  readonly rule: LedgerRule | null
  /** Stretches in which the schedule was retired, as far as they are on record. */
  readonly retirements: readonly Retirement[]
  /** What is on record under the other names that its job has had: the names of a job have one series of instants. */
  readonly otherFires?: readonly LedgerFire[]
  /** How far back the store's clock may have been set, by NTP or by a failover. */
  readonly clockErrorMs: number
}

/** What the schedule is. What it was before is not on record. */
export interface LedgerRule {
  /** Its instants between two times, both included. `null`: it has none of its own, or they are unknown. */
  readonly instants: ((from: Instant, to: Instant) => readonly Instant[]) | null
  /** The instants that its calendar excludes, between two times, both included: on record as skipped. Absent: none. */
  readonly excluded?: ((from: Instant, to: Instant) => readonly Instant[]) | undefined
  /** It has been defined so since then. */
  readonly since: Instant
  /** Every instant before this one is on record. `null`: there will be no more. */
  readonly nextAt: Instant | null
  /**
   * How long after its due time an instant may still be missing from the record. `null`: nothing is due, since it is
   * paused, retired or over.
   */
  readonly graceMs: number | null
  /** What was due from then on has not been pruned. */
  readonly keptSince: Instant
  /** The limit of fires: where they end does not follow from the rule. */
  readonly limit: number | null
  readonly guarantee: 'at-least-once' | 'at-most-once' | 'exactly-once'
  /** Fires are active one after the other. */
  readonly oneAtATime: boolean
}

/** The schedule planned and started nothing from then on, because the code of its app no longer declared it. */
export interface Retirement {
  readonly from: Instant
  /** When it was declared again; `null`: it is retired. */
  readonly to: Instant | null
  /** Why, in the store's word, and by which deployment. */
  readonly cause: string
  readonly deployment: string
  /** The name that its job had in this stretch. */
  readonly renamedTo?: string
}

/** Only instants in this stretch are judged, both ends included. */
export interface Stretch {
  readonly from: Instant
  readonly to: Instant
}

export interface LedgerVerdict {
  readonly violations: readonly Violation[]
  readonly counts: LedgerCounts
  /** `null`: everything that is due is on record. */
  readonly overdue: Overdue | null
  readonly retired: readonly RetiredStretch[]
}

export interface RetiredStretch extends Retirement {
  /** Instants of the present rule in it, and those of them that are not on record. `null`: unknown. */
  readonly due: number | null
  readonly unrecorded: number | null
}

/** Due times that no instance has planned. */
export interface Overdue {
  /** The first of them: the records were judged up to here. */
  readonly since: Instant
  /** `null`: the rule does not determine it. */
  readonly count: number | null
  /** There are more than were counted. */
  readonly isMore: boolean
  /** For how long the first of them within the stretch has been due. */
  readonly byMs: number
}

/** How much was judged: a verdict about nothing is worth nothing. */
export interface LedgerCounts {
  /** Records of fires, and the instants they stand for. */
  readonly fires: number
  readonly instants: number
  readonly runs: number
  /** Instants of the rule that were looked for. */
  readonly expected: number
  /** Fires with more than one run. */
  readonly retried: number
  readonly byOutcome: Readonly<Record<string, number>>
}
