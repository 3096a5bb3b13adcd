import { type CronTrigger, cron, type EveryTrigger, stats, type Trigger } from 'cronce/cron'
import { type Fields, readFields, splitFields } from './fields.ts'
import { formatCount, formatDuration, formatLocal } from './format.ts'

const DAY_MS = 86_400_000
const YEAR_DAYS = 365.2425
/** 29 February on a given weekday can be 40 years away. */
const LONG_MS = Math.round(41 * YEAR_DAYS) * DAY_MS
const LAST_INSTANT = 8.64e15
/** Cron dates begin here; a year counted from the Middle Ages would come out empty. */
const FIRST_INSTANT = Date.UTC(1969, 11, 30)

export interface Frequency {
  /** `once a day`, `36 times a day, 5 days a week`, `about once in 4 years`. */
  readonly words: string
  readonly from: number
  readonly to: number
  /** In the 366 days between. */
  readonly fires: number
  readonly exact: boolean
  readonly smallestGapMs: number | null
}

export function frequencyOf(trigger: CronTrigger | EveryTrigger, asked: number): Frequency {
  const from = Math.max(asked, FIRST_INSTANT)
  const to = from + 366 * DAY_MS
  const year = stats(trigger, { from, to })
  const words = trigger.kind === 'cron' ? cronWords(trigger, from) : everyWords(trigger.everyMs)
  const fires = year.exact || trigger.kind === 'every' ? year.fires : estimate(trigger, from, to)
  return { words, from, to, fires, exact: year.exact, smallestGapMs: smallestGap(trigger, from, year) }
}

function smallestGap(
  trigger: CronTrigger | EveryTrigger,
  from: number,
  year: { fires: number; smallestGapMs: number | null },
) {
  if (year.fires > 60) return year.smallestGapMs
  const seen = stats(trigger, { from, to: from + LONG_MS }).smallestGapMs
  const [first, second] = trigger.nextN(from, 2)
  return seen ?? (first !== undefined && second !== undefined ? second - first : null)
}

function everyWords(everyMs: number): string {
  return everyMs > DAY_MS ? `once in ${formatDuration(everyMs)}` : rateWords(DAY_MS / everyMs, ['day'], 'time')
}

function cronWords(trigger: CronTrigger, from: number): string {
  const last = trigger.prev(LAST_INSTANT)
  if (trigger.never || last === null) return 'never'
  if (last <= from) return 'no more'
  if (last < from + LONG_MS) {
    const { fires, exact } = stats(trigger, { from, to: last })
    const left = exact ? fires : estimate(trigger, from, last)
    const when = formatLocal(last, trigger.tz, 'second')
    return left === 1
      ? `once more, ${when}`
      : `${exact ? '' : 'about '}${formatCount(left)} times more, the last ${when}`
  }
  const fields = readFields(trigger.normalized)
  const days = firingDays(trigger)
  if (fields === undefined || days === undefined) return 'unknown'
  const perDay = timesPerDay(fields)
  const rate = daysPerDay(days, from)
  if (rate > 0.999) return `${times(perDay)} a day`
  const units = unitsOf(fields)
  return perDay === 1 ? rateWords(rate, units, 'time') : `${times(perDay)} a day, ${rateWords(rate, units, 'day')}`
}

/** How much of all days it fires on. */
function daysPerDay(days: Trigger, from: number): number {
  const { fires, perDay } = stats(days, { from, to: from + LONG_MS })
  if (fires > 60) return perDay
  // With so few of them the edges of the window would show.
  const few = days.nextN(from, 60)
  const [first] = few
  const last = few.at(-1)
  return first === undefined || last === undefined || last === first
    ? perDay
    : ((few.length - 1) * DAY_MS) / (last - first)
}

/** Half the words come from the calendar: nobody says that something on the first of the month is "0.2 times a week". */
function unitsOf({ dayOfMonth, dayOfWeek, month }: Fields): readonly Unit[] {
  if (!month.full) return ['year']
  if (!dayOfMonth.open || dayOfWeek.specials.length > 0) return ['month', 'year']
  return ['week']
}

type Unit = keyof typeof UNIT_DAYS
const UNIT_DAYS = { day: 1, week: 7, month: YEAR_DAYS / 12, year: YEAR_DAYS } as const

function rateWords(perDay: number, units: readonly Unit[], noun: 'time' | 'day'): string {
  const rates = units.map((unit) => ({ unit, rate: perDay * UNIT_DAYS[unit] }))
  const whole = rates.find(({ rate }) => rate > 0.9 && Math.abs(rate - Math.round(rate)) <= 0.02)
  if (whole) return `${counted(Math.round(whole.rate), noun)} a ${whole.unit}`
  const rough = rates.find(({ rate }) => rate >= 1.5)
  if (rough) return `about ${counted(Math.round(rough.rate), noun)} a ${rough.unit}`
  const days = 1 / perDay
  const span = days < YEAR_DAYS ? `${tenth(days)} days` : `${tenth(days / YEAR_DAYS)} years`
  return noun === 'day' ? `on about one day in ${span}` : `about once in ${span}`
}

function counted(count: number, noun: 'time' | 'day'): string {
  return noun === 'time' ? times(count) : `${count === 1 ? 'one day' : `${count} days`}`
}

function times(count: number): string {
  if (count === 1) return 'once'
  return count === 2 ? 'twice' : `${formatCount(count)} times`
}

function tenth(value: number): number {
  return Math.round(value * 10) / 10
}

function timesPerDay({ second, minute, hour }: Fields): number {
  return second.values.length * minute.values.length * hour.values.length
}

/** The same days, once each, in UTC: what is left to count when the fires themselves are too many. */
function firingDays({ normalized }: CronTrigger): CronTrigger | EveryTrigger | undefined {
  const texts = splitFields(normalized)
  return texts && cron(`0 0 0 ${texts.dayOfMonth} ${texts.month} ${texts.dayOfWeek} ${texts.year}`)
}

function estimate(trigger: CronTrigger, from: number, to: number): number {
  const fields = readFields(trigger.normalized)
  const days = firingDays(trigger)
  return fields && days ? stats(days, { from, to }).fires * timesPerDay(fields) : 0
}
