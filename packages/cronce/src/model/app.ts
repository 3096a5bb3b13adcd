import type { Json } from './json.ts'
import type { Instant } from './schedule.ts'

/**
 * The deployments of an app: which schedules each declares, and which of them decides. Changed by compare-and-set on `version`;
 * 0 stands for an app without a record. See docs/decisions/006-deployments.md, "Deployments".
 */
export interface AppRecord {
  readonly name: string
  readonly version: number
  /** The highest-numbered deployment that is not lost. */
  readonly active: string | null
  /** The deployment that an operator activated. Ends when an id appears for the first time. */
  readonly activated: string | null
  /** All with a live instance, and the latest others. */
  readonly deployments: readonly DeploymentRecord[]
  /** Earlier deployments, by number. An id that comes back is lost, not new. Bounded. */
  readonly pruned?: readonly PrunedDeployment[]
  /** Renames that pruned deployments declared, and those of jobs that another app has yielded; the latest last. Bounded. */
  readonly renames?: readonly Rename[]
  /**
   * Schedules that were retired, and that no process with a right to them has declared since. A name is added before its schedule
   * is retired and removed before it is declared, so a declaring process never misses a retirement. Bounded.
   */
  readonly retired: readonly string[]
  /** How many times names were added to `retired`: every process that declares something declares it again after that. */
  readonly announced?: number
  /** The number of the explicit deployment for which nothing is left to retire; `null`: not checked since the last change. */
  readonly tidiedFor: number | null
  /** Declarations that were refused, the latest of each process and schedule. Bounded; `doctor` reports those of live processes. */
  readonly refused: readonly RefusedDeclaration[]
}

export interface DeploymentRecord {
  readonly id: string
  /** `false`: the id is the hash of what the process declares. */
  readonly explicit: boolean
  /** The order of appearance. Schedules keep the number that they were defined under. */
  readonly number: number
  /** Schedules that any process of this deployment ever declared, by name. */
  readonly declares: readonly string[]
  /** Of those, the ones that are declared with `was`. */
  readonly renames?: readonly Rename[]
  /** The option `watch` of its jobs, by job, as given: the watching process need not have them. That of the app: `WATCH_OF_APP`. */
  readonly watch?: Readonly<Record<string, Json>>
  readonly firstReadyAt: Instant
  /** Since when it has had a live instance, this time. */
  readonly readyAt: Instant
  /** Since when no instance of it is live or draining; `null`: one is. */
  readonly goneAt: Instant | null
  /** Its last instance died within the hold-down of `readyAt`. It counts again after a whole hold-down with a live instance. */
  readonly onProbation: boolean
  /** An observer saw that it has not counted (gone or on probation) for a whole hold-down. */
  readonly lost: boolean
  /** Nothing that only this lost deployment declared is left to retire. */
  readonly cleared: boolean
}

/** No job has this name. */
export const WATCH_OF_APP = ''

/** The job `id` was called `was`. */
export interface Rename {
  readonly was: string
  readonly id: string
}

export type PrunedDeployment = Pick<DeploymentRecord, 'id' | 'number' | 'onProbation' | 'goneAt'>

export interface RefusedDeclaration {
  readonly schedule: string
  readonly deployment: string
  readonly instance: string
  readonly host: string
  readonly pid: number
  readonly code: string
  readonly message: string
  readonly at: Instant
}
