import { didYouMean } from '../did-you-mean.ts'
import { DURATION_EXPECTED, parseDuration } from '../duration.ts'
import { isBlank } from './cron-cursor.ts'
import { CronError } from './cron-error.ts'
import { MACROS } from './cron-fields.ts'
import { DEFAULTS, hasOnlyZone, keyOf, type ResolvedCronOptions, resolveCronOptions } from './cron-options.ts'
import { type ParsedCron, parseCron } from './cron-parse.ts'
import { CompiledCron } from './cron-trigger.ts'
import { every } from './every.ts'
import { Recent } from './recent.ts'
import type { CronOptions, CronTrigger, EveryTrigger } from './trigger.ts'
import { ZONE_LIMIT, type Zone, zoneOf } from './zone.ts'

/** Room for every value of every field spelled out. */
const LENGTH_LIMIT = 2_048

/** How many different expressions are remembered, for each zone. */
const SHARED_LIMIT = 8_192

type Cron = CronTrigger | EveryTrigger

/** Expressions with no option but the zone: what nearly everybody writes. */
interface ZoneGroup {
  readonly options: ResolvedCronOptions
  readonly recent: Recent<Cron>
}

// Schedules are many and expressions few: equal ones share one trigger, which never changes.
const utc: ZoneGroup = { options: DEFAULTS, recent: new Recent(SHARED_LIMIT) }
const groups = new Recent<ZoneGroup>(ZONE_LIMIT)
const others = new Recent<Cron>(SHARED_LIMIT)

/** Parse a cron expression. Throws a CronError that says what is wrong, where, and what to write instead. */
export function cron(expression: string, options?: CronOptions): Cron {
  if (typeof expression !== 'string') throw notText(expression)
  if (options === undefined) return shared(utc, expression)
  if (hasOnlyZone(options)) return shared(groups.get(options.tz) ?? addGroup(options.tz), expression)
  const key = keyOf(expression, options)
  if (key === undefined) return compile(expression, resolveCronOptions(options))
  return others.get(key) ?? others.add(key, compile(expression, resolveCronOptions(options)))
}

function shared({ options, recent }: ZoneGroup, expression: string): Cron {
  return recent.get(expression) ?? recent.add(expression, compile(expression, options))
}

function addGroup(tz: string): ZoneGroup {
  // First, so that a name that is no zone leaves no trace.
  zoneOf(tz, { expression: tz, position: 0 })
  return groups.add(tz, { options: { ...DEFAULTS, tz }, recent: new Recent(SHARED_LIMIT) })
}

/** The part of an expression that is still to be read. */
interface Rest {
  readonly text: string
  readonly start: number
  readonly end: number
}

const AT_SIGN = 64

function compile(expression: string, options: ResolvedCronOptions): Cron {
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
    if (wrapped?.[1] === 'rate') return compileRate(rest, wrapped[2]!)
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
  return new CompiledCron({ expression, zone, set, isInterval, gap, overlap, options: options.given })
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
  if (name === '@every') return compileEvery(trim({ ...rest, start: end }))
  if (end !== rest.end) throw unknownMacro(rest)
  if (name === '@reboot') return build(text, REBOOT, options, zone)
  const fields = MACROS[name]
  if (fields === undefined) throw unknownMacro(rest)
  // A macro means the same in every dialect, so the default one reads what it stands for.
  const { dialect, wrap, days, seed } = DEFAULTS
  const set = parseCron({ text: fields, start: 0, end: fields.length, dialect, wrap, days, seed })
  return build(text, set, options, zone)
}

function compileEvery(rest: Rest): EveryTrigger {
  const everyMs = parseDuration(rest.text.slice(rest.start, rest.end))
  if (everyMs === null) throw badDuration(rest, 'Write @every 90m or @every 1h30m.')
  return every(everyMs)
}

/** EventBridge: `rate(5 minutes)` counts elapsed time. */
function compileRate(rest: Rest, written: string): EveryTrigger {
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

function notText(expression: unknown): CronError {
  const shown = expression === null ? 'null' : typeof expression
  return new CronError('EXPRESSION_INVALID', `A cron expression is a text, not ${shown}.`, {
    expression: '',
    position: 0,
    length: 0,
    expected: 'a text such as 0 3 * * *',
    hint: 'Is the configuration that it comes from loaded?',
  })
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
  return new CronError('EXPRESSION_EMPTY', 'The expression is empty.', {
    expression,
    position: 0,
    length: Math.max(1, expression.length),
    expected: 'minute hour day month weekday',
    hint: 'Write 0 3 * * * for every night at three.',
  })
}

function refusedZone(rest: Rest, end: number, dialect: string): CronError {
  const { text: expression, start } = rest
  const prefix = expression.slice(start, end)
  return new CronError('SYNTAX_UNSUPPORTED', `${prefix} is not part of the ${dialect} dialect.`, {
    expression,
    position: start,
    length: prefix.length,
    expected: 'fields',
    hint: 'Use the option tz.',
  })
}

function unclosed(rest: Rest): CronError {
  const { text: expression, end } = rest
  const message = `The bracket is not closed, in ${JSON.stringify(expression.slice(0, 60))}.`
  const hint = 'Write cron(0 10 * * ? *) or rate(5 minutes).'
  return new CronError('VALUE_MISSING', message, { expression, position: end, length: 1, expected: ')', hint })
}

function badDuration(rest: Rest, hint: string): CronError {
  const { text: expression, start, end } = rest
  const message = `${JSON.stringify(expression.slice(start, Math.min(end, start + 60)))} is not a duration.`
  const length = Math.max(1, end - start)
  return new CronError('DURATION_INVALID', message, {
    expression,
    position: start,
    length,
    expected: DURATION_EXPECTED,
    hint,
  })
}

function unknownMacro(rest: Rest): CronError {
  const { text: expression, start, end } = rest
  const names = [...Object.keys(MACROS), '@reboot', '@every']
  const written = expression.slice(start, end)
  const meant = names.find((name) => written.startsWith(name)) ?? didYouMean(written, names)
  return new CronError('MACRO_UNKNOWN', `There is no macro ${JSON.stringify(written.slice(0, 60))}.`, {
    expression,
    position: start,
    length: end - start,
    expected: names.join(', '),
    hint: meant === undefined ? 'Write five fields, or one of the macros.' : `Did you mean ${meant}?`,
  })
}
