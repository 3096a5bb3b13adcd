import { toString as cronstrue } from 'cronstrue'
import { dateWords } from './date-words.ts'
import { type Field, type Fields, readFields, runsOf } from './fields.ts'
import { joinWords } from './format.ts'

/**
 * What a normalised expression says, in one English sentence, or `undefined` for an expression we cannot put in words.
 *
 * cronstrue words the time of day and we word the date. It is never handed an expression as written: it calls `*` + `/7`
 * "every 7 minutes" although the last gap is 4, forgets items of a list (`1,L-2`), reads two restricted day fields as
 * AND or OR depending on what is in them, and refuses `+`, `5#L` and `L-3W`. So each time field is rewritten from the
 * values it names into a shape of which cronstrue's words are true.
 */
export function words(normalized: string): string | undefined {
  const fields = readFields(normalized)
  if (fields === undefined) return undefined
  const time = timeWords(fields)
  if (time === undefined) return undefined
  const date = dateWords(fields, { everyDay: !fields.hour.full })
  return date === '' ? time : `${time}, ${date}`
}

/** As many times of day as a reader takes in at a glance. */
const MOST_TIMES_LISTED = 6
const MOST_HOURS_LISTED = 12
const MOST_VALUES_LISTED = 10

function timeWords({ second, minute, hour }: Fields): string | undefined {
  const count = second.values.length * minute.values.length * hour.values.length
  if (count <= MOST_TIMES_LISTED) return `At ${joinWords(timesOfDay(second, minute, hour))}`

  // "At 02:00, 05:00, ..." and "Every hour, between 09:00 and 17:00" are only right for a whole minute.
  const onceAnHour = second.values.length === 1 && second.values[0] === 0 && minute.values.length === 1
  if (onceAnHour && isSayableHour(hour)) return onceAnHourWords(minute.values[0]!, hour)

  const withinHour = say(timeShape(second, 60, MOST_VALUES_LISTED), timeShape(minute, 60, MOST_VALUES_LISTED), '*')
  if (withinHour === undefined || hour.full) return withinHour
  return `${withinHour}, ${hourWords(hour.values)}`
}

function isSayableHour({ values }: Field): boolean {
  return values.length <= MOST_HOURS_LISTED || isRange(values) || evenStep(values, 24) !== undefined
}

function onceAnHourWords(minute: number, hour: Field): string | undefined {
  const said = say('0', String(minute), timeShape(hour, 24, MOST_HOURS_LISTED))
  // cronstrue does not say where a step from midnight starts, nor that "every hour" is at its beginning.
  if (said !== undefined && minute === 0 && hour.full) return `${said}, on the hour`
  const startsAtMidnight = hour.values[0] === 0 && evenStep(hour.values, 24) !== undefined
  return said !== undefined && startsAtMidnight ? `${said}, starting at 00:00` : said
}

function say(second: string, minute: string, hour: string): string | undefined {
  try {
    return cronstrue(`${second} ${minute} ${hour} * * *`, {
      use24HourTimeFormat: true,
      throwExceptionOnParseError: true,
    })
  } catch {
    return undefined
  }
}

function timesOfDay(second: Field, minute: Field, hour: Field): string[] {
  const withSeconds = second.values.length > 1 || second.values[0] !== 0
  return hour.values.flatMap((h) =>
    minute.values.flatMap((m) =>
      second.values.map((s) => (withSeconds ? `${pad(h)}:${pad(m)}:${pad(s)}` : `${pad(h)}:${pad(m)}`)),
    ),
  )
}

/** The field again, written so that cronstrue's words for it are true. It depends on the values alone. */
function timeShape({ values, full }: Field, size: number, mostListed: number): string {
  if (full) return '*'
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

/** The step, if the values are evenly spaced all the way around the clock, so that "every n" is no lie. */
function evenStep(values: readonly number[], size: number): number | undefined {
  const stride = strideOf(values)
  return stride !== undefined && stride > 1 && stride * values.length === size ? stride : undefined
}

function strideOf(values: readonly number[]): number | undefined {
  const stride = values.length > 1 ? values[1]! - values[0]! : undefined
  const steady = values.every((value, index) => index === 0 || value - values[index - 1]! === stride)
  return steady ? stride : undefined
}

function isRange(values: readonly number[]): boolean {
  return values.length > 2 && strideOf(values) === 1
}

function pad(value: number): string {
  return String(value).padStart(2, '0')
}
