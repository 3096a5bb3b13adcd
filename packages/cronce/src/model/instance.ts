import type { Labels } from './placement.ts'
import type { Instant } from './schedule.ts'

/** One running process, as the others see it. Its id is made at random when it starts, and again when it was declared dead. */
export interface InstanceRecord {
  readonly id: string
  readonly app: string
  readonly deployment: string
  /** Jobs it can run. */
  readonly jobs: readonly string[]
  readonly host: string
  /** Its labels besides `host`, if it has any. */
  readonly labels?: Labels
  readonly pid: number
  readonly version: string
  /** Version of its time zone data. */
  readonly zoneData: string
  readonly startedAt: Instant
  readonly state: InstanceState
  /**
   * When it left or was declared dead, by the store's clock, read while the record was locked: no claim of the instance is newer.
   * `null`: it is not over.
   */
  readonly endedAt: Instant | null
  /** How many times it has renewed: what an observer compares. */
  readonly renewals: number
  readonly renewedAt: Instant
  /** By the store's clock, whether its lease has run out. */
  readonly expired: boolean
  /** How far its wall clock is from the store's, as it measured. */
  readonly clockOffsetMs: number
  readonly running: number
  readonly concurrency: number
  /** It only looks for what is due once, and leaves (`runDue`). */
  readonly transient?: true
  /** An operator wants it to take nothing new. */
  readonly drain: boolean
}

/** `left` and `dead` are for ever. */
export type InstanceState = 'live' | 'draining' | 'left' | 'dead'
