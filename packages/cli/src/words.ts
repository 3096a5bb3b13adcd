import type { CronFields } from 'cronce/cron'
import { toString as cronstrue } from 'cronstrue'
import { dateWords } from './date-words.ts'
import { joinWords } from './format.ts'
import { runsOf, strideOf } from './values.ts'

/**
 * What an expression says, in one English sentence.
 *
 * cronstrue words the time of day and we word the date. It is never handed an expression as written: it calls `*` + `/7`
 * "every 7 minutes" although the last gap is 4, forgets items of a list (`1,L-2`), reads two restricted day fields as
 * AND or OR depending on what is in them, and refuses `+`, `5#L` and `L-3W`. So each time field is rewritten from the
 * values it names into a shape of which cronstrue's words are true.
 */
export function words(fields: CronFields): string {
  return [timeWords(fields), dateWords(fields)].filter(Boolean).join(', ')
}

/** As many times of day as a reader takes in at a glance. */
const MOST_TIMES_LISTED = 6
const MOST_HOURS_LISTED = 12
const MOST_VALUES_LISTED = 10

function timeWords({ seconds, minutes, hours }: CronFields): string {
  const count = seconds.length * minutes.length * hours.length
  if (count <= MOST_TIMES_LISTED) return `At ${joinWords(timesOfDay(seconds, minutes, hours))}`

  // "At 02:00, 05:00, ..." and "Every hour, between 09:00 and 17:00" are only right for a whole minute.
  const isOnceAnHour = seconds.length === 1 && seconds[0] === 0 && minutes.length === 1
  if (isOnceAnHour && isSayable(hours)) return onceAnHourWords(minutes[0]!, hours)

  const withinHour = say(timeShape(seconds, 60, MOST_VALUES_LISTED), timeShape(minutes, 60, MOST_VALUES_LISTED), '*')
  return hours.length === 24 ? withinHour : `${withinHour}, ${hourWords(hours)}`
}

function isSayable(hours: readonly number[]): boolean {
  return hours.length <= MOST_HOURS_LISTED || isRange(hours) || evenStep(hours, 24) !== undefined
}

function onceAnHourWords(minute: number, hours: readonly number[]): string {
  const said = say('0', String(minute), timeShape(hours, 24, MOST_HOURS_LISTED))
  // cronstrue does not say where a step from midnight starts, nor that "every hour" is at its beginning.
  if (minute === 0 && hours.length === 24) return `${said}, on the hour`
  return hours[0] === 0 && evenStep(hours, 24) !== undefined ? `${said}, starting at 00:00` : said
}

function say(second: string, minute: string, hour: string): string {
  return cronstrue(`${second} ${minute} ${hour} * * *`, { use24HourTimeFormat: true })
}

function timesOfDay(seconds: readonly number[], minutes: readonly number[], hours: readonly number[]): string[] {
  const withSeconds = seconds.length > 1 || seconds[0] !== 0
  return hours.flatMap((h) =>
    minutes.flatMap((m) => seconds.map((s) => (withSeconds ? `${pad(h)}:${pad(m)}:${pad(s)}` : `${pad(h)}:${pad(m)}`))),
  )
}

/** The field again, written so that cronstrue's words for it are true. It depends on the values alone. */
function timeShape(values: readonly number[], size: number, mostListed: number): string {
  if (values.length === size) return '*'
  if (values.length === 1) return String(values[0])
  const step = evenStep(values, size)
  if (step !== undefined) return values[0] === 0 ? `*/${step}` : `${values[0]}/${step}`
  if (isRange(values)) return `${values[0]}-${values.at(-1)}`
  if (values.length <= mostListed) return values.join(',')
  const stride = strideOf(values)
  if (stride !== undefined) return `${values[0]}-${values.at(-1)}/${stride}`
  return runsOf(values)
    .map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`))
    .join(',')
}

function hourWords(values: readonly number[]): string {
  const runs = runsOf(values)
  if (runs.length > 3) return `during hours ${joinWords(values.map(String))}`
  return joinWords(runs.map(([from, to]) => `between ${pad(from)}:00 and ${pad(to)}:59`))
}

/** The step, if the values are evenly spaced all the way around the clock, so that "every n" is true. */
function evenStep(values: readonly number[], size: number): number | undefined {
  const stride = strideOf(values)
  return stride !== undefined && stride > 1 && stride * values.length === size ? stride : undefined
}

function isRange(values: readonly number[]): boolean {
  return values.length > 2 && strideOf(values) === 1
}

function pad(value: number): string {
  return String(value).padStart(2, '0')
}
