import type { Instant } from '../../model/schedule.ts'
import type { ClockBounds } from './driver.ts'

/** How fast two clocks may drift apart, as a fraction: what operating systems correct at most, 500 ppm. */
const DRIFT = 0.0005
const SECOND_MS = 1_000
/** Rounding of times on both sides. */
const ROUNDING_MS = 1

/**
 * The clock of a server that tells it to the second, or to the millisecond. An answer with the time D, sent at `a` and received at `b`
 * by our monotonic clock, proves that the server's clock was in [D, D + span) at some moment between. All answers together bound the
 * difference of the clocks.
 */
export class ServerClock {
  readonly #monotonic: () => number
  /** server − monotonic: at least `#low`, at most `#high`, as of `#at`. */
  #low = Number.NEGATIVE_INFINITY
  #high = Number.POSITIVE_INFINITY
  #at = 0
  #steps = 0

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic
  }

  /** Throws if it was never told. */
  bounds(): ClockBounds {
    const now = this.#monotonic()
    const slack = this.#slack(now)
    return {
      earliest: Math.floor(now + this.#low - slack) as Instant,
      latest: Math.ceil(now + this.#high + slack) as Instant,
      steps: this.#steps,
    }
  }

  get isKnown(): boolean {
    return this.#low !== Number.NEGATIVE_INFINITY
  }

  /** How well it is known, in milliseconds. */
  get width(): number {
    return this.#high - this.#low + 2 * this.#slack(this.#monotonic())
  }

  observe(told: Instant, sentAt: number, receivedAt: number, spanMs = SECOND_MS): void {
    const slack = this.#slack(receivedAt)
    const [low, high] = [told - receivedAt, told + spanMs - sentAt]
    const [lowest, highest] = [this.#low - slack, this.#high + slack]
    this.#at = receivedAt
    if (low > highest + ROUNDING_MS || high < lowest - ROUNDING_MS) {
      // It was set, or another member with another clock answers: only this answer counts.
      this.#steps++
      this.#low = low
      this.#high = high
      return
    }
    this.#low = Math.max(lowest, low)
    this.#high = Math.min(highest, high)
  }

  /** When, by the monotonic clock, the server's next second begins, as far as is known. */
  nextSecond(): number {
    const offset = (this.#low + this.#high) / 2
    const from = this.#monotonic() + this.width / 2
    return Math.ceil((from + offset) / SECOND_MS) * SECOND_MS - offset
  }

  #slack(now: number): number {
    return this.isKnown ? Math.max(0, now - this.#at) * DRIFT : 0
  }
}
