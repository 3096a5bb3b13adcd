import { applyCalendar, isNearestOpen, type OracleCalendar } from './business-days.ts'
import {
  type CalendarDate,
  type DayTest,
  isFinalWeekday,
  isLastWeekday,
  isNearestWeekday,
  isNthWeekday,
} from './day-rules.ts'

/**
 * The default dialect as plain sets of values, read with a regular expression per item. It trusts its input: only
 * valid expressions come here, from the generator or written by hand.
 */
export interface OracleSchedule {
  readonly seconds: readonly number[]
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
  readonly months: ReadonlySet<number>
  readonly years: ReadonlySet<number>
  readonly day: DayTest
  readonly timing: 'fixed' | 'interval'
}

export interface ReadOptions {
  readonly days?: 'or' | 'and' | 'vixie' | undefined
  readonly wrap?: boolean | undefined
  readonly calendar?: OracleCalendar | undefined
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

const MACROS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

export function readExpression(expression: string, options: ReadOptions = {}): OracleSchedule {
  const text = expression.replace(/^[ \t]+|[ \t]+$/g, '').toUpperCase()
  const fields = (MACROS[text.toLowerCase()] ?? text).split(/[ \t]+/)
  if (fields.length === 5) fields.unshift('0')
  if (fields.length === 6) fields.push('*')
  const [second, minute, hour, dom, month, dow, year] = fields as [
    string,
    string,
    string,
    string,
    string,
    string,
    string,
  ]
  const wrap = options.wrap ?? false
  const times = [
    { text: second, values: readValues(second, 0, 59, wrap) },
    { text: minute, values: readValues(minute, 0, 59, wrap) },
    { text: hour, values: readValues(hour, 0, 23, wrap) },
  ] as const
  // R7, on the field as written: a star, a range or a step, and at least two values.
  const repeating = times.some((field) => /[*\-/]/.test(field.text) && field.values.length >= 2)
  return {
    seconds: times[0].values,
    minutes: times[1].values,
    hours: times[2].values,
    months: new Set(readValues(numbered(month, MONTHS, 1), 1, 12, wrap)),
    years: new Set(readValues(year, 1970, 2199, false)),
    day: readDays(dom, dow, { days: 'or', ...options, wrap }),
    timing: repeating ? 'interval' : 'fixed',
  }
}

const EVERY_MONTH: ReadonlySet<number> = new Set(Array.from({ length: 12 }, (_, index) => index + 1))
const EVERY_YEAR: ReadonlySet<number> = new Set(Array.from({ length: 230 }, (_, index) => 1970 + index))

/** An expression with its calendar: what fires, and what the calendar excludes. */
export function withCalendar(
  schedule: OracleSchedule,
  calendar: OracleCalendar,
): { readonly fires: OracleSchedule; readonly excluded: OracleSchedule } {
  const named: DayTest = (date) =>
    schedule.years.has(date.year) && schedule.months.has(date.month) && schedule.day(date)
  const { fires, excluded } = applyCalendar(named, calendar)
  const everyDay = { ...schedule, months: EVERY_MONTH, years: EVERY_YEAR }
  return { fires: { ...everyDay, day: fires }, excluded: { ...everyDay, day: excluded } }
}

/** R3 for the fields that hold nothing but numbers. */
function readValues(field: string, low: number, high: number, wrap: boolean): number[] {
  const values = new Set<number>()
  for (const item of field.split(',')) for (const value of readItem(item, low, high, wrap)) values.add(value)
  return [...values].sort((a, b) => a - b)
}

function readItem(item: string, low: number, high: number, wrap: boolean): number[] {
  const star = /^[*?](?:\/(\d+))?$/.exec(item)
  if (star) return walk(low, high, low, high, Number(star[1] ?? 1))
  const plain = /^(\d+)(?:-(\d+))?(?:\/(\d+))?$/.exec(item)
  if (!plain) throw new Error(`the oracle cannot read ${JSON.stringify(item)}`)
  const from = Number(plain[1])
  const step = Number(plain[3] ?? 1)
  const to = plain[2] !== undefined ? Number(plain[2]) : plain[3] !== undefined ? high : from
  if (from > to && !wrap) throw new Error(`the oracle does not wrap ${item}`)
  return walk(from, to, low, high, step)
}

/** Counts up from `from` to `to`, starting over at `low` behind `high`, and takes every `step`-th value. */
function walk(from: number, to: number, low: number, high: number, step: number): number[] {
  const all: number[] = []
  for (let value = from; ; value = value === high ? low : value + 1) {
    all.push(value)
    if (value === to) break
    if (all.length > 1000) throw new Error('the oracle ran in circles')
  }
  return all.filter((_, index) => index % step === 0)
}

function numbered(field: string, names: readonly string[], base: number): string {
  return field.replace(/[A-Z]{3}/g, (name) => String(names.indexOf(name) + base))
}

function readDays(domField: string, dowField: string, options: ReadOptions & { readonly wrap: boolean }): DayTest {
  const { days, wrap, calendar } = options
  const plus = dowField.startsWith('+')
  const dowText = plus ? dowField.slice(1) : dowField
  const domTests = domField.split(',').map((item) => readDom(item, wrap, calendar))
  const dowTests = dowText.split(',').map((item) => readDow(item, wrap))
  const dom: DayTest = (date) => domTests.some((test) => test(date))
  const dow: DayTest = (date) => dowTests.some((test) => test(date))

  const isOpen = (field: string) => field === '*' || field === '?' || field === '*/1'
  if (isOpen(domField)) return dow
  if (isOpen(dowText)) return dom
  const star = domField.startsWith('*') || dowText.startsWith('*')
  if (plus || days === 'and' || (days === 'vixie' && star)) return (date) => dom(date) && dow(date)
  return (date) => dom(date) || dow(date)
}

function readDom(item: string, wrap: boolean, calendar?: OracleCalendar): DayTest {
  const isNearest = (date: CalendarDate, target: number): boolean =>
    calendar === undefined ? isNearestWeekday(date, target) : isNearestOpen(calendar, date, target)
  const last = /^L(?:-(\d+))?(W)?$/.exec(item)
  if (last?.[2] && last[1] === undefined && calendar === undefined) return isLastWeekday
  if (last) {
    const back = Number(last[1] ?? 0)
    if (last[2]) return (date) => isNearest(date, date.lastDay - back)
    return (date) => date.day === date.lastDay - back
  }
  const nearest = /^(\d+)W$/.exec(item)
  if (nearest) return (date) => isNearest(date, Number(nearest[1]))
  const values = new Set(readItem(item, 1, 31, wrap))
  return (date) => values.has(date.day)
}

function readDow(item: string, wrap: boolean): DayTest {
  const special = /^(\d|[A-Z]{3})(?:#?(L)|#(\d))$/.exec(item)
  if (special) {
    const weekday = Number(numbered(special[1]!, WEEKDAYS, 0)) % 7
    if (special[2]) return (date) => isFinalWeekday(date, weekday)
    return (date) => isNthWeekday(date, weekday, Number(special[3]))
  }
  const values = new Set(readWeekdays(item, wrap))
  return (date) => values.has(date.weekday)
}

/** SUN at the end of a range is 7, anywhere else 0; `a/n` ends at 6; 7 and 0 are one day. */
function readWeekdays(item: string, wrap: boolean): number[] {
  const text = numbered(item.replace(/-SUN/, '-7'), WEEKDAYS, 0)
  const plain = /^(\d)(?:-(\d))?(?:\/(\d+))?$/.exec(text)
  if (!plain) return readItem(text, 0, 6, wrap)
  const from = Number(plain[1])
  const to = plain[2] === undefined ? undefined : Number(plain[2])
  if (to === undefined) return readItem(text.replace(/^7/, '0'), 0, 6, wrap)
  // Not backward: count 0 to 7 as written. Backward: a walk around the week, in which 7 is 0.
  if (from <= to) return readItem(text, 0, 7, false).map((value) => value % 7)
  return walk(from % 7, to % 7, 0, 6, Number(plain[3] ?? 1))
}
