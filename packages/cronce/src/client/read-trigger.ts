import { parseDuration } from '../duration.ts'
import { CronceError } from '../errors.ts'
import { cron } from '../trigger/cron.ts'
import { every } from '../trigger/every.ts'
import type { CronOptions, TriggerData } from '../trigger/trigger.ts'
import { asCode } from './as-code.ts'
import { cronOfWords } from './cron-words.ts'
import { durationMeant } from './duration-meant.ts'
import { type Calendars, readCalendar } from './read-calendar.ts'
import {
  invalid,
  isRecord,
  optionConflict,
  optionInvalid,
  readDuration,
  readFields,
  readInstant,
  YEAR_MS,
} from './read-option.ts'
import type { TriggerOptions } from './schedule-options.ts'

const CRON_ONLY = [
  'tz',
  'dst',
  'dialect',
  'days',
  'seed',
  'calendar',
  'excluded',
] as const satisfies readonly (keyof TriggerOptions)[]
const TRIGGERS = ['cron', 'every', 'at'] as const satisfies readonly (keyof TriggerOptions)[]

export const TRIGGER_NAMES = [...TRIGGERS, ...CRON_ONLY] as const

type Fields = Readonly<Partial<Record<keyof TriggerOptions, unknown>>>

/** When it is due, as data; `null`: only when triggered. */
export function readTrigger(name: string, fields: Fields, calendars: Calendars): TriggerData | null {
  const [kind, ...others] = TRIGGERS.filter((trigger) => fields[trigger] !== undefined)
  if (others.length > 0) {
    throw optionConflict(
      `A schedule has one trigger, and this one has ${[kind, ...others].join(' and ')}.`,
      'Make a schedule for each.',
    )
  }
  const cronOnly = CRON_ONLY.find((option) => fields[option] !== undefined)
  if (kind !== 'cron' && cronOnly !== undefined) {
    throw optionConflict(`The option ${cronOnly} means nothing without cron.`, `Leave out ${cronOnly}, or add cron.`)
  }
  switch (kind) {
    case 'cron':
      return readCron(name, fields, calendars)
    case 'every':
      return readEvery(fields.every)
    case 'at':
      return { kind: 'at', at: readInstant('at', fields.at) }
  }
  return null
}

/** Refuses a trigger whose value is undefined, such as an unset variable: the job would never run. */
export function demandTrigger(options: Readonly<Record<string, unknown>>): void {
  if (TRIGGERS.some((trigger) => options[trigger] !== undefined)) return
  const unset = TRIGGERS.find((trigger) => trigger in options)
  if (unset !== undefined) throw unsetTrigger(unset, `leave out ${unset} if it runs only when triggered`)
}

export function unsetTrigger(option: string, otherwise: string): CronceError {
  return new CronceError('OPTION_INVALID', `The option ${option} is undefined.`, {
    hint: `Check the variable that it comes from, or ${otherwise}.`,
  })
}

function readCron(name: string, fields: Fields, calendars: Calendars): TriggerData {
  const { expression, options } = readCronSpec(fields, calendars)
  const trigger = parse(name, expression, options)
  if (!trigger.never) return trigger.toJSON()
  const hint =
    trigger.kind === 'cron' && trigger.timing === 'event'
      ? 'Do it where the application starts, or leave out cron and trigger the schedule there.'
      : neverHint(trigger)
  throw optionInvalid('cron', expression, 'an expression that fires at some time', hint)
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ')
const LONGEST = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Names the date that does not come, where the day and the month are the reason. */
function neverHint(trigger: ReturnType<typeof cron>): string {
  const { days, months } = trigger.kind === 'cron' ? trigger.fields : { days: undefined, months: [] }
  const day = days?.values[0]
  const isLate = day !== undefined && months.every((month) => day > LONGEST[month - 1]!)
  return isLate && months.length > 0
    ? `Look at the day and the month: ${day} ${MONTHS[months[0]! - 1]} does not come.`
    : 'Look at the day, the month and the year: no time from 1970 to 2199 satisfies all of them.'
}

/** The seed is stored only where `H` needs it: expressions without one are shared by all schedules that use them. */
function parse(name: string, expression: string, options: CronOptions): ReturnType<typeof cron> {
  try {
    return cron(expression, options)
  } catch (error) {
    if (!(error instanceof CronceError)) throw error
    if (error.code === 'SEED_MISSING') return cron(expression, { ...options, seed: name })
    // An interval is one, and only its calendar is refused.
    if (options.calendar !== undefined && /^\s*@every\b/i.test(expression)) throw error
    const hint = otherTrigger(expression) ?? inWords(expression, options)
    throw hint === null ? error : optionInvalid('cron', expression, 'a cron expression', hint, error)
  }
}

/** What is not an expression may be another trigger. */
function otherTrigger(text: string): string | null {
  if (text.length > 64) return null
  if (/^(annually|yearly|monthly|weekly|daily|hourly|midnight)$/i.test(text))
    return `Write cron: '@${text.toLowerCase()}'.`
  const eventBridge = /^cron\((.*)\)$/.exec(text)?.[1] ?? (/^\S+ \S+ \? \S+ \S+ \S+$/.test(text) ? text : undefined)
  if (eventBridge !== undefined) return `Write cron: ${asCode(eventBridge)}, dialect: 'eventbridge'.`
  if (parseDuration(text) !== null) return `Write { every: ${asCode(text)} }.`
  if (!Number.isNaN(Date.parse(text)) && /^\d{4}-/.test(text))
    return `Write { at: ${asCode(text)} }, with Z or an offset.`
  const rate = /^(?:rate\()?\s*(?:@?every\s+)?(\d+\s*(?![ap]m\b)[a-z]+(?:\s*\d+\s*[a-z]+)?)\s*\)?$/i.exec(text)?.[1]
  const every = rate === undefined ? null : durationMeant('every', rate, { min: FASTEST_MS, max: 100 * YEAR_MS })
  if (every !== null) return every.replace(/^Write (.*)\.$/, 'Write { $1 }.')
  return null
}

/** `daily at 3am`, if the dialect can say it. */
function inWords(text: string, options: CronOptions): string | null {
  const meant = text.length > 64 ? null : cronOfWords(text)
  if (meant === null) return null
  try {
    cron(meant, options)
    return `Write cron: '${meant}'.`
  } catch {
    return null
  }
}

function readCronSpec(
  fields: Fields,
  calendars: Calendars,
): { readonly expression: string; readonly options: CronOptions } {
  const given = fields.cron
  // Their values are for cron() to judge, which says what is wrong and where.
  const beside = Object.fromEntries(
    CRON_ONLY.filter((option) => fields[option] !== undefined).map((option) => [option, fields[option]]),
  )
  if (typeof given === 'string') return { expression: given, options: withCalendar(beside, calendars) }
  const sample = "{ expression: '0 3 * * *', tz: 'Europe/London' }"
  if (!isRecord(given)) {
    if (Array.isArray(given)) throw optionInvalid('cron', given, 'one expression', SEVERAL)
    if (typeof given !== 'number') throw invalid('cron', given, 'an expression, or an object with one', "'0 3 * * *'")
    // No interval is shorter than 10 ms.
    const interval =
      given < 10 ? `every: '${given}s' for an interval in` : `every: '${given}ms' for an interval in milli`
    throw optionInvalid('cron', given, 'an expression', `Write ${interval}${given < 10 ? ' ' : ''}seconds.`)
  }
  const names = ['expression', ...CRON_ONLY, 'gap', 'overlap', 'wrap'] as const
  const { expression, ...within } = readFields('cron', given, names, sample)
  if (typeof expression !== 'string') throw invalid('cron.expression', expression, 'an expression', "'0 3 * * *'")
  const twice = CRON_ONLY.find((option) => option in beside && option in within)
  if (twice === undefined) return { expression, options: withCalendar({ ...beside, ...within }, calendars) }
  throw optionConflict(`The option ${twice} stands both in cron and beside it.`, 'Leave out one of them.')
}

function withCalendar(
  { calendar: given, excluded, ...options }: { readonly calendar?: unknown; readonly excluded?: unknown },
  calendars: Calendars,
): CronOptions {
  const calendar = readCalendar(given, excluded, calendars)
  return calendar === undefined ? options : { ...options, calendar }
}

const SEVERAL =
  'Make a job for each expression, or a second schedule for the job: ' +
  "app.schedules.create('evening', { job: 'report', cron: '0 18 * * *' })."

/** Faster than this, the record of the fires would be all that the fleet does. */
const FASTEST_MS = 10

function readEvery(value: unknown): TriggerData {
  const isSpec = isRecord(value)
  const { interval, anchor } = isSpec
    ? readFields('every', value, ['interval', 'anchor'], "{ interval: '15m', anchor: '2027-01-01T00:05:00Z' }")
    : { interval: value, anchor: undefined }
  const everyMs = readDuration(isSpec ? 'every.interval' : 'every', interval, { min: FASTEST_MS, max: 100 * YEAR_MS })
  return every(everyMs, anchor === undefined ? {} : { anchor: readInstant('every.anchor', anchor) }).toJSON()
}
