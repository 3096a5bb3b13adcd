import { didYouMean } from '../did-you-mean.ts'
import { DURATION_EXPECTED, parseDuration } from '../duration.ts'
import { isBlank } from './cron-cursor.ts'
import { CronError } from './cron-error.ts'
import { MACROS } from './cron-fields.ts'
import { clip, pointAt, quote } from './cron-hints.ts'
import { DEFAULTS, type ResolvedCronOptions } from './cron-options.ts'
import { type ParsedCron, parseCron } from './cron-parse.ts'
import { CompiledCron } from './cron-trigger.ts'
import { every } from './every.ts'
import type { CronTrigger, EveryTrigger } from './trigger.ts'
import { withCalendar } from './with-calendar.ts'
import { type Zone, zoneOf } from './zone.ts'

export type Cron = CronTrigger | EveryTrigger

/** Room for every value of every field spelled out. */
const LENGTH_LIMIT = 2_048

/** The part of an expression that is still to be read. */
interface Rest {
  readonly text: string
  readonly start: number
  readonly end: number
}

const AT_SIGN = 64

/** The trigger of an expression, whatever has been made of it before. */
export function compile(expression: string, options: ResolvedCronOptions): Cron {
  if (expression.length > LENGTH_LIMIT) throw tooLong(expression)
  let rest = trim({ text: expression, start: 0, end: expression.length })
  const zoneAt = zonePrefixEnd(rest)
  let zone: Zone
  if (zoneAt === 0) {
    zone = zoneOf(options.tz, { expression: options.tz, position: 0 })
  } else {
    if (!options.dialect.zonePrefix) throw refusedZone(rest, zoneAt, options.dialect.name)
    const end = blankFrom(rest, zoneAt)
    zone = zoneOf(expression.slice(zoneAt, end), { expression, position: zoneAt })
    rest = trim({ text: expression, start: end, end: rest.end })
  }
  if (rest.start === rest.end) throw empty(expression)
  if (expression.charCodeAt(rest.start) === AT_SIGN) return compileMacro(rest, options, zone)

  if (options.dialect.name === 'eventbridge') {
    const wrapped = /^(cron|rate)\((.*?)(\)?)$/.exec(expression.slice(rest.start, rest.end))
    if (wrapped?.[3] === '') throw unclosed(rest)
    if (wrapped?.[1] === 'rate') return compileRate(rest, wrapped[2]!, options)
    if (wrapped !== null) rest = { text: expression, start: rest.start + 'cron('.length, end: rest.end - 1 }
  }
  const { dialect, wrap, days, seed } = options
  const set = parseCron({ text: expression, start: rest.start, end: rest.end, dialect, wrap, days, seed })
  return build(expression, set, options, zone)
}

function build(expression: string, set: ParsedCron, options: ResolvedCronOptions, zone: Zone): CronTrigger {
  const { isInterval } = set
  const gap = options.gap === 'auto' ? (isInterval ? 'skip' : 'after') : options.gap
  const overlap = options.overlap === 'auto' ? (isInterval ? 'both' : 'first') : options.overlap
  const input = { expression, zone, set, isInterval, gap, overlap, options: options.given }
  return options.calendar === null ? new CompiledCron(input) : withCalendar(input, options.calendar)
}

/** `@reboot` has no instants: no month ever matches. */
const REBOOT: ParsedCron = {
  secondsLow: 0,
  secondsHigh: 0,
  minutesLow: 0,
  minutesHigh: 0,
  hours: 0,
  days: 0,
  rules: 0,
  rare: null,
  isInterval: false,
}

function compileMacro(rest: Rest, options: ResolvedCronOptions, zone: Zone): Cron {
  const { text, start } = rest
  const end = blankFrom(rest, start)
  const written = text.slice(start, end)
  const name = options.dialect.caseSensitive ? written : written.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
  const { macros } = options.dialect
  if (macros === 'none' || (name === '@every' && macros === 'plain'))
    throw refusedMacro(rest, end, options.dialect.name)
  if (name === '@every') return compileEvery(trim({ ...rest, start: end }), options)
  if (end !== rest.end) throw unknownMacro(rest)
  if (name === '@reboot') return build(text, REBOOT, options, zone)
  const fields = MACROS[name]
  if (fields === undefined) throw unknownMacro(rest)
  // A macro means the same in every dialect, so the default one reads what it stands for.
  const { dialect, wrap, days, seed } = DEFAULTS
  const set = parseCron({ text: fields, start: 0, end: fields.length, dialect, wrap, days, seed })
  return build(text, set, options, zone)
}

function compileEvery(rest: Rest, { calendar }: ResolvedCronOptions): EveryTrigger {
  if (calendar !== null) throw noDays(rest)
  const everyMs = parseDuration(rest.text.slice(rest.start, rest.end))
  if (everyMs === null) throw badDuration(rest, 'Write @every 90m or @every 1h30m.')
  return every(everyMs)
}

/** EventBridge: `rate(5 minutes)` counts elapsed time. */
function compileRate(rest: Rest, written: string, { calendar }: ResolvedCronOptions): EveryTrigger {
  if (calendar !== null) throw noDays(rest)
  const match = /^[ \t]*(\d+)[ \t]+(minute|hour|day)s?[ \t]*$/.exec(written)
  const everyMs = match === null ? null : parseDuration(`${match[1]}${match[2]![0]}`)
  if (everyMs === null) throw badDuration(rest, 'Write rate(5 minutes), rate(1 hour) or rate(7 days).')
  return every(everyMs)
}

/** Where the zone's name begins behind a leading `CRON_TZ=` or `TZ=`, or 0. */
function zonePrefixEnd(rest: Rest): number {
  const { text, start } = rest
  if (text.startsWith('CRON_TZ=', start)) return start + 'CRON_TZ='.length
  return text.startsWith('TZ=', start) ? start + 'TZ='.length : 0
}

function trim(rest: Rest): Rest {
  const { text } = rest
  let { start, end } = rest
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (start < end && isBlank(text.charCodeAt(end - 1))) end--
  return { text, start, end }
}

function blankFrom(rest: Rest, from: number): number {
  let at = from
  while (at < rest.end && !isBlank(rest.text.charCodeAt(at))) at++
  return at
}

function noDays({ text: expression, start: position, end }: Rest): CronError {
  const message = 'An interval has no days that a calendar could close.'
  const hint = 'Write a cron expression such as 0 */2 * * *, or leave out calendar.'
  return new CronError('OPTION_INVALID', message, { expression, position, length: end - position, hint })
}

function tooLong(expression: string): CronError {
  const { length } = expression
  return new CronError('EXPRESSION_TOO_LONG', `An expression has at most ${LENGTH_LIMIT} characters, not ${length}.`, {
    expression,
    position: LENGTH_LIMIT,
    length: length - LENGTH_LIMIT,
    expected: `at most ${LENGTH_LIMIT} characters`,
    hint: 'Use ranges and steps instead of long lists.',
  })
}

function empty(expression: string): CronError {
  const expected = 'minute hour day month weekday'
  const hint = 'Write 0 3 * * * for every night at three.'
  return new CronError('EXPRESSION_EMPTY', 'The expression is empty.', { ...pointAt(expression), expected, hint })
}

function refusedZone(rest: Rest, end: number, dialect: string): CronError {
  return refused(rest, end, dialect, 'Use the option tz.')
}

function refusedMacro(rest: Rest, end: number, dialect: string): CronError {
  return refused(rest, end, dialect, 'Write the fields it stands for, or use the default dialect.')
}

/** What stands from the start of the rest to `end` is not part of the dialect. */
function refused(rest: Rest, end: number, dialect: string, hint: string): CronError {
  const { text: expression, start: position } = rest
  const message = `${clip(expression.slice(position, end))} is not part of the ${dialect} dialect.`
  const length = end - position
  return new CronError('SYNTAX_UNSUPPORTED', message, { expression, position, length, expected: 'fields', hint })
}

function unclosed(rest: Rest): CronError {
  const { text: expression, end: position } = rest
  const message = `The bracket is not closed, in ${quote(expression)}.`
  const hint = 'Write cron(0 10 * * ? *) or rate(5 minutes).'
  return new CronError('VALUE_MISSING', message, { expression, position, length: 1, expected: ')', hint })
}

function badDuration(rest: Rest, hint: string): CronError {
  const { text: expression, start: position, end } = rest
  const message = `${quote(expression.slice(position, end))} is not a duration.`
  const length = Math.max(1, end - position)
  return new CronError('DURATION_INVALID', message, { expression, position, length, expected: DURATION_EXPECTED, hint })
}

function unknownMacro(rest: Rest): CronError {
  const { text: expression, start: position, end } = rest
  const names = [...Object.keys(MACROS), '@reboot', '@every']
  const written = expression.slice(position, end)
  const [word = written] = written.split(/[ \t]/)
  const meant = names.find((name) => written.startsWith(name)) ?? didYouMean(word, names)
  return new CronError('MACRO_UNKNOWN', `There is no macro ${quote(written)}.`, {
    expression,
    position,
    length: end - position,
    expected: names.join(', '),
    hint: meant === undefined ? 'Write five fields, or one of the macros.' : `Did you mean ${meant}?`,
  })
}
