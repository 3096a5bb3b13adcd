import { type CalendarDate, calendarDate, type DayTest } from './day-rules.ts'

/** A calendar as a schedule has it: closed days, and what becomes of their fires. */
export interface OracleCalendar {
  readonly days: string
  readonly excluded?: 'skip' | 'next-working-day' | 'previous-working-day' | 'nearest' | undefined
}

/** A fire moves at most this number of days. */
const FARTHEST = 100
const DAY = 86_400_000

/** Asks each entry about the day, in the words in which it is written. */
export function isOpenOn({ days }: OracleCalendar, dayNumber: number): boolean {
  const iso = new Date(dayNumber * DAY).toISOString()
  const date = iso.slice(0, 10)
  const names = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']
  const isIn = (range: string): boolean => {
    const [from, to = from] = range.split('/') as [string, string?]
    return from <= date && date <= to
  }
  const entries = days.split(' ').filter((entry) => entry !== '')
  if (entries.some((entry) => entry.startsWith('+') && isIn(entry.slice(1)))) return true
  const isClosed = entries.some((entry) => {
    if (entry.startsWith('+')) return false
    if (entry.length === 3) return names[new Date(dayNumber * DAY).getUTCDay()] === entry
    return entry.length === 5 ? date.slice(5) === entry : isIn(entry)
  })
  return !isClosed
}

/** `nW` with a calendar: of all open days of the month the one closest to day n, the earlier of two. */
export function isNearestOpen(calendar: OracleCalendar, date: CalendarDate, target: number): boolean {
  if (target < 1 || target > date.lastDay) return false
  const first = dayNumberOf({ ...date, day: 1 })
  const open = Array.from({ length: date.lastDay }, (_, index) => index + 1)
    .filter((day) => isOpenOn(calendar, first + day - 1))
    .sort((a, b) => Math.abs(a - target) - Math.abs(b - target) || a - b)
  return open[0] === date.day
}

/** The days that fire, and those of which nothing fires, among the days that an expression names. */
export interface CalendarDays {
  readonly fires: DayTest
  readonly excluded: DayTest
}

/** By definition, day by day: where each named day goes, and which of those that go to the same day comes first. */
export function applyCalendar(named: DayTest, calendar: OracleCalendar): CalendarDays {
  const isNamed = remember((day) => day >= 0 && named(calendarDate(day)))
  const isOpen = remember((day) => isOpenOn(calendar, day))
  const goesTo = remember((day) => targetOf(day, isOpen, calendar.excluded ?? 'skip'))
  // The day whose fires an open day has: its own if it is named, else the first that goes there.
  const standsFor = remember((day): number | null => {
    if (isNamed(day)) return day
    for (let other = day - FARTHEST; other <= day + FARTHEST; other++) {
      if (!isOpen(other) && isNamed(other) && goesTo(other) === day) return other
    }
    return null
  })
  return {
    fires: (date) => isOpen(dayNumberOf(date)) && standsFor(dayNumberOf(date)) !== null,
    excluded: (date) => {
      const day = dayNumberOf(date)
      if (isOpen(day) || !isNamed(day)) return false
      const target = goesTo(day)
      return target === null || standsFor(target) !== day
    },
  }
}

function targetOf(day: number, isOpen: (day: number) => boolean, rule: string): number | null {
  if (rule === 'skip') return null
  for (let distance = 1; distance <= FARTHEST; distance++) {
    if (rule !== 'next-working-day' && isOpen(day - distance)) return day - distance
    if (rule !== 'previous-working-day' && isOpen(day + distance)) return day + distance
  }
  return null
}

function dayNumberOf({ year, month, day }: Pick<CalendarDate, 'year' | 'month' | 'day'>): number {
  return Date.UTC(year, month - 1, day) / DAY
}

function remember<Value>(ask: (day: number) => Value): (day: number) => Value {
  const known = new Map<number, Value>()
  return (day) => {
    if (known.size > 5_000) known.clear()
    if (!known.has(day)) known.set(day, ask(day))
    return known.get(day)!
  }
}
