/**
 * Wall clock and offset of a zone, for printing and for reading `--from`. The host's own zone is never asked: every
 * formatter names its zone.
 */

const DAY_MS = 86_400_000
const formatters = new Map<string, Intl.DateTimeFormat>()

export function isUtc(tz: string): boolean {
  return /^(Etc\/)?(UTC|GMT|UCT|Zulu)$|^Z$|^[+-]00:?00$/i.test(tz)
}

/** Whether its clock can change at all: neither UTC nor a fixed offset. */
export function hasChanges(tz: string): boolean {
  return !isUtc(tz) && !/^[+-]/.test(tz)
}

/** How far the zone's wall clock is ahead of UTC at this instant. */
export function offsetAt(tz: string, instant: number): number {
  if (isUtc(tz)) return 0
  const seconds = Math.floor(instant / 1000) * 1000
  const part: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = {}
  for (const { type, value } of formatter(tz).formatToParts(seconds)) part[type] = value
  // Intl counts the years before 1 backwards. Neither those nor years beyond 9999 could be read by Date.parse.
  const year = part.era === 'B' ? 1 - Number(part.year) : Number(part.year)
  const wall = new Date(0)
  wall.setUTCFullYear(year, Number(part.month) - 1, Number(part.day))
  return wall.setUTCHours(Number(part.hour), Number(part.minute), Number(part.second)) - seconds
}

/**
 * The instant of a wall clock time, given as if it were UTC. A time that exists twice is the first; one that the clock
 * skips is as much later as the gap is long, which is what java.time and Temporal do.
 */
export function instantOf(tz: string, wall: number): number {
  const before = offsetAt(tz, wall - DAY_MS)
  const after = offsetAt(tz, wall + DAY_MS)
  for (const offset of [before, after]) {
    if (offsetAt(tz, wall - offset) === offset) return wall - offset
  }
  return wall - before
}

function formatter(tz: string): Intl.DateTimeFormat {
  let found = formatters.get(tz)
  if (found === undefined) {
    found = new Intl.DateTimeFormat('en-US', {
      timeZone: tz,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      era: 'narrow',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    })
    formatters.set(tz, found)
  }
  return found
}
