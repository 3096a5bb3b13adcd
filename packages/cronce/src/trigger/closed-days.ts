import { didYouMean } from '../did-you-mean.ts'
import { DAY_COUNT, DAY_MS, monthFirstDay, monthFirstWeekday, monthIndexOf, monthOfYear } from './calendar.ts'
import { CronError } from './cron-error.ts'
import { pointAt, quote } from './cron-hints.ts'
import { everyWeek } from './cron-set.ts'
import { Recent } from './recent.ts'

/** The days that a calendar closes, as bits: bit d - 1 of a month is day d. */
export interface ClosedDays {
  /** The same days in the one way that they are stored: equal calendars are equal texts. */
  readonly text: string
  closedIn(month: number): number
}

/** The most entries of a calendar: it is stored with every schedule that uses it. */
export const MAX_ENTRIES = 1_000
/** The longest range, in days. */
const MAX_RANGE = 3_660

const WEEKDAYS = ['SUNDAY', 'MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY']
const YEARLY = /^(\d\d)-(\d\d)$/
const DATES = /^(\+?)(\d{4}-\d\d-\d\d)(?:\/(\d{4}-\d\d-\d\d))?$/
/** Any leap year: 29 February is a day of a calendar. */
const LEAP_YEAR = 2_000

interface Entries {
  /** Weekday bits, 0 is Sunday. */
  weekly: number
  readonly yearly: Set<string>
  /** Day numbers. */
  readonly closed: Set<number>
  readonly open: Set<number>
}

const known = new Recent<ClosedDays>(1_000)

/**
 * Reads the entries of a calendar: `SAT`, `12-25`, `2026-04-03`, `2026-12-24/2027-01-01`, and `+2026-10-10` for a day that is open all
 * the same.
 */
export function closedDays(entries: string | readonly string[]): ClosedDays {
  const list = typeof entries === 'string' ? entries.split(/[\s,]+/).filter((entry) => entry !== '') : entries
  const key = list.join(' ')
  return known.get(key) ?? known.add(key, new Calendar(readEntries(list)))
}

class Calendar implements ClosedDays {
  readonly text: string
  readonly #weekly: number
  readonly #yearly = new Int32Array(12)
  readonly #closed: ReadonlyMap<number, number>
  readonly #open: ReadonlyMap<number, number>

  constructor(entries: Entries) {
    this.text = textOf(entries)
    this.#weekly = entries.weekly
    for (const date of entries.yearly) this.#yearly[Number(date.slice(0, 2)) - 1]! |= 1 << (Number(date.slice(3)) - 1)
    this.#closed = byMonth(entries.closed)
    this.#open = byMonth(entries.open)
  }

  closedIn(month: number): number {
    const weekly = everyWeek(this.#weekly, monthFirstWeekday[month]!)
    const dates = this.#yearly[monthOfYear[month]!]! | (this.#closed.get(month) ?? 0)
    return (weekly | dates) & ~(this.#open.get(month) ?? 0)
  }
}

function readEntries(list: readonly string[]): Entries {
  const entries: Entries = { weekly: 0, yearly: new Set(), closed: new Set(), open: new Set() }
  if (list.length > MAX_ENTRIES) throw tooMany(list.length)
  for (const entry of list) readEntry(entries, entry)
  for (const day of entries.open) entries.closed.delete(day)
  return entries
}

function readEntry(entries: Entries, entry: unknown): void {
  if (typeof entry !== 'string') throw refused(String(entry))
  const text = entry.trim().toUpperCase()
  const weekday = text.length < 3 ? -1 : WEEKDAYS.findIndex((name) => name.startsWith(text))
  const dates = DATES.exec(text)
  if (weekday >= 0) {
    entries.weekly |= 1 << weekday
  } else if (YEARLY.test(text)) {
    dayNumber(`${LEAP_YEAR}-${text}`, entry)
    entries.yearly.add(text)
  } else if (dates !== null) {
    const from = dayNumber(dates[2]!, entry)
    const to = dates[3] === undefined ? from : dayNumber(dates[3], entry)
    if (to < from || to - from >= MAX_RANGE) throw badRange(entry)
    for (let day = from; day <= to; day++) (dates[1] === '' ? entries.closed : entries.open).add(day)
  } else {
    throw refused(entry)
  }
}

/** Days since 1970-01-01 of a date that exists. */
function dayNumber(date: string, entry: string): number {
  const day = Date.parse(`${date}T00:00:00Z`) / DAY_MS
  if (day >= 0 && day < DAY_COUNT && dateText(day) === date) return day
  throw refused(entry)
}

function dateText(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10)
}

function byMonth(days: ReadonlySet<number>): ReadonlyMap<number, number> {
  const months = new Map<number, number>()
  for (const day of days) {
    const month = monthIndexOf(day)
    months.set(month, (months.get(month) ?? 0) | (1 << (day - monthFirstDay[month]!)))
  }
  return months
}

function textOf({ weekly, yearly, closed, open }: Entries): string {
  const weekdays = WEEKDAYS.filter((_, weekday) => ((weekly >>> weekday) & 1) === 1)
  return [
    ...weekdays.map((name) => name.slice(0, 3)),
    ...[...yearly].sort(),
    ...rangesOf(closed, ''),
    ...rangesOf(open, '+'),
  ].join(' ')
}

function rangesOf(days: ReadonlySet<number>, sign: string): readonly string[] {
  const sorted = [...days].sort((a, b) => a - b)
  const ranges: string[] = []
  for (let index = 0; index < sorted.length; ) {
    const from = sorted[index]!
    let to = from
    while (sorted[index] === to + 1 || sorted[index] === from) to = sorted[index++]!
    ranges.push(from === to ? `${sign}${dateText(from)}` : `${sign}${dateText(from)}/${dateText(to)}`)
  }
  return ranges
}

function tooMany(count: number): CronError {
  return new CronError('OPTION_INVALID', `A calendar has at most ${MAX_ENTRIES} entries, not ${count}.`, {
    ...pointAt('calendar'),
    expected: `at most ${MAX_ENTRIES} entries`,
    hint: 'Leave out past years, and join days to ranges such as 2026-12-24/2027-01-01.',
  })
}

function badRange(entry: string): CronError {
  return new CronError(
    'OPTION_INVALID',
    `${quote(entry)} is not a range of at most ten years, the earlier date first.`,
    {
      ...pointAt(entry),
      expected: 'an earlier date, a slash and a later date',
      hint: 'Write 2026-12-24/2027-01-01.',
    },
  )
}

function refused(entry: string): CronError {
  const meant = didYouMean(entry, WEEKDAYS)
  return new CronError('OPTION_INVALID', `${quote(entry)} is not an entry of a calendar.`, {
    ...pointAt(entry),
    expected: 'a weekday, a date of every year, a date, or a range of dates',
    hint: `${meant === undefined ? '' : `Did you mean ${meant}? `}Write SAT, 12-25, 2026-04-03 or 2026-12-24/2027-01-01.`,
  })
}
