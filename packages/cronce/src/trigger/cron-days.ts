import type { SpecialDay } from './trigger.ts'

/** The parts of the day rule that few expressions have. */
export interface DayRules {
  readonly days: readonly SpecialDay[]
  readonly weekdays: readonly SpecialDay[]
  /** `1` or `0` for each year from 1970 on, or `null` when every year will do. A text, since nothing can change one. */
  readonly years: string | null
  /** The days of a month, where a calendar has moved them; `null`: those that the fields name. */
  readonly daysIn: ((month: number) => number) | null
}

/**
 * Bit d - 1 for each day d that the specials name in a month of this shape. `closed`: the days that a calendar closes; `null`: there is
 * none.
 */
export function specialDays(
  specials: readonly SpecialDay[],
  length: number,
  firstWeekday: number,
  closed: number | null,
): number {
  let mask = 0
  for (const special of specials) {
    const day = dayOf(special, length, firstWeekday, closed)
    // A month without the day simply has no fire.
    if (day >= 1 && day <= length) mask |= 1 << (day - 1)
  }
  return mask
}

function dayOf(special: SpecialDay, length: number, firstWeekday: number, closed: number | null): number {
  switch (special.kind) {
    case 'last':
      return length - special.before
    case 'nearest':
      return nearestWorkday(special.day, length, firstWeekday, closed)
    case 'lastNearest':
      return nearestWorkday(length - special.before, length, firstWeekday, closed)
    case 'lastWeekday':
      return length - ((firstWeekday + length - 1 - special.weekday + 7) % 7)
    case 'nthWeekday':
      return 1 + ((special.weekday - firstWeekday + 7) % 7) + (special.nth - 1) * 7
  }
}

/** Saturday goes back to Friday and Sunday on to Monday, unless that leaves the month. Out of the month stays out. */
function nearestWorkday(day: number, length: number, firstWeekday: number, closed: number | null): number {
  if (day < 1 || day > length) return 0
  if (closed !== null) return nearestOpen(day, length, closed)
  const weekday = (firstWeekday + day - 1) % 7
  if (weekday === 6) return day === 1 ? 3 : day - 1
  if (weekday === 0) return day === length ? day - 2 : day + 1
  return day
}

/** The day itself or the nearest one that the calendar leaves open, the earlier of two. 0: the whole month is closed. */
function nearestOpen(day: number, length: number, closed: number): number {
  for (let distance = 0; distance < length; distance++) {
    for (const at of [day - distance, day + distance]) {
      if (at >= 1 && at <= length && ((closed >>> (at - 1)) & 1) === 0) return at
    }
  }
  return 0
}
