import type { ActivityRecord } from './activity.ts'
import type { FireKey, HistoryRecord } from './record.ts'
import type { Instant, ScheduleState } from './schedule.ts'

/**
 * One decision about one schedule: nothing of it is written unless all of it can be.
 * The store keeps `state.definition` as it was while `revision` is unchanged. It starts a new schedule's `version` and `tokens`
 * above those of every schedule that was removed: what was decided on a removed one must not fit its successor.
 */
export interface Change {
  readonly id: string
  /** The version it was decided on; 0: the schedule must not exist. */
  readonly version: number
  /** The epoch of the store it was decided in: a store that went back in time may have the same version again. */
  readonly epoch: number
  /** What it becomes, with `version` one higher (or more, if it is new); `null`: it is removed. Records stay. */
  readonly state: ScheduleState | null
  /** The store's clock must have reached this. `null`: no matter. */
  readonly notBefore: Instant | null
  /** Fires that must be new: neither open nor on record, not their key, and not their nonce in this schedule unless it is empty. */
  readonly creates: readonly FireKey[]
  /** Ended fires that are open again: their final records are final no more. */
  readonly reopens: readonly FireKey[]
  /**
   * Lines that are appended to the history, numbered upward from `state.ended` before the change. None if the change creates the
   * schedule: only the store knows where its numbers start.
   */
  readonly history: readonly HistoryRecord[]
  /** Lines that replace the lines of the same number: a range that shrinks, or a run whose end was lost and is known again. */
  readonly rewrites: readonly HistoryRecord[]
  /** Limits that the runs beginning here count against: after them, no slot may be held by more open runs (`OpenRun.slots`) than its limit. */
  readonly limits: readonly { readonly slot: string; readonly limit: number }[]
  /** Up to 200 records numbered below this, due and ended before that, may go: what is skipped ahead of time ends first. */
  readonly trim: { readonly belowNumber: number; readonly endedBefore: Instant } | null
  /** The line of the operator log about this change. Written if and only if the change is. */
  readonly activity?: ActivityRecord
}
