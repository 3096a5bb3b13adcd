import type { Clock } from '../clock.ts'
import type { Instant } from '../model/schedule.ts'

/**
 * What the store's clock says, as far as this process can tell: an offset to the local monotonic clock. Used to set timers
 * and to warn, never to decide: the store judges.
 */
export interface StoreTime {
  /** An answer with the store's `now`, asked at `sentAt` by the monotonic clock. */
  observe(now: Instant, sentAt: number): void
  estimate(): Instant
  /**
   * A time to write down for what is over by now, without asking the store: its clock does not show more than this yet,
   * and will show it when something arrives that is sent after `waitMs`. `null` where that is not certain enough.
   */
  stamp(): { readonly at: Instant; readonly waitMs: number } | null
  /** How long until the store's clock shows this. Zero if it does already. */
  until(instant: Instant): number
  /** How far the local wall clock is ahead of the store's. */
  wallOffsetMs(): number
}

/** An observation is only as good as its round trip was short; a good one is kept for a minute. */
const KEPT_MS = 60_000

export function storeTime(clock: Clock): StoreTime {
  let offset = clock.wall() - clock.mono()
  let uncertainty = Number.POSITIVE_INFINITY
  let observedAt = Number.NEGATIVE_INFINITY
  const bounds = offsetBounds(clock)
  const estimate = (): Instant => Math.floor(clock.mono() + offset)
  return {
    observe(now, sentAt) {
      const receivedAt = clock.mono()
      bounds.observe(now, sentAt, receivedAt)
      const roundTrip = receivedAt - sentAt
      const seen = now - (sentAt + receivedAt) / 2
      // A store's clock that stepped is seen at once: no round trip explains a difference larger than itself.
      const stepped = Math.abs(seen - offset) > roundTrip / 2 + uncertainty / 2 + 1
      if (!stepped && roundTrip > uncertainty && receivedAt - observedAt < KEPT_MS) return
      offset = seen
      uncertainty = roundTrip
      observedAt = receivedAt
    },
    estimate,
    stamp: bounds.stamp,
    until: (instant) => Math.max(0, instant - (clock.mono() + offset)),
    wallOffsetMs: () => Math.round(clock.wall() - clock.mono() - offset),
  }
}

/** Clocks differ in speed, and are made to; by more than this only if something is wrong. */
const DRIFT = 0.000_5
/** So much may be uncertain because of the speed of the clocks; else it is cheaper to ask. */
const SLACK_MS = 5
/** Between what the store's clock shows at least and at most. */
const WIDEST_MS = 100
/** The wall clock went on, and the monotonic one did not: this machine was asleep. */
const ASLEEP_MS = 100

/**
 * Every answer says where the offset lies: the store showed `now` after the question left and before the answer came. What
 * many answers agree on is narrow, about as wide as the fastest of them took; and the longer they have agreed, the less can
 * the speed of the local clock be wrong.
 */
function offsetBounds(clock: Clock) {
  let low = Number.NEGATIVE_INFINITY
  let high = Number.POSITIVE_INFINITY
  let last = { mono: Number.NEGATIVE_INFINITY, wall: 0 }
  let steadySince = Number.POSITIVE_INFINITY
  return {
    observe(now: Instant, sentAt: number, receivedAt: number): void {
      const drifted = (receivedAt - last.mono) * DRIFT
      low = Math.max(low - drifted, now - receivedAt)
      high = Math.min(high + drifted, now - sentAt)
      // One more, since `now` has whole milliseconds. They do not fit together: a clock was set, or runs wrong.
      if (low > high + 1) {
        low = now - receivedAt
        high = now - sentAt
        steadySince = receivedAt
      }
      if (high - low > WIDEST_MS || last.mono === Number.NEGATIVE_INFINITY) steadySince = receivedAt
      last = { mono: receivedAt, wall: clock.wall() }
    },
    stamp() {
      const mono = clock.mono()
      const passed = mono - last.mono
      const isAwake = Math.abs(clock.wall() - last.wall - passed) <= ASLEEP_MS
      const steady = last.mono - steadySince
      if (!isAwake || steady <= 0 || high - low > WIDEST_MS) return null
      const slack = passed * (DRIFT + (high - low + 1) / steady)
      // The way there takes longer than a tenth of a millisecond.
      if (slack <= SLACK_MS) return { at: Math.floor(mono + high + slack), waitMs: slack < 0.1 ? 0 : 2 * slack }
      return null
    },
  }
}
