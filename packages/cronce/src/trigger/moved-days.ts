import { DAY_COUNT, monthFirstDay, monthIndexOf, monthLength } from './calendar.ts'
import type { ClosedDays } from './closed-days.ts'
import { type CronSet, namedDays } from './cron-set.ts'
import type { ExcludedRule } from './trigger.ts'

/** Days behind or ahead that a fire is moved at most. */
export const MAX_SHIFT = 100

/**
 * What a calendar makes of the days that an expression names. All days of an expression have the same times of day, so whole days move:
 *
 * - An open day fires if it is named, or if a closed day moves there.
 * - A closed day that is named moves to an open day. It is excluded instead if the rule says skip, if no open day is near enough, if the
 *   open day is named itself, or if an earlier closed day moves there.
 *
 * So every named day either fires once, on its own date or another one, or is excluded.
 */
export class MovedDays {
  readonly #set: CronSet
  readonly #calendar: ClosedDays
  readonly #rule: ExcludedRule
  /** By month, as far as they were needed: bit d - 1 is day d. */
  readonly #closed = new Map<number, number>()
  readonly #named = new Map<number, number>()
  readonly #fires = new Map<number, number>()
  readonly #excluded = new Map<number, number>()

  constructor(set: CronSet, calendar: ClosedDays, rule: ExcludedRule) {
    this.#set = set
    this.#calendar = calendar
    this.#rule = rule
  }

  readonly firesIn = (month: number): number =>
    this.#remembered(this.#fires, month, (day) => this.#isOpen(day) && (this.#isNamed(day) || this.#sourceOf(day) >= 0))

  readonly excludedIn = (month: number): number =>
    this.#remembered(this.#excluded, month, (day) => this.isExcluded(day))

  isExcluded(day: number): boolean {
    if (this.#isOpen(day) || !this.#isNamed(day)) return false
    const target = this.targetOf(day)
    return target < 0 || this.#isNamed(target) || this.#sourceOf(target) !== day
  }

  /** The open day that a closed one moves to, or -1. */
  targetOf(day: number): number {
    if (this.#rule === 'skip') return -1
    const before = this.#rule === 'next-working-day' ? -1 : this.#openFrom(day, -1)
    const after = this.#rule === 'previous-working-day' ? -1 : this.#openFrom(day, 1)
    if (before < 0 || after < 0) return Math.max(before, after)
    // The earlier of two that are equally near.
    return day - before <= after - day ? before : after
  }

  /** The earliest closed day that moves to an open one, or -1. */
  #sourceOf(target: number): number {
    let source = -1
    for (let day = target - 1; target - day <= MAX_SHIFT && this.#isClosed(day); day--) {
      if (this.#isNamed(day) && this.targetOf(day) === target) source = day
    }
    for (let day = target + 1; source < 0 && day - target <= MAX_SHIFT && this.#isClosed(day); day++) {
      if (this.#isNamed(day) && this.targetOf(day) === target) source = day
    }
    return source
  }

  #openFrom(day: number, step: 1 | -1): number {
    for (let distance = 1; distance <= MAX_SHIFT; distance++) {
      if (this.#isOpen(day + step * distance)) return day + step * distance
    }
    return -1
  }

  #isClosed(day: number): boolean {
    return day >= 0 && day < DAY_COUNT && hasBit(this.#closed, day, (month) => this.#closedIn(month))
  }

  #isOpen(day: number): boolean {
    return day >= 0 && day < DAY_COUNT && !this.#isClosed(day)
  }

  #isNamed(day: number): boolean {
    return hasBit(this.#named, day, (month) => namedDays(this.#set, month, this.#closedIn(month)))
  }

  #closedIn(month: number): number {
    return kept(this.#closed, month, () => this.#calendar.closedIn(month))
  }

  #remembered(masks: Map<number, number>, month: number, isIn: (day: number) => boolean): number {
    return kept(masks, month, () => {
      let mask = 0
      for (let day = 0; day < monthLength(month); day++) if (isIn(monthFirstDay[month]! + day)) mask |= 1 << day
      return mask
    })
  }
}

function kept(masks: Map<number, number>, month: number, make: () => number): number {
  let mask = masks.get(month)
  if (mask === undefined) {
    mask = make()
    masks.set(month, mask)
  }
  return mask
}

function hasBit(masks: Map<number, number>, day: number, maskIn: (month: number) => number): boolean {
  const month = monthIndexOf(day)
  const mask = masks.get(month) ?? kept(masks, month, () => maskIn(month))
  return ((mask >>> (day - monthFirstDay[month]!)) & 1) === 1
}
