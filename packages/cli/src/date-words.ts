import { type Field, type Fields, runsOf, type Special } from './fields.ts'
import { joinWords } from './format.ts'

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const
const NTH = ['first', 'second', 'third', 'fourth', 'fifth'] as const
const MOST_VALUES_LISTED = 10

/** The days, months and years, or `''` if there is nothing to say. `everyDay`: say so when all days are meant. */
export function dateWords(fields: Fields, { everyDay }: { everyDay: boolean }): string {
  const days = dayWords(fields)
  const months = fields.month.full ? '' : `in ${monthNames(fields.month.values)}`
  const years = fields.year.full ? '' : `in ${yearWords(fields.year)}`

  // Two day fields make a clause of their own, and the months are true of both.
  const isCombined = !fields.dayOfMonth.open && !fields.dayOfWeek.open
  if (days !== '') return (isCombined ? [months, years, days] : [days, months, years]).filter(Boolean).join(', ')
  if (!everyDay) return [months, years].filter(Boolean).join(', ')
  return [`every day ${months}`.trim(), years].filter(Boolean).join(', ')
}

/** `''` for every day. */
function dayWords({ dayOfMonth, dayOfWeek, and }: Fields): string {
  if (dayOfMonth.full && dayOfWeek.full) return ''
  if (and || dayOfMonth.open || dayOfWeek.open) {
    if (dayOfMonth.full) return weekdayWords(dayOfWeek)
    if (dayOfWeek.full) return monthDayWords(dayOfMonth)
    return `${monthDayWords(dayOfMonth)}, but only if that is ${weekdayChoice(dayOfWeek)}`
  }
  // Neither is open, so one of them is enough, and a field that names every day decides alone.
  if (dayOfMonth.full || dayOfWeek.full) return ''
  return `${monthDayWords(dayOfMonth)}, and also ${weekdayWords(dayOfWeek)}`
}

function monthDayWords({ spans, values, specials }: Field): string {
  const [only] = spans
  const phrases: string[] = []
  if (spans.length === 1 && only!.step > 1 && values.length > MOST_VALUES_LISTED) {
    phrases.push(`on every ${ordinal(only!.step)} day of the month from day ${only!.from} through day ${values.at(-1)}`)
  } else if (values.length > 0) {
    phrases.push(`on ${values.length === 1 ? 'day' : 'days'} ${joinRuns(values, String)} of the month`)
  }
  phrases.push(...specials.map((special) => `on ${specialWords(special)}`))
  return joinWords(phrases)
}

function weekdayWords({ values, specials }: Field): string {
  const named = mondayFirst(values)
  const phrases: string[] = []
  if (named.length > 2 && runsOf(named).length === 1) phrases.push(joinRuns(named, weekdayName))
  else if (named.length > 0) phrases.push(`every ${joinRuns(named, weekdayName)}`)
  phrases.push(...specials.map((special) => `on ${specialWords(special)}`))
  return joinWords(phrases)
}

/** `a Monday, a Friday, or the last Sunday of the month` */
function weekdayChoice({ values, specials }: Field): string {
  const names = mondayFirst(values).map((value) => `a ${weekdayName(value)}`)
  return joinWords([...names, ...specials.map(specialWords)], 'or')
}

function specialWords(special: Special): string {
  switch (special.kind) {
    case 'last day':
      return lastDayWords(special.before, special.weekday)
    case 'nearest weekday':
      return `the weekday (Mon-Fri) nearest day ${special.day} of the month`
    case 'nth':
      return `the ${NTH[special.nth - 1]} ${weekdayName(special.weekday)} of the month`
    case 'last weekday':
      return `the last ${weekdayName(special.weekday)} of the month`
  }
}

function lastDayWords(before: number, weekday: boolean): string {
  if (before === 0) return weekday ? 'the last weekday (Mon-Fri) of the month' : 'the last day of the month'
  const day = before === 1 ? 'the second-last day of the month' : `the day ${before} days before the last of the month`
  return weekday ? `the weekday (Mon-Fri) nearest ${day}` : day
}

export function monthNames(values: readonly number[]): string {
  return joinRuns(values, (value) => MONTHS[value - 1]!)
}

function yearWords({ spans, values }: Field): string {
  const [only] = spans
  if (values.length <= MOST_VALUES_LISTED || spans.length !== 1 || only!.step === 1) return joinRuns(values, String)
  return `every ${ordinal(only!.step)} year from ${only!.from} through ${values.at(-1)}`
}

/** `1 through 7, 15, and 20`: three neighbours or more become a range. */
function joinRuns(values: readonly number[], name: (value: number) => string): string {
  return joinWords(
    runsOf(values).flatMap(([from, to]) => {
      if (from === to) return [name(from)]
      return to - from === 1 ? [name(from), name(to)] : [`${name(from)} through ${name(to)}`]
    }),
  )
}

function mondayFirst(values: readonly number[]): number[] {
  return values.map((value) => (value === 0 ? 7 : value)).sort((a, b) => a - b)
}

function weekdayName(value: number): string {
  return WEEKDAYS[value % 7]!
}

/** `2nd`, `3rd`, `11th`, `22nd` */
export function ordinal(value: number): string {
  const teen = value % 100 >= 11 && value % 100 <= 13
  const ending = teen ? undefined : { 1: 'st', 2: 'nd', 3: 'rd' }[value % 10]
  return `${value}${ending ?? 'th'}`
}
