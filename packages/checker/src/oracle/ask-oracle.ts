import { calendarDate } from './day-rules.ts'
import { enumerateFires, type ShiftOptions } from './enumerate-fires.ts'
import { type OracleSchedule, type ReadOptions, readExpression, withCalendar } from './read-expression.ts'
import { scanZone, type ZoneWindow } from './zone-clock.ts'

const TWO_DAYS = 172_800

export interface OracleOptions extends ShiftOptions, ReadOptions {
  readonly tz?: string | undefined
}

/** Every fire in [from, to), in epoch milliseconds. */
export function oracleFires(expression: string, options: OracleOptions, from: number, to: number): number[] {
  const low = Math.ceil(from / 1000)
  const high = Math.ceil(to / 1000)
  const zone = rememberedScan(options.tz ?? 'UTC', low - TWO_DAYS, high + TWO_DAYS)
  const { calendar } = options
  const schedule = calendar === undefined ? readExpression(expression, options) : daysOf(expression, options).fires
  return enumerateFires(schedule, options, zone, low, high).map((second) => second * 1000)
}

/** The times of closed days in [from, to) of which nothing fires. Where a gap makes a fire up at the same instant, that counts. */
export function oracleExcluded(expression: string, options: OracleOptions, from: number, to: number): number[] {
  const { calendar } = options
  if (calendar === undefined) return []
  const low = Math.ceil(from / 1000)
  const high = Math.ceil(to / 1000)
  const zone = rememberedScan(options.tz ?? 'UTC', low - TWO_DAYS, high + TWO_DAYS)
  const { fires, excluded } = daysOf(expression, options)
  const fired = new Set(enumerateFires(fires, options, zone, low, high))
  return enumerateFires(excluded, options, zone, low, high).flatMap((second) =>
    fired.has(second) ? [] : second * 1000,
  )
}

const calendars = new Map<string, ReturnType<typeof withCalendar>>()

/** Where the days of an expression go is asked again and again. */
function daysOf(expression: string, options: OracleOptions): ReturnType<typeof withCalendar> {
  const { days, wrap, calendar } = options
  const key = JSON.stringify([expression, days, wrap, calendar?.days, calendar?.excluded])
  const known = calendars.get(key) ?? withCalendar(readExpression(expression, options), calendar!)
  if (calendars.size > 200) calendars.clear()
  calendars.set(key, known)
  return known
}

const scans = new Map<string, ZoneWindow>()

/** The same question under other options looks at the same stretch of the zone again. */
function rememberedScan(tz: string, from: number, to: number): ZoneWindow {
  const key = `${tz} ${from} ${to}`
  const window = scans.get(key) ?? scanZone(tz, from, to)
  if (scans.size > 500) scans.clear()
  scans.set(key, window)
  return window
}

const DAY = 86_400_000
const LAST_DAY = Date.UTC(2199, 11, 31) / DAY

/** The first fire after `from`, looked for date by date, however far away it is. */
export function oracleNext(expression: string, options: OracleOptions, from: number): number | null {
  const schedule = readExpression(expression, options)
  for (let day = Math.max(0, Math.floor(from / DAY) - 1); day <= LAST_DAY; day += 1) {
    if (!namesDay(schedule, day)) continue
    // A local date reaches 15 hours into its neighbours in UTC; a fire made up for it stays near as well.
    const fires = oracleFires(expression, options, Math.max(from + 1, (day - 1) * DAY), (day + 2) * DAY)
    if (fires[0] !== undefined) return fires[0]
  }
  return null
}

/** Whether the date fields name this day, counted from 1970-01-01. */
export function namesDay(schedule: OracleSchedule, dayNumber: number): boolean {
  const date = calendarDate(dayNumber)
  return schedule.years.has(date.year) && schedule.months.has(date.month) && schedule.day(date)
}

export const iso = (instant: number | null): string | null =>
  instant === null ? null : new Date(instant).toISOString().replace('.000Z', 'Z')
