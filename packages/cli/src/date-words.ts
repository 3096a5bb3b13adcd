import type { CronFields, DayField, SpecialDay } from 'cronce/cron'
import { joinWords } from './format.ts'
import { runsOf, strideOf } from './values.ts'

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

/** The days, months and years, or `''` if there is nothing to say. */
export function dateWords(fields: CronFields): string {
  const { hours, days, months, weekdays, years } = fields
  const monthPart = months.length === 12 ? '' : `in ${monthNames(months)}`
  const yearPart = years === null ? '' : `in ${yearNames(years)}`
  const dayPart = dayWords(fields)

  // "Every minute" and the like need no "every day" behind them.
  if (dayPart === '') return phrases(hours.length === 24 ? monthPart : `every day ${monthPart}`.trim(), yearPart)
  // Two day fields make a clause of their own, and the months are true of both.
  const isCombined = !days.open && !weekdays.open
  return isCombined ? phrases(monthPart, yearPart, dayPart) : phrases(dayPart, monthPart, yearPart)
}

function phrases(...parts: readonly string[]): string {
  return parts.filter(Boolean).join(', ')
}

/** `''` for every day. */
function dayWords({ days, weekdays, daysAnd }: CronFields): string {
  const isAnyDay = days.values.length === 31
  const isAnyWeekday = weekdays.values.length === 7
  if (isAnyDay && isAnyWeekday) return ''
  if (daysAnd || days.open || weekdays.open) {
    if (isAnyDay) return weekdayWords(weekdays)
    if (isAnyWeekday) return monthDayWords(days)
    return `${monthDayWords(days)}, but only if that is ${weekdayChoice(weekdays)}`
  }
  // Neither is open, so one of them is enough, and a field that names every day decides alone.
  if (isAnyDay || isAnyWeekday) return ''
  return `${monthDayWords(days)}, and also ${weekdayWords(weekdays)}`
}

function monthDayWords({ values, specials }: DayField): string {
  const step = longStep(values)
  const named =
    step === undefined
      ? `on ${values.length === 1 ? 'day' : 'days'} ${joinRuns(values, String)} of the month`
      : `on every ${ordinal(step)} day of the month from day ${values[0]} through day ${values.at(-1)}`
  return joinWords([...(values.length === 0 ? [] : [named]), ...onSpecials(specials)])
}

function weekdayWords({ values, specials }: DayField): string {
  const named = mondayFirst(values)
  const isRange = named.length > 2 && runsOf(named).length === 1
  const names = `${isRange ? '' : 'every '}${joinRuns(named, weekdayName)}`
  return joinWords([...(named.length === 0 ? [] : [names]), ...onSpecials(specials)])
}

/** `a Monday, a Friday, or the last Sunday of the month` */
function weekdayChoice({ values, specials }: DayField): string {
  const names = mondayFirst(values).map((value) => `a ${weekdayName(value)}`)
  return joinWords([...names, ...specials.map(specialWords)], 'or')
}

function onSpecials(specials: readonly SpecialDay[]): string[] {
  return specials.map((special) => `on ${specialWords(special)}`)
}

function specialWords(special: SpecialDay): string {
  switch (special.kind) {
    case 'last':
      return lastDayWords(special.before)
    case 'nearest':
      return `the weekday (Mon-Fri) nearest day ${special.day} of the month`
    case 'lastNearest':
      return special.before === 0
        ? 'the last weekday (Mon-Fri) of the month'
        : `the weekday (Mon-Fri) nearest ${lastDayWords(special.before)}`
    case 'nthWeekday':
      return `the ${NTH[special.nth - 1]} ${weekdayName(special.weekday)} of the month`
    case 'lastWeekday':
      return `the last ${weekdayName(special.weekday)} of the month`
  }
}

function lastDayWords(before: number): string {
  if (before === 0) return 'the last day of the month'
  return before === 1 ? 'the second-last day of the month' : `the day ${before} days before the last of the month`
}

export function monthNames(values: readonly number[]): string {
  return joinRuns(values, (value) => MONTHS[value - 1]!)
}

function yearNames(values: readonly number[]): string {
  const step = longStep(values)
  if (step === undefined) return joinRuns(values, String)
  return `every ${ordinal(step)} year from ${values[0]} through ${values.at(-1)}`
}

/** The step between values that are too many to list. */
function longStep(values: readonly number[]): number | undefined {
  const stride = strideOf(values)
  return values.length > MOST_VALUES_LISTED && stride !== 1 ? stride : undefined
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

export function weekdayName(value: number): string {
  return WEEKDAYS[value % 7]!
}

/** `2nd`, `3rd`, `11th`, `22nd` */
function ordinal(value: number): string {
  const teen = value % 100 >= 11 && value % 100 <= 13
  const ending = teen ? undefined : { 1: 'st', 2: 'nd', 3: 'rd' }[value % 10]
  return `${value}${ending ?? 'th'}`
}
