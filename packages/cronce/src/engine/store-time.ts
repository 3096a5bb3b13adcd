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
  const estimate = (): Instant => Math.floor(clock.mono() + offset)
  return {
    observe(now, sentAt) {
      const receivedAt = clock.mono()
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
    until: (instant) => Math.max(0, instant - (clock.mono() + offset)),
    wallOffsetMs: () => Math.round(clock.wall() - clock.mono() - offset),
  }
}
