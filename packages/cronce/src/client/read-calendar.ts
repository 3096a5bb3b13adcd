import { didYouMean } from '../did-you-mean.ts'
import type { CalendarData } from '../trigger/trigger.ts'
import { asCode } from './as-code.ts'
import { invalid, isRecord, optionConflict, optionInvalid, readFields } from './read-option.ts'

/**
 * The entries of a calendar, each a closed day: a weekday (`'SAT'`), a date of every year (`'12-25'`), a date (`'2026-04-03'`), or a range
 * with both ends (`'2026-12-24/2027-01-01'`). With a `+` before it, a date or a range is open whatever the others say.
 */
export type CalendarDays = string | readonly string[]

/** The calendars that this process knows, by name: their entries with a space between them. */
export type Calendars = ReadonlyMap<string, string>

export const NO_CALENDARS: Calendars = new Map()

const SAMPLE = "['SAT', 'SUN', '12-25']"

/** The option `calendars`. */
export function readCalendars(given: unknown): Calendars {
  if (given === undefined) return NO_CALENDARS
  if (!isRecord(given)) throw invalid('calendars', given, 'an object with calendars by name', `{ holidays: ${SAMPLE} }`)
  return new Map(Object.entries(given).map(([name, days]) => [name, readDays(`calendars.${name}`, days)]))
}

/** The days as they are stored with the schedule: another process may have another calendar of the name. */
export function readCalendar(calendar: unknown, excluded: unknown, known: Calendars): CalendarData | undefined {
  if (calendar === undefined) {
    if (excluded === undefined) return undefined
    throw optionConflict('The option excluded means nothing without calendar.', 'Leave out excluded, or add calendar.')
  }
  const named = typeof calendar === 'string' ? { name: calendar, days: daysOf(calendar, known) } : calendar
  const data = isRecord(named)
    ? readFields('calendar', named, ['name', 'days', 'excluded'], `{ name: 'holidays', days: ${SAMPLE} }`)
    : { days: named }
  const { days, ...rest } = data as { readonly days?: unknown; readonly excluded?: unknown }
  if (rest.excluded !== undefined && excluded !== undefined) {
    throw optionConflict('The option excluded stands both in calendar and beside it.', 'Leave out one of them.')
  }
  const rule = excluded === undefined ? {} : { excluded }
  // What the entries and the rule are worth is for cron() to judge.
  return { ...rest, days: readDays('calendar', days), ...rule } as CalendarData
}

function daysOf(name: string, known: Calendars): string {
  const days = known.get(name)
  if (days !== undefined) return days
  const names = [...known.keys()]
  const meant = didYouMean(name, names)
  const listed = names.length === 0 ? '' : ` Known are ${names.join(', ')}.`
  const hint =
    meant === undefined
      ? `Define it: cronce({ calendars: { ${asCode(name)}: ${SAMPLE} } }), or give the days themselves: calendar: ${SAMPLE}.${listed}`
      : `Did you mean ${meant}?`
  throw optionInvalid('calendar', name, 'the name of a calendar that is defined', hint)
}

function readDays(path: string, given: unknown): string {
  if (typeof given === 'string') return given
  if (Array.isArray(given) && given.every((entry) => typeof entry === 'string')) return given.join(' ')
  throw invalid(path, given, 'a list of weekdays and dates', SAMPLE)
}
