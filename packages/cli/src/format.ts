import { isUtc, offsetAt } from './zone.ts'

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const
const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const YEAR_MS = 365.25 * DAY_MS

/** How much of a time of day to show, so that a column of times lines up. */
export type Precision = 'minute' | 'second' | 'millisecond'

/** The coarsest precision that loses nothing of any of these instants in this zone. */
export function precisionFor(instants: readonly number[], tz: string): Precision {
  if (instants.some((instant) => instant % SECOND_MS !== 0)) return 'millisecond'
  return instants.some((instant) => (instant + offsetAt(tz, instant)) % MINUTE_MS !== 0) ? 'second' : 'minute'
}

/** `Sun 2027-03-28 02:00 +01:00`, or `... UTC`. */
export function formatLocal(instant: number, tz: string, precision: Precision): string {
  const offset = offsetAt(tz, instant)
  const wall = instant + offset
  const weekday = WEEKDAYS[new Date(wall).getUTCDay()]!
  const date = new Date(wall).toISOString().slice(0, -14)
  return `${weekday} ${date} ${formatTime(wall, precision)} ${isUtc(tz) ? 'UTC' : formatOffset(offset)}`
}

/** `02:00`, and by default with seconds only if there are any. */
export function formatTime(wall: number, precision: Precision = wall % MINUTE_MS === 0 ? 'minute' : 'second'): string {
  const length = { minute: 5, second: 8, millisecond: 12 }[precision]
  return new Date(wall).toISOString().slice(-13).slice(0, length)
}

/** `+01:00`; seconds only where the zone has them, as Liberia had until 1972. */
export function formatOffset(offsetMs: number): string {
  const size = Math.abs(offsetMs)
  const text = new Date(size).toISOString().slice(11, size % MINUTE_MS === 0 ? 16 : 19)
  return `${offsetMs < 0 ? '-' : '+'}${text}`
}

/** `2027-03-28T01:00:00Z`: without milliseconds unless there are some. */
export function formatUtc(instant: number): string {
  return new Date(instant).toISOString().replace('.000Z', 'Z')
}

/** The two largest units, rounded down: `3h12m`. Flags accept it, too. */
export function formatDuration(ms: number): string {
  if (ms < SECOND_MS) return `${ms}ms`
  if (ms < MINUTE_MS) return ms % SECOND_MS === 0 ? `${ms / SECOND_MS}s` : `${Math.floor(ms / 100) / 10}s`
  if (ms < HOUR_MS) return twoUnits(ms, MINUTE_MS, 'm', SECOND_MS, 's')
  if (ms < DAY_MS) return twoUnits(ms, HOUR_MS, 'h', MINUTE_MS, 'm')
  if (ms < 100 * DAY_MS) return twoUnits(ms, DAY_MS, 'd', HOUR_MS, 'h')
  if (ms < 2 * YEAR_MS) return `${Math.floor(ms / DAY_MS)}d`
  return `${Math.floor((ms / YEAR_MS) * 10) / 10} years`
}

function twoUnits(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((ms % large) / small)
  const head = `${Math.floor(ms / large)}${largeName}`
  return rest === 0 ? head : `${head}${rest}${smallName}`
}

/** `12,345`. Not `toLocaleString`: the host's locale is none of our business. */
export function formatCount(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** `a`, `a and b`, `a, b, and c`. */
export function joinWords(words: readonly string[], conjunction = 'and'): string {
  if (words.length <= 2) return words.join(` ${conjunction} `)
  return `${words.slice(0, -1).join(', ')}, ${conjunction} ${words.at(-1)}`
}
