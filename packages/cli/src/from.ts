import { every } from 'cronce/cron'
import { UsageError } from './usage-error.ts'
import { instantOf } from './zone.ts'

const FORMS = 'Write 2027-03-28, 2027-03-28T01:30, 2027-03-28T01:30Z, 2027-03-28T01:30+02:00, now, now+2h or now-30m.'
const RELATIVE = /^now(?:\s*([+-])\s*(\S+))?$/i
const ABSOLUTE = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2}(?:\.\d{1,9})?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i

/** The instant `--from` means. Without an offset it is a wall clock time of `tz`. */
export function readFrom(text: string, tz: string, now: number): number {
  const trimmed = text.trim()
  const relative = RELATIVE.exec(trimmed)
  if (relative) return now + signedDuration(relative[1], relative[2])

  const absolute = ABSOLUTE.exec(trimmed)
  if (!absolute) throw new UsageError(`--from "${text}" is not a time.`, FORMS)
  const [, date, time = '00:00', seconds = ':00', offset] = absolute
  if (date!.startsWith('0000')) throw new UsageError(`--from "${text}" is before the year 0001.`, FORMS)
  const wall = Date.parse(`${date}T${time}${seconds}Z`)
  // Date.parse takes the 30th of February for the 2nd of March.
  if (Number.isNaN(wall) || new Date(wall).toISOString().slice(0, 10) !== date) {
    throw new UsageError(`--from "${text}" does not exist.`, FORMS)
  }
  return offset === undefined ? instantOf(tz, wall) : wall - readOffset(offset, text)
}

function signedDuration(sign: string | undefined, duration: string | undefined): number {
  if (sign === undefined || duration === undefined) return 0
  return (sign === '-' ? -1 : 1) * every(duration).everyMs
}

function readOffset(offset: string, text: string): number {
  if (/z/i.test(offset)) return 0
  const hours = Number(offset.slice(1, 3))
  const minutes = Number(offset.slice(3).replace(':', '') || '0')
  if (hours > 23 || minutes > 59) throw new UsageError(`--from "${text}" has an offset that does not exist.`, FORMS)
  return (offset[0] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000
}
