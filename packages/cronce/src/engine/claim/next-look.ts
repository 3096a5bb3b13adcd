import { bucketOf } from '../../model/bucket.ts'
import type { Instant, ScheduleState } from '../../model/schedule.ts'
import type { Alarm } from '../alarm.ts'
import type { StoreTime } from '../fleet/store-time.ts'

/**
 * What the claim loop waits for. Code that writes a schedule reports it here, so that the loop wakes only if it must look earlier
 * than planned, and does not ask the store for what was just written.
 */
export interface NextLook {
  /**
   * A look begins: later writes may be missing in its answer. `leadMs`: how long before their due time own schedules are looked
   * at.
   */
  begin(leadMs: number): void
  /** The look has ended and found nothing to do for this long. Returns the wait, shortened by what was written meanwhile. */
  end(ms: number, patienceMs: number): number
  /** A schedule was written. */
  written(state: ScheduleState): void
  /** Whether the schedule is in a bucket of this instance's own. */
  isMine(state: ScheduleState): boolean
  /** For each job, the buckets of this instance. */
  deal(dealt: readonly { readonly job: string; readonly buckets: string }[]): void
}

export function nextLook(time: StoreTime, alarm: Alarm, patienceMs: number): NextLook {
  let masks = new Map<string, string>()
  let isLooking = false
  let leadMs = 0
  /** When the loop looks next, by the store's clock. */
  let awaited = Number.NEGATIVE_INFINITY
  let mineAt = Number.POSITIVE_INFINITY
  let othersAt = Number.POSITIVE_INFINITY

  const isMine = ({ id, definition }: ScheduleState): boolean => masks.get(definition.job)?.[bucketOf(id)] === '1'

  return {
    isMine,
    begin(ms) {
      isLooking = true
      leadMs = ms
      mineAt = Number.POSITIVE_INFINITY
      othersAt = Number.POSITIVE_INFINITY
    },
    end(ms, otherMs) {
      isLooking = false
      const wait = Math.min(ms, untilFinite(time, mineAt - leadMs), untilFinite(time, othersAt + otherMs))
      awaited = Math.min(mineAt, time.estimate() + wait)
      return wait
    },
    written(state) {
      const { wakeAt } = state
      if (wakeAt === null) return
      if (isLooking) {
        if (isMine(state)) mineAt = Math.min(mineAt, wakeAt)
        else othersAt = Math.min(othersAt, wakeAt)
      } else if (isMine(state) ? wakeAt - leadMs < awaited : wakeAt + patienceMs < awaited) alarm.ring()
    },
    deal(dealt) {
      masks = new Map(dealt.map(({ job, buckets }) => [job, buckets]))
    },
  }
}

function untilFinite(time: StoreTime, instant: Instant): number {
  return instant === Number.POSITIVE_INFINITY ? Number.POSITIVE_INFINITY : time.until(instant)
}
