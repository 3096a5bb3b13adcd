import { type CronFields, type CronTrigger, type EveryTrigger, stats, type TriggerStats } from 'cronce/cron'
import { formatCount, formatDuration, formatLocal, precisionFor } from './format.ts'

const DAY_MS = 86_400_000
const YEAR_DAYS = 365.2425
const LAST_INSTANT = 8.64e15

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

export function frequencyOf(trigger: CronTrigger | EveryTrigger, from: number): Frequency {
  const { to, fires, exact } = stats(trigger, { from })
  const year = { from, to, fires, exact }
  if (trigger.kind === 'every') {
    return { ...year, words: everyWords(trigger.everyMs), smallestGapMs: trigger.everyMs }
  }
  const last = trigger.prev(LAST_INSTANT)
  if (last === null || last <= from) {
    return { ...year, words: trigger.never ? 'never' : 'no more', smallestGapMs: null }
  }
  // All that are left, not just a year: 29 February on a Monday comes once in decades.
  const left = stats(trigger, { from, to: last })
  const words = trigger.fields.years === null ? cronWords(trigger) : countdownWords(trigger, left, last)
  return { ...year, words, smallestGapMs: left.smallestGapMs }
}

/** `12,345`, or `about 32 million` for an estimate, which only what is over a million needs. */
export function fireCount(fires: number, exact: boolean): string {
  if (exact) return formatCount(fires)
  const roughly = new Intl.NumberFormat('en', {
    notation: 'compact',
    compactDisplay: 'long',
    maximumSignificantDigits: 2,
  })
  return `about ${roughly.format(fires)}`
}

function everyWords(everyMs: number): string {
  return everyMs > DAY_MS ? `once in ${formatDuration(everyMs)}` : rateWords(DAY_MS / everyMs, ['day'], 'time')
}

/** Named years come to an end. */
function countdownWords({ tz }: CronTrigger, { fires, exact }: TriggerStats, last: number): string {
  const when = formatLocal(last, tz, precisionFor([last], tz))
  return fires === 1 ? `once more, ${when}` : `${fireCount(fires, exact)} times more, the last ${when}`
}

function cronWords(trigger: CronTrigger): string {
  const { fields } = trigger
  const timesPerDay = fields.seconds.length * fields.minutes.length * fields.hours.length
  // Over all the years that cron knows: leap days need more than a few, and no season may be cut off.
  const daysPerDay = stats(trigger, { from: Date.UTC(1970), to: Date.UTC(2200) }).perDay / timesPerDay
  // Short of 1 where a change of the clock takes a day's only fire away.
  if (daysPerDay > 0.99) return `${times(timesPerDay)} a day`
  const units = unitsOf(fields)
  return timesPerDay === 1
    ? rateWords(daysPerDay, units, 'time')
    : `${times(timesPerDay)} a day, ${rateWords(daysPerDay, units, 'day')}`
}

/** Half the words come from the calendar: people do not say that something on the first of the month is "0.2 times a week". */
function unitsOf({ days, weekdays, months, daysAnd }: CronFields): readonly Unit[] {
  if (months.length < 12) return ['year']
  // All days of the month, where both day fields must match, leave the choice to the weekday.
  const isAnyDay = days.open || (daysAnd && days.values.length === 31)
  return isAnyDay && weekdays.specials.length === 0 ? ['week'] : ['month', 'year']
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
  if (noun === 'time') return times(count)
  return count === 1 ? 'one day' : `${count} days`
}

function times(count: number): string {
  if (count === 1) return 'once'
  return count === 2 ? 'twice' : `${formatCount(count)} times`
}

function tenth(value: number): number {
  return Math.round(value * 10) / 10
}
