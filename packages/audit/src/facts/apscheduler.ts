import type { Place } from './place.ts'

export type JobStore = 'memory' | 'persistent' | 'unknown'

/** A scheduler object of APScheduler, with what its module says about it. */
export interface ApsScheduler {
  readonly kind: 'aps-scheduler'
  readonly place: Place
  /** The variable or attribute that holds it. */
  readonly name: string
  /** Stores that outlive the process, each where it is stated. */
  readonly persistent: readonly Place[]
  readonly sqlite: readonly Place[]
  /** Where `coalesce` is switched off. */
  readonly coalesceOff: readonly Place[]
  /** Something keeps a second scheduler away: only `__main__` starts it, or a lock. */
  readonly isSingle: boolean
  /** Neither `misfire_grace_time` nor `max_instances` nor `coalesce` is stated for its jobs. */
  readonly hasDefaults: boolean
}

/** A call of `add_job`. */
export interface ApsJob {
  readonly kind: 'aps-job'
  readonly place: Place
  readonly id: string | null
  readonly statesReplaceExisting: boolean
  readonly store: JobStore
  /** Every start of the process adds it: not per request, not once, not after a look at the store. */
  readonly isAddedAtStart: boolean
  readonly statesMisfire: boolean
  readonly coalesceOff: Place | null
}
