import type { Instant } from '../../model/schedule.ts'
import type { KvDriver } from './driver.ts'

/** How far the clocks of two members may be apart. A write time further ahead comes from a wrong clock, and does not count. */
const MEMBERS_APART_MS = 250

/**
 * The store's clock: the lower bound of the server's, so it can be late and never early. Every state carries the time of its write by
 * the writer's lower bound; the highest of all that were read is a lower bound as well, so times on record never contradict each other.
 */
export class StoreTime {
  readonly #driver: Pick<KvDriver, 'clock'>
  #seen: Instant = Number.NEGATIVE_INFINITY
  #steps = 0

  constructor(driver: Pick<KvDriver, 'clock'>) {
    this.#driver = driver
  }

  now(): Instant {
    const { earliest, latest, steps } = this.#driver.clock()
    // The clock was set, perhaps back: what was written before says nothing about it.
    if (steps !== this.#steps) {
      this.#steps = steps
      this.#seen = Number.NEGATIVE_INFINITY
    }
    return Math.max(earliest, Math.min(this.#seen, latest + MEMBERS_APART_MS))
  }

  /** A time at which some process wrote. */
  see(writtenAt: Instant): void {
    const { latest } = this.#driver.clock()
    if (writtenAt <= latest + MEMBERS_APART_MS) this.#seen = Math.max(this.#seen, writtenAt)
  }
}
