import type { Clock } from '../../clock.ts'
import type { Instant } from '../../model/schedule.ts'

/**
 * The store's clock, as far as this process can tell: an offset to the local monotonic clock. Used for timers and warnings, never
 * to decide: the store decides.
 */
export interface StoreTime {
  /** An answer with the store's `now`, asked at `sentAt` by the monotonic clock. */
  observe(now: Instant, sentAt: number): void
  estimate(): Instant
  /**
   * What the store's clock has reached for certain: from answers of the last second, unless the clock was set back since. `null`: no such
   * answer is known.
   */
  atLeast(): number | null
  /** The connection, the server or its epoch has changed: earlier answers prove nothing about the clock. */
  forget(): void
  /**
   * A time to record for what has ended by now, without asking the store: its clock has not passed this time yet, and will have
   * passed it when a request sent after `waitMs` arrives. `null` if that is not certain.
   */
  stamp(): { readonly at: Instant; readonly waitMs: number } | null
  /** Time until the store's clock shows this; zero if it already does. */
  until(instant: Instant): number
  /**
   * How far the local wall clock is ahead of the store's, for certain: of all offsets that the round trip leaves open, the one closest
   * to zero. A slow answer proves nothing about a clock.
   */
  wallOffsetMs(): number
}

/** An observation is only as good as its round trip was short; a good one is kept for a minute. */
const KEPT_MS = 60_000

export function storeTime(clock: Clock): StoreTime {
  let offset = clock.wall() - clock.mono()
  let uncertainty = Number.POSITIVE_INFINITY
  let observedAt = Number.NEGATIVE_INFINITY
  const bounds = offsetBounds(clock)
  const floor = new ClockFloor()
  const estimate = (): Instant => Math.floor(clock.mono() + offset)
  return {
    observe(now, sentAt) {
      const receivedAt = clock.mono()
      bounds.observe(now, sentAt, receivedAt)
      floor.observe(now, sentAt, receivedAt)
      const roundTrip = receivedAt - sentAt
      const seen = now - (sentAt + receivedAt) / 2
      // A step of the store's clock is detected at once: no round trip explains a difference larger than itself.
      const stepped = Math.abs(seen - offset) > roundTrip / 2 + uncertainty / 2 + 1
      if (!stepped && roundTrip > uncertainty && receivedAt - observedAt < KEPT_MS) return
      offset = seen
      uncertainty = roundTrip
      observedAt = receivedAt
    },
    estimate,
    atLeast: () => floor.at(clock.mono()),
    forget: () => floor.forget(),
    stamp: bounds.stamp,
    until: (instant) => Math.max(0, instant - (clock.mono() + offset)),
    wallOffsetMs() {
      const measured = clock.wall() - clock.mono() - offset
      // One millisecond more of uncertainty, since `now` and `wall` are whole milliseconds.
      const certain = Math.max(0, Math.abs(measured) - uncertainty / 2 - 1)
      return Math.sign(measured) * Math.round(certain) || 0
    },
  }
}

/** An answer that is older than this proves nothing about what the store's clock has reached. */
const FLOOR_MS = 1_000

/**
 * A lower bound of the store's clock. The store read its clock before its answer arrived, so the clock has gone on by at least the time
 * since then, less what clocks differ in speed.
 */
class ClockFloor {
  /** Offsets to the monotonic clock, by the arrival of their answers. An offset is dropped when a later one exceeds it. */
  #answers: { readonly offset: number; readonly receivedAt: number }[] = []
  /** The answer to the latest question: the highest offset that it allows for, and when the question left. */
  #latest = { sentAt: Number.NEGATIVE_INFINITY, highest: 0 }

  observe(now: Instant, sentAt: number, receivedAt: number): void {
    const { highest } = this.#latest
    if (sentAt >= this.#latest.sentAt) this.#latest = { sentAt, highest: now - sentAt }
    // It was overtaken by an answer that shows that the clock was set back since. One more, since `now` has whole milliseconds.
    else if (now - receivedAt > highest + (receivedAt - this.#latest.sentAt) * DRIFT + 1) return
    const known = this.at(sentAt)
    // The clock had reached that before the request was sent, so it was set back since.
    if (known !== null && now < Math.floor(known)) this.forget()
    const offset = now - receivedAt
    this.#answers = this.#answers.filter((answer) => answer.offset > offset)
    this.#answers.push({ offset, receivedAt })
  }

  at(mono: number): number | null {
    while (this.#answers.length > 0 && mono - this.#answers[0]!.receivedAt > FLOOR_MS) this.#answers.shift()
    const [best] = this.#answers
    return best === undefined ? null : mono + best.offset - Math.max(0, mono - best.receivedAt) * DRIFT
  }

  forget(): void {
    this.#answers = []
  }
}

/** Largest difference in speed between two healthy clocks. */
const DRIFT = 0.000_5
/** How long the answers must have been consistent: a wrong clock is noticed within this time. */
const STEADY_MS = 10_000
/** The most time since the last answer that was fast enough to show a step of the store's clock. */
const FRESH_MS = 10_000
/** Between what the store's clock shows at least and at most. */
const WIDEST_MS = 100
/** The wall clock went on, and the monotonic one did not: this machine was asleep. */
const ASLEEP_MS = 100

/**
 * Every answer bounds the offset: the store showed `now` after the request left and before the answer came. The intersection of
 * many answers is about as wide as the fastest round trip.
 */
function offsetBounds(clock: Clock) {
  let low = Number.NEGATIVE_INFINITY
  let high = Number.POSITIVE_INFINITY
  let last = { mono: Number.NEGATIVE_INFINITY, wall: 0 }
  let steadySince = Number.POSITIVE_INFINITY
  let confirmedAt = Number.NEGATIVE_INFINITY
  const wasAsleep = (mono: number): boolean => Math.abs(clock.wall() - last.wall - (mono - last.mono)) > ASLEEP_MS
  return {
    observe(now: Instant, sentAt: number, receivedAt: number): void {
      // The request may have left before that: then the monotonic clock does not tell how long it took.
      if (Number.isFinite(last.mono) && wasAsleep(receivedAt)) {
        steadySince = Number.POSITIVE_INFINITY
        last = { mono: receivedAt, wall: clock.wall() }
        return
      }
      const slack = Math.max(0, receivedAt - last.mono) * DRIFT
      // The store may have shown `now` as early as the request left, and its clock may be the faster one since.
      const highest = now - sentAt + (receivedAt - sentAt) * DRIFT
      low = Math.max(low - slack, now - receivedAt)
      high = Math.min(high + slack, highest)
      // One millisecond of tolerance, since `now` has whole milliseconds.
      if (low > high + 1 || steadySince === Number.POSITIVE_INFINITY) {
        low = now - receivedAt
        high = highest
        steadySince = receivedAt
      }
      if (high - low > WIDEST_MS) steadySince = receivedAt
      // A slow round trip is consistent with any step of the clock meanwhile.
      if (receivedAt - sentAt <= WIDEST_MS) confirmedAt = sentAt
      last = { mono: receivedAt, wall: clock.wall() }
    },
    stamp() {
      const mono = clock.mono()
      const passed = mono - last.mono
      if (mono - confirmedAt > FRESH_MS || mono - steadySince < STEADY_MS || high - low > WIDEST_MS) return null
      if (wasAsleep(mono)) return null
      const slack = passed * DRIFT
      // Below a tenth of a millisecond no wait is needed: the request itself takes longer.
      return { at: Math.floor(mono + high + slack), waitMs: slack < 0.1 ? 0 : 2 * slack }
    },
  }
}
