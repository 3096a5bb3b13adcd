import { CronError } from './cron-error.ts'
import { collect, toInstant } from './instant.ts'
import type { AtData, AtTrigger } from './trigger.ts'

/** One instant: a Date, epoch milliseconds, or an ISO text that says its zone. */
export function at(instant: Date | number | string): AtTrigger {
  return new Once(typeof instant === 'string' ? readInstant(instant) : Math.floor(toInstant(instant)))
}

class Once implements AtTrigger {
  readonly kind = 'at'
  readonly never = false
  readonly at: number

  constructor(at: number) {
    this.at = at
  }

  next(from: Date | number): number | null {
    return toInstant(from) < this.at ? this.at : null
  }

  prev(from: Date | number): number | null {
    return toInstant(from) > this.at ? this.at : null
  }

  matches(at: Date | number): boolean {
    return toInstant(at) === this.at
  }

  nextN(from: Date | number, count: number): number[] {
    return collect((after) => this.next(after), from, count)
  }

  toJSON(): AtData {
    return { kind: this.kind, at: this.at }
  }
}

const ISO = /^[+-]?\d{4,6}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/

function readInstant(text: string): number {
  const ms = ISO.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(ms)) return ms
  throw new CronError('EXPRESSION_INVALID', `${JSON.stringify(text.slice(0, 60))} is not an instant.`, {
    expression: text,
    position: 0,
    length: Math.max(1, text.length),
    expected: 'an ISO date and time with Z or an offset',
    hint: 'Write 2026-12-24T18:00:00Z or 2026-12-24T18:00:00+01:00: without a zone it would mean something else on each machine.',
  })
}
