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
   * A time that the store's clock has passed for certain, unless it was set back, and by little; `null` where that is not
   * known well enough. Good enough to be written down, since the store is asked whether it is true (`Change.notBefore`).
   */
  floor(): Instant | null
  /** How long until the store's clock shows this. Zero if it does already. */
  until(instant: Instant): number
  /** How far the local wall clock is ahead of the store's. */
  wallOffsetMs(): number
}

/** An observation is only as good as its round trip was short; a good one is kept for a minute. */
const KEPT_MS = 60_000
/** For `floor`: from an answer that took longer, or is older, too much time may have passed unseen. */
const FLOOR_ROUND_TRIP_MS = 100
const FLOOR_KEPT_MS = 10_000
/** Clocks differ in speed. */
const FLOOR_RATE = 0.999
/** The wall clock went on, and the monotonic one did not: this machine was asleep. */
const ASLEEP_MS = 100

export function storeTime(clock: Clock): StoreTime {
  let offset = clock.wall() - clock.mono()
  let uncertainty = Number.POSITIVE_INFINITY
  let observedAt = Number.NEGATIVE_INFINITY
  /** The last answer: what it said, when it came by both clocks, and how long it took. */
  let last = { now: 0, mono: Number.NEGATIVE_INFINITY, wall: 0, roundTrip: 0 }
  const estimate = (): Instant => Math.floor(clock.mono() + offset)
  return {
    observe(now, sentAt) {
      const receivedAt = clock.mono()
      const roundTrip = receivedAt - sentAt
      last = { now, mono: receivedAt, wall: clock.wall(), roundTrip }
      const seen = now - (sentAt + receivedAt) / 2
      // A store's clock that stepped is seen at once: no round trip explains a difference larger than itself.
      const stepped = Math.abs(seen - offset) > roundTrip / 2 + uncertainty / 2 + 1
      if (!stepped && roundTrip > uncertainty && receivedAt - observedAt < KEPT_MS) return
      offset = seen
      uncertainty = roundTrip
      observedAt = receivedAt
    },
    estimate,
    floor() {
      const passed = clock.mono() - last.mono
      if (passed > FLOOR_KEPT_MS || last.roundTrip > FLOOR_ROUND_TRIP_MS) return null
      if (Math.abs(clock.wall() - last.wall - passed) > ASLEEP_MS) return null
      // It showed `now` before the answer came.
      return Math.floor(last.now + passed * FLOOR_RATE)
    },
    until: (instant) => Math.max(0, instant - (clock.mono() + offset)),
    wallOffsetMs: () => Math.round(clock.wall() - clock.mono() - offset),
  }
}
