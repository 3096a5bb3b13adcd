import { asCode } from './as-code.ts'
import { isRecord } from './read-option.ts'
import { spellDuration } from './spell-duration.ts'

/** Codes of warnings about options that are valid and probably not meant. Each sentence ends with its code. */
export type WarningCode =
  | 'DURATION_SUSPICIOUS'
  | 'ZONE_SUSPICIOUS'
  | 'INSTANT_SUSPICIOUS'
  | 'CRON_SUSPICIOUS'
  | 'RETENTION_RAISED'

const SECOND_MS = 1_000
/** A first back-off of 100 ms is common; less is a number of seconds. */
const SHORT_BACKOFF_MS = 100
const WEEK_S = 604_800

/** The options of a job or schedule that are durations, and the number below which a plain one is suspicious. */
const DURATIONS: readonly (readonly [path: string, belowMs: number])[] = [
  ['every', SECOND_MS],
  ['every.interval', SECOND_MS],
  ['timeout', SECOND_MS],
  ['timeout.run', SECOND_MS],
  ['timeout.grace', SECOND_MS],
  ['jitter', SECOND_MS],
  ['jitter.within', SECOND_MS],
  ['misfire.grace', SECOND_MS],
  ['misfire.window', SECOND_MS],
  ['retry.deadline', SECOND_MS],
  ['retry.backoff.base', SHORT_BACKOFF_MS],
  ['retry.backoff.cap', SECOND_MS],
]

/** Warnings about the options of a job or schedule, which are known to be valid. */
export function suspicionsOf(options: unknown): readonly string[] {
  return [
    ...DURATIONS.map(([path, belowMs]) => shortDuration(path, fieldAt(options, path), belowMs)),
    zoneSuspicion(fieldAt(options, 'tz') ?? fieldAt(options, 'cron.tz')),
    ...['at', 'start', 'end', 'every.anchor'].map((path) => epochSeconds(path, fieldAt(options, path))),
    cronSuspicion(options),
  ].filter((found) => found !== null)
}

/** Warnings about the options of an app, which are known to be valid. */
export function appSuspicions(options: unknown): readonly string[] {
  const paths = ['drain', 'lease', 'holdDown', 'retireAfter']
  return paths.map((path) => shortDuration(path, fieldAt(options, path), SECOND_MS)).filter((found) => found !== null)
}

function fieldAt(options: unknown, path: string): unknown {
  return path.split('.').reduce((value: unknown, name) => (isRecord(value) ? value[name] : undefined), options)
}

/** A plain number that looks like seconds. `'30ms'` says what it means, and is never suspicious. */
function shortDuration(path: string, value: unknown, belowMs: number): string | null {
  if (typeof value !== 'number' || value <= 0) return null
  // 1,800, 3,600, 7,200 … are round numbers of seconds and odd numbers of milliseconds.
  const isRoundInSeconds = (value === 1_800 || value % 3_600 === 0) && value % 1_000 !== 0 && value <= WEEK_S
  if (value >= belowMs && !isRoundInSeconds) return null
  const name = path.split('.').at(-1)!
  const meant = spellDuration(value * 1_000)
  return (
    `The option ${path} is ${value}, which is ${value} milliseconds. ` +
    `Write ${name}: '${meant}' if it is in seconds, or '${value}ms' if it is meant. (DURATION_SUSPICIOUS)`
  )
}

/** Abbreviations that are a fixed offset although their region has daylight saving time. */
const FIXED: Readonly<Record<string, readonly [offset: string, zone: string]>> = {
  EST: ['-05:00', 'America/New_York'],
  MST: ['-07:00', 'America/Denver'],
  HST: ['-10:00', 'Pacific/Honolulu'],
}
/** Three letters that are zones with daylight saving time of their own, or have none. */
const CLEAR = ['UTC', 'GMT', 'CET', 'EET', 'MET', 'WET', 'UCT']

/** What most people mean by an abbreviation that the zone database reads as another zone. */
const COMMON: Readonly<Record<string, string>> = {
  AST: 'America/Halifax',
  BST: 'Europe/London',
  NST: 'America/St_Johns',
  SST: 'Pacific/Pago_Pago',
}

function zoneSuspicion(tz: unknown): string | null {
  if (typeof tz !== 'string') return null
  const upper = tz.toUpperCase()
  const fixed = Object.hasOwn(FIXED, upper) ? FIXED[upper] : undefined
  if (fixed !== undefined) {
    return (
      `The option tz is ${asCode(tz)}, which is the fixed offset ${fixed[0]} without daylight saving time. ` +
      `Write tz: '${fixed[1]}', or tz: '${fixed[0]}' if the offset is meant. (ZONE_SUSPICIOUS)`
    )
  }
  const inverted = /^ETC\/GMT([+-])(\d+)$/.exec(upper)
  if (inverted !== null && inverted[2] !== '0') {
    const offset = `${inverted[1] === '+' ? '-' : '+'}${inverted[2]!.padStart(2, '0')}:00`
    return (
      `The option tz is ${asCode(tz)}, whose sign is inverted: it is the offset ${offset}. ` +
      `Write tz: '${offset}', or a zone such as 'Europe/Paris'. (ZONE_SUSPICIOUS)`
    )
  }
  if (!/^[A-Z]{3}$/.test(upper) || CLEAR.includes(upper)) return null
  const zone = new Intl.DateTimeFormat('en', { timeZone: tz }).resolvedOptions().timeZone
  const common = Object.hasOwn(COMMON, upper) ? COMMON[upper] : undefined
  if (common !== undefined) {
    return (
      `The option tz is ${asCode(tz)}, an abbreviation with several meanings: here it is ${zone}. ` +
      `Write tz: '${common}', or tz: '${zone}' if that is meant. (ZONE_SUSPICIOUS)`
    )
  }
  return (
    `The option tz is ${asCode(tz)}, an abbreviation with several meanings: here it is ${zone}. ` +
    `Write tz: '${zone}' if that is meant, or the IANA name of the zone. (ZONE_SUSPICIOUS)`
  )
}

/** 1973 in milliseconds, and far in the future in seconds. */
const EARLY_MS = 100_000_000_000

function epochSeconds(path: string, value: unknown): string | null {
  if (typeof value !== 'number' || value < 1_000_000_000 || value >= EARLY_MS) return null
  const name = path.split('.').at(-1)!
  return (
    `The option ${path} is ${value}, which is ${new Date(value).toISOString()} in epoch milliseconds. ` +
    `Write ${name}: ${value * 1_000} if it is in epoch seconds. (INSTANT_SUSPICIOUS)`
  )
}

function cronSuspicion(options: unknown): string | null {
  const cron = fieldAt(options, 'cron')
  const expression = typeof cron === 'string' ? cron : fieldAt(cron, 'expression')
  if (typeof expression !== 'string') return null
  const fields = expression.trim().split(/\s+/)
  if (fields.length < 5 || fields.length > 7) return null
  const asGiven = (name: string): unknown => fieldAt(options, name) ?? fieldAt(cron, name)
  const found = everyMinute(expression, fields) ?? everySecond(expression, fields)
  // A dialect or a rule for days that is written out says what is meant.
  if (found !== null || asGiven('dialect') !== undefined) return found
  const days = asGiven('days') === undefined ? eitherDay(expression, fields) : null
  return days ?? quartzWeekday(expression, fields) ?? unevenStep(expression, fields)
}

/** `* 3 * * *` for `0 3 * * *`. */
function everyMinute(expression: string, fields: readonly string[]): string | null {
  const [second, minute, hour] = fields.length === 5 ? ['0', ...fields] : fields
  if (minute !== '*' || second === '*' || !/^\d+$/.test(hour!)) return null
  const clock = hour!.padStart(2, '0')
  const minuteAt = fields.length === 5 ? 0 : 1
  const once = fields.map((field, index) => (index === minuteAt ? '0' : field)).join(' ')
  return (
    `The option cron is ${asCode(expression)}, which is due every minute from ${clock}:00 to ${clock}:59. ` +
    `Write ${asCode(once)} for once a day, or '0-59' as the minute if it is meant. (CRON_SUSPICIOUS)`
  )
}

/** `* * 3 * * *` and `* 0 3 * * *` for `0 0 3 * * *`. */
function everySecond(expression: string, fields: readonly string[]): string | null {
  const [second, minute, hour, ...more] = fields
  if (fields.length < 6 || second !== '*' || (minute === '*' && hour === '*')) return null
  const isHour = minute === '*' && /^\d+$/.test(hour!)
  const once = ['0', isHour ? '0' : minute, hour, ...more].join(' ')
  const clock = hour!.padStart(2, '0')
  const when = isHour ? `every second from ${clock}:00:00 to ${clock}:59:59` : '60 times in every minute that matches'
  return (
    `The option cron is ${asCode(expression)}, which is due ${when}. ` +
    `Write ${asCode(once)} for once a ${isHour ? 'day' : 'minute'}, or '0-59' as the second if it is meant. (CRON_SUSPICIOUS)`
  )
}

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

/** `0 0 12 ? * 2 2027` was written for Quartz, whose weekdays count from 1 for Sunday. */
function quartzWeekday(expression: string, fields: readonly string[]): string | null {
  const weekday = fields[5]
  if (weekday === undefined || (fields.length === 6 && !fields.includes('?'))) return null
  const number = Number(/^[1-7]/.exec(weekday)?.[0] ?? 0)
  if (number === 0) return null
  const named = weekday.replaceAll(/(?<![#/\d])[1-7](?!\d)/g, (digit) =>
    WEEKDAYS[Number(digit) - 1]!.slice(0, 3).toUpperCase(),
  )
  return (
    `The option cron is ${asCode(expression)}: ${number} is ${WEEKDAYS[number % 7]} here, and ${WEEKDAYS[number - 1]} in ` +
    `Quartz and EventBridge. Write ${named}, or dialect: 'quartz', or dialect: 'default' if it is meant. (CRON_SUSPICIOUS)`
  )
}

/** The fields in which a step is taken for an interval: how many values each has, when it starts again, its unit. */
const STEPPED = [
  ['second', 60, 'minute', 's'],
  ['minute', 60, 'hour', 'm'],
  ['hour', 24, 'day', 'h'],
] as const

/** `*\/45 * * * *` is due 45 minutes after the hour, and 15 minutes later. */
function unevenStep(expression: string, fields: readonly string[]): string | null {
  const times = fields.length === 5 ? ['0', ...fields] : fields
  for (const [at, [name, size, cycle, unit]] of STEPPED.entries()) {
    const step = Number(/^(?:\*|0)\/(\d+)$/.exec(times[at]!)?.[1] ?? 1)
    if (size % step === 0) continue
    const last = Math.floor((size - 1) / step) * step
    return (
      `The option cron is ${asCode(expression)}, whose step starts again every ${cycle}: after ${name} ${last} comes ${name} 0. ` +
      `Write every: '${step}${unit}' for a steady interval, or '0-${size - 1}/${step}' as the ${name} if it is meant. (CRON_SUSPICIOUS)`
    )
  }
  return null
}

/** `0 0 1 * MON` is due on the first of the month, and on each Monday. */
function eitherDay(expression: string, fields: readonly string[]): string | null {
  const [, , , day, , weekday] = fields.length === 5 ? ['0', ...fields] : fields
  const isOpen = (field: string): boolean => /^[*?+]/.test(field)
  if (isOpen(day!) || isOpen(weekday!)) return null
  return (
    `The option cron is ${asCode(expression)}, which is due on days ${day} of the month and also on weekdays ${weekday}. ` +
    "Write days: 'and' if both must hold, or days: 'or' if it is meant. (CRON_SUSPICIOUS)"
  )
}
