/**
 * The 2,760 months that a year field can name, 1970 to 2199, as tables: a month is an index, a day is a count since
 * 1970-01-01. Looking up beats computing, and there is no date arithmetic left to get wrong.
 */
export const DAY_MS = 86_400_000
export const FIRST_YEAR = 1970
export const LAST_YEAR = 2199
export const YEAR_COUNT = LAST_YEAR - FIRST_YEAR + 1
export const MONTH_COUNT = YEAR_COUNT * 12

/** Day number of each month's first day; one entry more than there are months. */
export const monthFirstDay = new Int32Array(MONTH_COUNT + 1)
/** Month of the year, 0 = January. */
export const monthOfYear = new Uint8Array(MONTH_COUNT)
/** Weekday of each month's first day, 0 = Sunday. */
export const monthFirstWeekday = new Uint8Array(MONTH_COUNT)

const LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const THURSDAY = 4

for (let index = 0, day = 0; index < MONTH_COUNT; index++) {
  const month = index % 12
  const year = FIRST_YEAR + (index - month) / 12
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  monthFirstDay[index] = day
  monthOfYear[index] = month
  monthFirstWeekday[index] = (day + THURSDAY) % 7
  day += LENGTHS[month]! + (isLeap && month === 1 ? 1 : 0)
  monthFirstDay[index + 1] = day
}

/** One past the last day: 2200-01-01. */
export const DAY_COUNT = monthFirstDay[MONTH_COUNT]!

/** The month that a day lies in; `day` must be in [0, DAY_COUNT). */
export function monthIndexOf(day: number): number {
  // The mean month is 30.436875 days; the estimate is never more than one month away, in either direction.
  const guess = (day * (1 / 30.436875)) | 0
  if (day < monthFirstDay[guess]!) return guess - 1
  return day >= monthFirstDay[guess + 1]! ? guess + 1 : guess
}

export function monthLength(index: number): number {
  return monthFirstDay[index + 1]! - monthFirstDay[index]!
}
