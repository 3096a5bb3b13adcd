import type { Place } from './place.ts'

/** A `setInterval` or `setTimeout` on a server. */
export interface Timer {
  readonly kind: 'timer'
  readonly place: Place
  readonly call: 'setInterval' | 'setTimeout'
  /** `null`: not known. */
  readonly ms: number | null
  readonly isAsync: boolean | null
  /** A flag keeps runs apart. */
  readonly isSerial: boolean
  /** Renews a lease or reports that the process lives. */
  readonly isHeartbeat: boolean
}

/** A repeated job that a queue keeps: a changed expression leaves the old one behind. */
export interface Repeatable {
  readonly kind: 'repeatable'
  readonly place: Place
  readonly text: string
  /** Outdated ones are removed in the same file. */
  readonly isRemovedFirst: boolean
}
