import { cron } from 'cronce/cron'
import type { Args, Flags } from './args.ts'
import { parseDurationText } from './duration-text.ts'
import { formatDuration, formatLocal, type Precision } from './format.ts'
import { localZone } from './local-zone.ts'
import { UsageError } from './usage-error.ts'
import { instantOf, offsetAt } from './zone.ts'

/** For commands that read or print times. */
export const TIME_FLAGS = {
  tz: {
    type: 'string',
    value: 'ZONE',
    help: 'Zone of the times, read and printed: IANA name, UTC, +05:30, or local (default UTC)',
  },
  utc: { type: 'boolean', help: 'The same as --tz UTC' },
} as const satisfies Flags

export const TIME_FORMS =
  'Write now-2h, -2h, +30m, today, yesterday, tomorrow 09:00, 2027-03-28, 2027-03-28T01:30, 2027-03-28T01:30Z, 2027-03-28T01:30+02:00, or epoch milliseconds.'

const DAY_MS = 86_400_000
const RELATIVE = /^(?:now)?(?:\s*([+-])\s*(\S+))?$/i
const AGO = /^(?:(in)\s+)?(\S+?)(?:\s+(ago))?$/i
const DAY = /^(yesterday|today|tomorrow)(?:[T\s]+(?:at\s+)?(\d{1,2}):(\d{2})(?::(\d{2}))?)?$/i
const MILLISECONDS = /^\d{11,15}$/
const ABSOLUTE = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2}(?:\.\d{1,9})?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i

export interface TimeQuestion {
  /** The flag or the operand, for complaints. */
  readonly name: string
  readonly tz: string
  readonly now: number
}

/** The instant that people mean. Without an offset it is a wall clock time of `tz`. */
export function readTime(text: string, question: TimeQuestion): number {
  const { name, tz, now } = question
  const trimmed = text.trim()
  const complain = (what: string): UsageError => new UsageError(`${name} "${text}" ${what}.`, TIME_FORMS)
  if (trimmed === '') throw complain('is not a time')

  const relative = RELATIVE.exec(trimmed)
  if (relative) return inReach(now + signed(relative[1], relative[2], complain), complain)
  const ago = AGO.exec(trimmed)
  if (ago && (ago[1] !== undefined) !== (ago[3] !== undefined)) {
    return inReach(now + signed(ago[3] === undefined ? '+' : '-', ago[2], complain), complain)
  }
  if (parseDurationText(trimmed) !== null && !MILLISECONDS.test(trimmed)) {
    throw new UsageError(
      `${name} "${text}" is a duration: since then, or from now?`,
      `Write -${trimmed} or +${trimmed}.`,
    )
  }
  const day = DAY.exec(trimmed)
  if (day) return dayTime(day, tz, now, complain)
  if (MILLISECONDS.test(trimmed)) return inReach(Number(trimmed), complain)

  const absolute = ABSOLUTE.exec(trimmed)
  if (!absolute) throw complain('is not a time')
  const [, date, time = '00:00', seconds = ':00', offset] = absolute
  if (date!.startsWith('0000')) throw complain('is before the year 0001')
  const wall = Date.parse(`${date}T${time}${seconds}Z`)
  // Date.parse takes the 30th of February for the 2nd of March.
  if (Number.isNaN(wall) || new Date(wall).toISOString().slice(0, 10) !== date) throw complain('does not exist')
  return offset === undefined ? instantOf(tz, wall) : wall - readOffset(offset, complain)
}

/** The instant of a flag, or `undefined` if it is not given. */
export function timeFlag(args: Args, flag: string, question: Omit<TimeQuestion, 'name'>): number | undefined {
  const text = args.text(flag)
  return text === undefined ? undefined : readTime(text, { name: `--${flag}`, ...question })
}

/** The zone that times are read and printed in. */
export function zoneOf(args: Args, otherwise = 'UTC'): string {
  const named = args.text('tz')
  if (args.has('utc')) {
    if (named !== undefined) throw new UsageError('--utc and --tz are two zones.', 'Leave out one.')
    return 'UTC'
  }
  if (named === undefined) return otherwise
  if (named === 'local') return localZone()
  // Refuses what is not a zone, with the nearest name as the hint.
  cron('0 0 * * *', { tz: named })
  return named
}

/** `Fri 2027-01-01 09:00:00 UTC` */
export function formatInstant(instant: number, tz: string, precision: Precision = 'second'): string {
  return formatLocal(instant, tz, precision)
}

/** `in 3h12m`, `2m ago`, `now`. */
export function relativeWords(instant: number, now: number): string {
  const distance = Math.abs(instant - now)
  if (distance < 1_000) return 'now'
  const words = formatDuration(Math.floor(distance / 1_000) * 1_000)
  return instant > now ? `in ${words}` : `${words} ago`
}

/** The same in one unit, for tables: `in 3h`, `2m ago`. */
export function roughWords(instant: number, now: number): string {
  return relativeWords(instant, now).replace(/^((?:in )?\d+[a-z]+)\d+[a-z]+/, '$1')
}

function signed(
  sign: string | undefined,
  duration: string | undefined,
  complain: (what: string) => UsageError,
): number {
  if (sign === undefined || duration === undefined) return 0
  const ms = parseDurationText(duration)
  if (ms === null) throw complain('is not a time')
  return sign === '-' ? -ms : ms
}

/** What a date can hold, years 1 to 9999: beyond it nothing could be printed. */
function inReach(instant: number, complain: (what: string) => UsageError): number {
  if (instant >= Date.UTC(1, 0) && instant < Date.UTC(10_000, 0)) return instant
  throw complain('is out of reach')
}

function dayTime(match: RegExpExecArray, tz: string, now: number, complain: (what: string) => UsageError): number {
  const [, word, hours = '0', minutes = '0', seconds = '0'] = match
  if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) throw complain('does not exist')
  const days = { yesterday: -1, today: 0, tomorrow: 1 }[word!.toLowerCase() as 'today']
  const wallNow = now + offsetAt(tz, now)
  const midnight = Math.floor(wallNow / DAY_MS) * DAY_MS
  const time = (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)) * 1_000
  return instantOf(tz, midnight + days * DAY_MS + time)
}

function readOffset(offset: string, complain: (what: string) => UsageError): number {
  if (/z/i.test(offset)) return 0
  const hours = Number(offset.slice(1, 3))
  const minutes = Number(offset.slice(3).replace(':', '') || '0')
  if (hours > 23 || minutes > 59) throw complain('has an offset that does not exist')
  return (offset[0] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000
}
