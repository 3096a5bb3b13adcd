import {
  DAY_COUNT,
  DAY_MS,
  MONTH_COUNT,
  monthFirstDay,
  monthFirstWeekday,
  monthIndexOf,
  monthLength,
  monthOfYear,
} from './calendar.ts'
import { type DayRules, specialDays } from './cron-days.ts'

/**
 * A compiled expression: the set of local date-times it names, as bits, before any zone has a say. Sixty values do not fit
 * a small integer, so seconds and minutes are two halves of thirty.
 */
export interface CronSet {
  readonly secondsLow: number
  readonly secondsHigh: number
  readonly minutesLow: number
  readonly minutesHigh: number
  /** Bit h is hour h. */
  readonly hours: number
  /** Bit d - 1 is day d of the month. */
  readonly days: number
  /** Months, weekdays and the flags below, packed: a million schedules may be alive at once. */
  readonly rules: number
  /** What only few expressions have: L, W, #, a year field. */
  readonly rare: DayRules | null
}

/** Layout of `rules`: 12 month bits, 7 weekday bits from WEEKDAYS_AT on, then flags. */
export const MONTHS = 0xfff
export const WEEKDAYS = 0x7f
export const WEEKDAYS_AT = 12
export const DAYS_OPEN = 1 << 19
export const WEEKDAYS_OPEN = 1 << 20
/** Both day fields must match, rather than either. */
export const DAYS_AND = 1 << 21

const HOUR_BITS = 24
/** The character code of `0`. */
const ZERO = 48
/** No local time: the set has nothing more in that direction. */
const NONE = Number.NaN

/** The first local time of the set strictly after `local` (milliseconds of the local clock), or NONE. */
export function nextLocal(set: CronSet, local: number): number {
  let day = Math.floor(local / DAY_MS)
  let from = 0
  if (day < 0) day = 0
  else if (day >= DAY_COUNT) return NONE
  else from = (((local - day * DAY_MS) / 1000) | 0) + 1

  const month = monthIndexOf(day)
  const inMonth = day - monthFirstDay[month]!
  const days = daysOfMonth(set, month)
  const time = ((days >>> inMonth) & 1) === 1 ? timeFrom(set, from) : -1
  if (time >= 0) return day * DAY_MS + time * 1000
  const later = firstDay(set, month, days & (-2 << inMonth))
  return later < 0 ? NONE : later * DAY_MS + timeFrom(set, 0) * 1000
}

/** The last local time of the set strictly before `local`, or NONE. */
export function prevLocal(set: CronSet, local: number): number {
  const latest = Math.ceil(local) - 1
  let day = Math.floor(latest / DAY_MS)
  let upTo = LAST_SECOND
  if (day < 0) return NONE
  if (day >= DAY_COUNT) day = DAY_COUNT - 1
  else upTo = ((latest - day * DAY_MS) / 1000) | 0

  const month = monthIndexOf(day)
  const inMonth = day - monthFirstDay[month]!
  const days = daysOfMonth(set, month)
  const time = ((days >>> inMonth) & 1) === 1 ? timeUpTo(set, upTo) : -1
  if (time >= 0) return day * DAY_MS + time * 1000
  const earlier = lastDay(set, month, days & ((1 << inMonth) - 1))
  return earlier < 0 ? NONE : earlier * DAY_MS + timeUpTo(set, LAST_SECOND) * 1000
}

/** The first of these days of a month, else of the days of the months after it, or -1. */
function firstDay(set: CronSet, month: number, days: number): number {
  let at = month
  let mask = days
  while (mask === 0) {
    at = monthAfter(set.rules & MONTHS, at)
    if (at >= MONTH_COUNT) return -1
    mask = daysOfMonth(set, at)
  }
  return monthFirstDay[at]! + lowestBit(mask)
}

/** The last of these days of a month, else of the days of the months before it, or -1. */
function lastDay(set: CronSet, month: number, days: number): number {
  let at = month
  let mask = days
  while (mask === 0) {
    at = monthBefore(set.rules & MONTHS, at)
    if (at < 0) return -1
    mask = daysOfMonth(set, at)
  }
  return monthFirstDay[at]! + highestBit(mask)
}

/** The next month that the month field names, whatever its days: leaps over the others, since some schedules are yearly. */
function monthAfter(months: number, month: number): number {
  const ofYear = monthOfYear[month]!
  const later = months & (-2 << ofYear)
  if (later !== 0) return month - ofYear + lowestBit(later)
  return months === 0 ? MONTH_COUNT : month - ofYear + 12 + lowestBit(months)
}

function monthBefore(months: number, month: number): number {
  const ofYear = monthOfYear[month]!
  const earlier = months & ((1 << ofYear) - 1)
  if (earlier !== 0) return month - ofYear + highestBit(earlier)
  return months === 0 ? -1 : month - ofYear - 12 + highestBit(months)
}

/** The days of a month that the day, month and year fields name, or that a calendar makes of them: bit d - 1 is day d. */
export function daysOfMonth(set: CronSet, month: number): number {
  const { rare } = set
  return rare === null || rare.daysIn === null ? namedDays(set, month, null) : rare.daysIn(month)
}

/** The days that the fields name. `closed`: what a calendar closes; without one, `W` knows Saturdays and Sundays. */
export function namedDays(set: CronSet, month: number, closed: number | null): number {
  const rules = set.rules
  if (((rules >>> monthOfYear[month]!) & 1) === 0) return 0
  const firstWeekday = monthFirstWeekday[month]!
  const length = monthLength(month)
  const all = 0x7fffffff >>> (31 - length)
  let days = set.days
  let weekdays = everyWeek((rules >>> WEEKDAYS_AT) & WEEKDAYS, firstWeekday)
  if (set.rare !== null) {
    if (set.rare.years !== null && set.rare.years.charCodeAt((month / 12) | 0) === ZERO) return 0
    days |= specialDays(set.rare.days, length, firstWeekday, closed)
    weekdays |= specialDays(set.rare.weekdays, length, firstWeekday, closed)
  }
  if ((rules & DAYS_OPEN) !== 0) return ((rules & WEEKDAYS_OPEN) !== 0 ? -1 : weekdays) & all
  if ((rules & WEEKDAYS_OPEN) !== 0) return days & all
  return ((rules & DAYS_AND) !== 0 ? days & weekdays : days | weekdays) & all
}

/** Seven weekday bits laid over a month that begins on `firstWeekday`. */
export function everyWeek(weekdays: number, firstWeekday: number): number {
  const week = ((weekdays >>> firstWeekday) | (weekdays << (7 - firstWeekday))) & 0x7f
  return week | (week << 7) | (week << 14) | (week << 21) | (week << 28)
}

const LAST_SECOND = 86_399

/** The first matching second of the day at or after `second`, or -1. `second` may be one past the end of the day. */
function timeFrom(set: CronSet, second: number): number {
  const hour = (second / 3600) | 0
  if (((set.hours >>> hour) & 1) === 1) {
    const inHour = second - hour * 3600
    const minute = (inHour / 60) | 0
    let from = minute
    if (isSet(set.minutesLow, set.minutesHigh, minute)) {
      const found = lowestFrom(set.secondsLow, set.secondsHigh, inHour - minute * 60)
      if (found < 60) return hour * 3600 + minute * 60 + found
      from = minute + 1
    }
    const found = lowestFrom(set.minutesLow, set.minutesHigh, from)
    if (found < 60) return hour * 3600 + found * 60 + lowestFrom(set.secondsLow, set.secondsHigh, 0)
  }
  const later = hour < HOUR_BITS - 1 ? set.hours & (-2 << hour) : 0
  if (later === 0) return -1
  return (
    lowestBit(later) * 3600 +
    lowestFrom(set.minutesLow, set.minutesHigh, 0) * 60 +
    lowestFrom(set.secondsLow, set.secondsHigh, 0)
  )
}

/** The last matching second of the day at or before `second`, or -1. */
function timeUpTo(set: CronSet, second: number): number {
  const hour = (second / 3600) | 0
  if (((set.hours >>> hour) & 1) === 1) {
    const inHour = second - hour * 3600
    const minute = (inHour / 60) | 0
    let upTo = minute
    if (isSet(set.minutesLow, set.minutesHigh, minute)) {
      const found = highestUpTo(set.secondsLow, set.secondsHigh, inHour - minute * 60)
      if (found >= 0) return hour * 3600 + minute * 60 + found
      upTo = minute - 1
    }
    const found = highestUpTo(set.minutesLow, set.minutesHigh, upTo)
    if (found >= 0) return hour * 3600 + found * 60 + highestUpTo(set.secondsLow, set.secondsHigh, 59)
  }
  const earlier = set.hours & ((1 << hour) - 1)
  if (earlier === 0) return -1
  return (
    highestBit(earlier) * 3600 +
    highestUpTo(set.minutesLow, set.minutesHigh, 59) * 60 +
    highestUpTo(set.secondsLow, set.secondsHigh, 59)
  )
}

export function isSet(low: number, high: number, value: number): boolean {
  return (value < 30 ? (low >>> value) & 1 : (high >>> (value - 30)) & 1) === 1
}

/** The smallest value >= `from` of two thirty-bit halves, or 60. */
function lowestFrom(low: number, high: number, from: number): number {
  if (from < 30) {
    const rest = low & (-1 << from)
    if (rest !== 0) return lowestBit(rest)
    return high === 0 ? 60 : 30 + lowestBit(high)
  }
  const rest = from < 60 ? high & (-1 << (from - 30)) : 0
  return rest === 0 ? 60 : 30 + lowestBit(rest)
}

/** The largest value <= `upTo` of two thirty-bit halves, or -1. */
function highestUpTo(low: number, high: number, upTo: number): number {
  if (upTo < 0) return -1
  if (upTo >= 30) {
    const rest = high & ((2 << (upTo - 30)) - 1)
    if (rest !== 0) return 30 + highestBit(rest)
    return low === 0 ? -1 : highestBit(low)
  }
  const rest = low & ((2 << upTo) - 1)
  return rest === 0 ? -1 : highestBit(rest)
}

function lowestBit(bits: number): number {
  return 31 - Math.clz32(bits & -bits)
}

function highestBit(bits: number): number {
  return 31 - Math.clz32(bits)
}
