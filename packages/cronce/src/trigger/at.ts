import { CronError } from './cron-error.ts'
import { pointAt, quote } from './cron-hints.ts'
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
    Object.freeze(this)
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

const ISO = /^([+-]?\d{4,6})-(\d\d)-(\d\d)T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/

/** Date.parse takes 30 February for 2 March. */
function isCalendarDate(iso: RegExpExecArray | null): boolean {
  if (iso === null) return false
  const lastDay = new Date(0)
  lastDay.setUTCFullYear(Number(iso[1]), Number(iso[2]), 0)
  return Number(iso[3]) <= lastDay.getUTCDate()
}

function readInstant(text: string): number {
  const ms = isCalendarDate(ISO.exec(text)) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(ms)) return ms
  throw new CronError('EXPRESSION_INVALID', `${quote(text)} is not an instant.`, {
    ...pointAt(text),
    expected: 'an ISO date and time with Z or an offset',
    hint: 'Write 2026-12-24T18:00:00Z or 2026-12-24T18:00:00+01:00: without a zone it would mean something else on each machine.',
  })
}
