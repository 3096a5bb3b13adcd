import type { Clock } from '../../clock.ts'
import type { Instant, ScheduleState } from '../../model/schedule.ts'
import { nextSlots } from '../../policy/plan/start.ts'
import type { Slot } from '../../policy/records.ts'
import { LONG_MS } from './look.ts'

/** First wait before a limit that was used up is tried again; doubles up to the longest, because its holder may take hours. */
const FIRST_MS = 250
const LONGEST_MS = 4_000
/** A limit that was not tried for this long after its back-off is forgotten: what waits for it gets its turn, though room is scarce. */
const FORGOTTEN_MS = 10_000

interface FullLimit extends Slot {
  /** How often in a row it was used up. */
  times: number
  /** Monotonic end of its back-off. */
  until: number
  /** Nothing that counts against it is claimed. False: it is to be tried again. */
  isFull: boolean
}

/** Fleet-wide limits that were found used up: schedules that count against them are not claimed for a while. */
export class FullLimits {
  readonly #mono: () => number
  readonly #limits = new Map<string, FullLimit>()
  #learned = 0

  constructor({ mono }: Clock) {
    this.#mono = mono
  }

  /** How many limits were met that were not remembered. */
  get learned(): number {
    return this.#learned
  }

  /** A look begins: limits whose back-off is over are tried again. */
  begin(): void {
    const now = this.#mono()
    for (const [key, limit] of this.#limits) {
      if (limit.until <= now) limit.isFull = false
      if (limit.until <= now - FORGOTTEN_MS) this.#limits.delete(key)
    }
  }

  /** A claim met this limit, and it is used up. */
  met(slot: Slot): void {
    const known = this.#limits.get(keyOf(slot))
    // Further claims that were sent together with the first one.
    if (known?.isFull) return
    if (known === undefined) this.#learned++
    const times = known?.times ?? 0
    const until = this.#mono() + Math.min(FIRST_MS * 2 ** times, LONGEST_MS)
    this.#limits.set(keyOf(slot), { ...slot, times: times + 1, until, isFull: true })
  }

  /** A run that counts against these limits was claimed. */
  passed(slots: readonly Slot[]): void {
    for (const slot of slots) this.#limits.delete(keyOf(slot))
  }

  /** A run that counts against these limits has ended. True: schedules may wait for its slot. */
  free(names: readonly string[]): boolean {
    let isAwaited = false
    for (const limit of this.#limits.values()) {
      if (!names.includes(limit.slot)) continue
      limit.isFull = false
      isAwaited = true
    }
    return isAwaited
  }

  clear(): void {
    this.#limits.clear()
  }

  readonly isFull = (slots: readonly Slot[]): boolean =>
    slots.some((slot) => this.#limits.get(keyOf(slot))?.isFull === true)

  /** Whether all that the schedule could start counts against a limit that is used up. */
  keeps(state: ScheduleState, now: Instant): boolean {
    return this.#limits.size > 0 && nextSlots(state, now).every(this.isFull)
  }

  /** Schedules whose limit was used up come last, so that they do not take the room of those that may start. */
  sort(due: readonly ScheduleState[], now: Instant): readonly ScheduleState[] {
    if (this.#limits.size === 0) return due
    const ranks = new Map(due.map((state) => [state, this.#triedAt(state, now)]))
    return due.toSorted((one, other) => ranks.get(one)! - ranks.get(other)!)
  }

  untilNextMs(): number {
    const ends = [...this.#limits.values()].filter(({ isFull }) => isFull).map(({ until }) => until)
    return ends.length === 0 ? LONG_MS : Math.max(1, Math.min(...ends) - this.#mono())
  }

  /** When its limit was tried last: the one that waits for longest is tried first. 0: it is not known to be used up. */
  #triedAt(state: ScheduleState, now: Instant): number {
    const ends = nextSlots(state, now).map((slots) =>
      Math.max(0, ...slots.map((slot) => this.#limits.get(keyOf(slot))?.until ?? 0)),
    )
    return Math.min(...ends)
  }
}

/** Schedules may name one group with different limits: used up for one, it may still have slots for another. */
function keyOf({ slot, limit }: Slot): string {
  return `${limit} ${slot}`
}
