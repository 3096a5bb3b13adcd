import type { Clock } from '../../clock.ts'
import type { Instant } from '../../model/schedule.ts'

/**
 * What the store's clock says, as far as this process can tell: an offset to the local monotonic clock. Used to set timers
 * and to warn, never to decide: the store judges.
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
   * A time to write down for what is over by now, without asking the store: its clock does not show more than this yet,
   * and will show it when something arrives that is sent after `waitMs`. `null` where that is not certain enough.
   */
  stamp(): { readonly at: Instant; readonly waitMs: number } | null
  /** How long until the store's clock shows this. Zero if it does already. */
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
      // A store's clock that stepped is seen at once: no round trip explains a difference larger than itself.
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
      // One more, since `now` and `wall` are whole milliseconds.
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
  /** Offsets to the monotonic clock, by the arrival of their answers; only those that no later one exceeds. */
  #answers: { readonly offset: number; readonly receivedAt: number }[] = []
  /** The answer to the latest question: the highest offset that it allows for, and when the question left. */
  #latest = { sentAt: Number.NEGATIVE_INFINITY, highest: 0 }

  observe(now: Instant, sentAt: number, receivedAt: number): void {
    const { highest } = this.#latest
    if (sentAt >= this.#latest.sentAt) this.#latest = { sentAt, highest: now - sentAt }
    // It was overtaken by an answer that shows that the clock was set back since. One more, since `now` has whole milliseconds.
    else if (now - receivedAt > highest + (receivedAt - this.#latest.sentAt) * DRIFT + 1) return
    const known = this.at(sentAt)
    // The clock had reached that before the question left, so it was set back.
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

/** Clocks differ in speed, and are made to; by more than this only if something is wrong. */
const DRIFT = 0.000_5
/** How long the answers must have been consistent: a clock that runs wrong is noticed by then. */
const STEADY_MS = 10_000
/** The most time since the last answer that was fast enough to show a step of the store's clock. */
const FRESH_MS = 10_000
/** Between what the store's clock shows at least and at most. */
const WIDEST_MS = 100
/** The wall clock went on, and the monotonic one did not: this machine was asleep. */
const ASLEEP_MS = 100

/**
 * Every answer says where the offset lies: the store showed `now` after the question left and before the answer came. What
 * many answers agree on is narrow, about as wide as the fastest of them took.
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
      // It may have been asked for before that: then the monotonic clock does not tell how long it was under way.
      if (Number.isFinite(last.mono) && wasAsleep(receivedAt)) {
        steadySince = Number.POSITIVE_INFINITY
        last = { mono: receivedAt, wall: clock.wall() }
        return
      }
      const slack = Math.max(0, receivedAt - last.mono) * DRIFT
      low = Math.max(low - slack, now - receivedAt)
      high = Math.min(high + slack, now - sentAt)
      // One more, since `now` has whole milliseconds.
      if (low > high + 1 || steadySince === Number.POSITIVE_INFINITY) {
        low = now - receivedAt
        high = now - sentAt
        steadySince = receivedAt
      }
      if (high - low > WIDEST_MS) steadySince = receivedAt
      // One that was long under way fits whatever the clock was set to meanwhile.
      if (receivedAt - sentAt <= WIDEST_MS) confirmedAt = sentAt
      last = { mono: receivedAt, wall: clock.wall() }
    },
    stamp() {
      const mono = clock.mono()
      const passed = mono - last.mono
      if (mono - confirmedAt > FRESH_MS || mono - steadySince < STEADY_MS || high - low > WIDEST_MS) return null
      if (wasAsleep(mono)) return null
      const slack = passed * DRIFT
      // Less than that takes the way there.
      return { at: Math.floor(mono + high + slack), waitMs: slack < 0.1 ? 0 : 2 * slack }
    },
  }
}
