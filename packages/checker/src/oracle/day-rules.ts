/** The day fields of R4 and R5, each item as a question to one calendar date. */

export interface CalendarDate {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly weekday: number
  readonly lastDay: number
}

export type DayTest = (date: CalendarDate) => boolean

export function calendarDate(dayNumber: number): CalendarDate {
  const date = new Date(dayNumber * 86_400_000)
  const year = date.getUTCFullYear()
  const month = date.getUTCMonth() + 1
  return { year, month, day: date.getUTCDate(), weekday: date.getUTCDay(), lastDay: lastDayOf(year, month) }
}

function lastDayOf(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate()
}

/** `nW`: of all Mondays to Fridays of the month, the one closest to day n. A month without day n has none. */
export function isNearestWeekday(date: CalendarDate, target: number): boolean {
  if (target < 1 || target > date.lastDay) return false
  let best = Number.NaN
  for (let day = 1; day <= date.lastDay; day += 1) {
    const weekday = new Date(Date.UTC(date.year, date.month - 1, day)).getUTCDay()
    if (weekday === 0 || weekday === 6) continue
    if (Number.isNaN(best) || Math.abs(day - target) < Math.abs(best - target)) best = day
  }
  return date.day === best
}

/** `LW`: the last Monday to Friday of the month. */
export function isLastWeekday(date: CalendarDate): boolean {
  let last = 0
  for (let day = 1; day <= date.lastDay; day += 1) {
    const weekday = new Date(Date.UTC(date.year, date.month - 1, day)).getUTCDay()
    if (weekday !== 0 && weekday !== 6) last = day
  }
  return date.day === last
}

/** `d#n`: this date is the n-th such weekday of its month. */
export function isNthWeekday(date: CalendarDate, weekday: number, nth: number): boolean {
  return date.weekday === weekday && Math.ceil(date.day / 7) === nth
}

/** `dL`: no such weekday follows in the same month. */
export function isFinalWeekday(date: CalendarDate, weekday: number): boolean {
  return date.weekday === weekday && date.day + 7 > date.lastDay
}
