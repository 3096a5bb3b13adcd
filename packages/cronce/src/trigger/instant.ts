/** The largest instant a Date can hold, in either direction. */
export const DATE_LIMIT_MS = 8.64e15

/** Epoch milliseconds of a Date or a number, or a RangeError that says what was given. */
export function toInstant(value: Date | number): number {
  const ms = typeof value === 'number' ? value : value instanceof Date ? value.getTime() : Number.NaN
  if (ms >= -DATE_LIMIT_MS && ms <= DATE_LIMIT_MS) return ms
  throw instantError(value)
}

/** How many instants `nextN` may be asked for: a bound on the array, far beyond what a person reads. */
const COUNT_LIMIT = 1_000_000

export function collect(next: (from: number) => number | null, from: Date | number, count: number): number[] {
  if (!Number.isInteger(count) || count < 0 || count > COUNT_LIMIT) {
    throw withCode(
      new RangeError(`Expected a count from 0 to ${COUNT_LIMIT}, got ${String(count)}.`),
      'COUNT_OUT_OF_RANGE',
    )
  }
  const found: number[] = []
  let at: number | null = toInstant(from)
  while (found.length < count) {
    at = next(at)
    if (at === null) break
    found.push(at)
  }
  return found
}

function instantError(value: unknown): RangeError {
  const shown = value instanceof Date ? 'an invalid Date' : typeof value === 'object' ? 'an object' : String(value)
  const message = `Expected a Date or epoch milliseconds within ±8.64e15, got ${shown}.`
  return withCode(new RangeError(message), 'INSTANT_INVALID')
}

function withCode(error: RangeError, code: string): RangeError {
  return Object.assign(error, { code })
}
