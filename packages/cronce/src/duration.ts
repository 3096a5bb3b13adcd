const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

/** A hundred years: what is longer is a mistake, not a duration. */
const LONGEST_MS = 36_525 * 86_400_000

/** Milliseconds of `'15m'`, `'1h30m'`, `'1.5h'` or a number of milliseconds; `null` if it makes no sense. */
export function parseDuration(duration: string | number): number | null {
  const ms = typeof duration === 'number' ? duration : measureDuration(duration)
  return Number.isInteger(ms) && ms > 0 && ms <= LONGEST_MS ? ms : null
}

export const DURATION_EXPECTED = 'a duration in ms, s, m, h, d or w, such as 15m or 1h30m, or whole milliseconds'

/** Milliseconds of a text, however many; `NaN` if it is not a duration. */
export function measureDuration(text: string): number {
  // A bound on the text bounds the work, whatever stands in it.
  if (typeof text !== 'string' || text.length > 64) return Number.NaN
  const part = / ?(\d+(?:\.\d{1,6})?) ?(ms|[smhdw])/y
  let total = 0
  while (part.lastIndex < text.length) {
    const match = part.exec(text)
    if (match === null) return Number.NaN
    total += Number(match[1]) * UNITS[match[2]!]!
  }
  // 1.1s is 1,100 ms although 1.1 * 1000 is not.
  return text === '' ? Number.NaN : Math.round(total * 1e6) / 1e6
}
