import type { Place } from './place.ts'

/** A weakness of a lock that guards schedules, or is named like one. */
export interface LockFlaw {
  readonly kind: 'lock-flaw'
  readonly place: Place
  readonly flaw: /** Reads, then writes: two instances can do both at once. */
    | 'check-then-set'
    | 'no-expiry'
    | 'renewed-without-owner'
    | 'released-without-owner'
    /** A session lock through a pool: lock and unlock can use different connections. */
    | 'pooled-session'
    /** Named after the job, and freed when the job ends. */
    | 'freed-at-end'
    /** Kept in the memory of one process. */
    | 'in-memory'
    /** Memory takes over when the store is away. */
    | 'memory-fallback'
    /** Decorators that nothing reads for schedules. */
    | 'metadata-only'
    | 'fails-open'
  readonly text: string
}
