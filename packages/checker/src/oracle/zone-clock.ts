/**
 * Local time from Intl, in whole seconds. The engine under test may build tables; this asks Intl each time, so the two
 * cannot share a mistake.
 */

export interface OffsetChange {
  /** First epoch second with the new offset. */
  readonly at: number
  readonly before: number
  readonly after: number
}

/** A stretch of a zone's time line, scanned quarter hour by quarter hour. */
export interface ZoneWindow {
  readonly from: number
  readonly to: number
  readonly changes: readonly OffsetChange[]
  /** Every offset that occurs in the window, in seconds. */
  readonly offsets: readonly number[]
  offsetAt(second: number): number
}

const QUARTER = 900

const formatters = new Map<string, Intl.DateTimeFormat>()

/** Seconds to add to UTC to get the zone's wall clock. */
export function offsetOf(zone: string, second: number): number {
  if (zone === 'UTC') return 0
  const fixed = /^([+-])(\d\d):(\d\d)$/.exec(zone)
  if (fixed) return (fixed[1] === '-' ? -1 : 1) * (Number(fixed[2]) * 3600 + Number(fixed[3]) * 60)

  let formatter = formatters.get(zone)
  if (!formatter) {
    formatter = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    })
    formatters.set(zone, formatter)
  }
  // format() and not formatToParts(): a third of the cost, and en-US always writes 03/09/2025, 02:30:00.
  const text = formatter.format(second * 1000)
  const part = (start: number, end: number) => Number(text.slice(start, end))
  const date = Date.UTC(part(6, 10), part(0, 2) - 1, part(3, 5), part(12, 14), part(15, 17), part(18, 20))
  return date / 1000 - second
}

/** Finds every offset change in [from, to). */
export function scanZone(zone: string, from: number, to: number): ZoneWindow {
  const start = Math.floor(from / QUARTER) * QUARTER
  const changes: OffsetChange[] = []
  const first = offsetOf(zone, start)
  let before = first
  for (let quarter = start + QUARTER; quarter <= to + QUARTER; quarter += QUARTER) {
    if (offsetOf(zone, quarter) === before) continue
    for (let second = quarter - QUARTER + 1; second <= quarter; second += 1) {
      const after = offsetOf(zone, second)
      if (after === before) continue
      changes.push({ at: second, before, after })
      before = after
    }
  }
  const offsets = [...new Set([first, ...changes.map((change) => change.after)])]
  const offsetAt = (second: number): number => {
    let offset = first
    for (const change of changes) if (second >= change.at) offset = change.after
    return offset
  }
  return { from: start, to, changes, offsets, offsetAt }
}

const DAY = 86_400

/** Every offset change between two years, by probing every five days (the closest two on record are seven apart). */
export function findTransitions(zone: string, fromYear: number, toYear: number): OffsetChange[] {
  const end = Date.UTC(toYear, 0, 1) / 1000
  const found: OffsetChange[] = []
  let second = Date.UTC(fromYear, 0, 1) / 1000
  let before = offsetOf(zone, second)
  while (second < end) {
    const probe = second + 5 * DAY
    const after = offsetOf(zone, probe)
    if (after !== before) found.push({ at: bisect(zone, second, probe), before, after })
    second = probe
    before = after
  }
  return found
}

function bisect(zone: string, low: number, high: number): number {
  const before = offsetOf(zone, low)
  let last = low
  let first = high
  while (first - last > 1) {
    const middle = Math.floor((last + first) / 2)
    if (offsetOf(zone, middle) === before) last = middle
    else first = middle
  }
  return first
}
