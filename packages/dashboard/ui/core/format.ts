import type { FireView, ScheduleView } from './types.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** The two largest units: `3 h 12 min`. */
export function formatDuration(ms: number): string {
  const size = Math.abs(Math.round(ms))
  if (size < SECOND_MS) return `${size} ms`
  if (size < MINUTE_MS) return `${Math.floor(size / 100) / 10} s`
  if (size < HOUR_MS) return twoUnits(size, MINUTE_MS, 'min', SECOND_MS, 's')
  if (size < DAY_MS) return twoUnits(size, HOUR_MS, 'h', MINUTE_MS, 'min')
  return twoUnits(size, DAY_MS, 'd', HOUR_MS, 'h')
}

function twoUnits(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((ms % large) / small)
  const head = `${Math.floor(ms / large)} ${largeName}`
  return rest === 0 ? head : `${head} ${rest} ${smallName}`
}

/** `in 4 min 12 s`, `3 min ago`: as it is read at a glance. */
export function formatRelative(at: number, now: number): string {
  const size = Math.abs(at - now)
  if (size < SECOND_MS) return 'now'
  return at > now ? `in ${countdown(size)}` : `${oneUnit(size)} ago`
}

function oneUnit(ms: number): string {
  if (ms < MINUTE_MS) return `${Math.floor(ms / SECOND_MS)} s`
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`
  return ms < DAY_MS ? `${Math.floor(ms / HOUR_MS)} h` : `${Math.floor(ms / DAY_MS)} d`
}

/** The last minutes go by the second. */
function countdown(ms: number): string {
  if (ms >= MINUTE_MS && ms < 10 * MINUTE_MS) return twoUnits(ms, MINUTE_MS, 'min', SECOND_MS, 's')
  return ms >= HOUR_MS && ms < DAY_MS ? twoUnits(ms, HOUR_MS, 'h', MINUTE_MS, 'min') : oneUnit(ms)
}

const formatters = new Map<string, Intl.DateTimeFormat>()

/** Swedish writes dates as ISO 8601 does. */
function formatterFor(tz: string): Intl.DateTimeFormat {
  const known = formatters.get(tz) ?? makeFormatter(tz)
  formatters.set(tz, known)
  return known
}

function makeFormatter(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  } catch {
    // A zone that this browser does not know.
    return formatterFor('UTC')
  }
}

/** `2027-03-28 02:00:00` on the wall clock of the zone. */
export function formatWall(at: number, tz: string): string {
  return formatterFor(tz).format(at)
}

/** `02:00:00`. */
export function formatTime(at: number, tz: string): string {
  return formatWall(at, tz).slice(11)
}

/** How far the zone is ahead of UTC. */
export function offsetAt(at: number, tz: string): number {
  const second = Math.floor(at / SECOND_MS) * SECOND_MS
  return Date.parse(`${formatWall(second, tz).replace(' ', 'T')}Z`) - second
}

/** `+01:00`. */
export function formatOffset(at: number, tz: string): string {
  const ms = offsetAt(at, tz)
  return `${ms < 0 ? '-' : '+'}${new Date(Math.abs(ms)).toISOString().slice(11, 16)}`
}

export function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`
}

/** The zone that a schedule thinks in. */
export function zoneOf({ trigger }: Pick<ScheduleView, 'trigger'>): string {
  if (trigger?.kind !== 'cron') return 'UTC'
  const [, prefix] = /^(?:CRON_TZ|TZ)=(\S+)/.exec(trigger.expression.trim()) ?? []
  return prefix ?? trigger.tz ?? 'UTC'
}

/** The rule as it was written. */
export function ruleText({ trigger }: Pick<ScheduleView, 'trigger'>): string {
  if (trigger === null) return 'when triggered'
  if (trigger.kind === 'cron') return trigger.expression
  return trigger.kind === 'every' ? `every ${formatDuration(trigger.everyMs)}` : `once`
}

/** `failed (timeout)`; a reason that says no more than the outcome is left out. */
export function endingText({ state, reason }: Pick<FireView, 'reason'> & { readonly state: string }): string {
  return reason === null || reason === 'completed' ? state : `${state} (${reason})`
}
