import { DURATION_EXPECTED, parseDuration } from '../duration.ts'
import { CronError } from './cron-error.ts'
import { pointAt, quote } from './cron-hints.ts'
import { collect, DATE_LIMIT_MS, toInstant } from './instant.ts'
import type { EveryData, EveryTrigger } from './trigger.ts'

/** Options of `every()`. */
export interface EveryOptions {
  /** An instant of the series. All instances that name the same one agree on all others. @default 0, the Unix epoch */
  readonly anchor?: Date | number | undefined
}

/** A steady interval of elapsed time, whatever clocks and zones do: `anchor + k * duration` for every whole k. */
export function every(duration: string | number, options: EveryOptions = {}): EveryTrigger {
  demandAnchorOnly(options)
  const everyMs = parseDuration(duration)
  if (everyMs !== null) return new Interval(everyMs, Math.floor(toInstant(options.anchor ?? 0)))
  const expression = String(duration)
  throw new CronError('DURATION_INVALID', `${quote(expression)} is not a duration.`, {
    ...pointAt(expression),
    expected: DURATION_EXPECTED,
    hint: 'Write a number and a unit (ms, s, m, h, d, w), from 1 ms to 100 years.',
  })
}

function demandAnchorOnly(options: unknown): void {
  const isObject = typeof options === 'object' && options !== null
  const unknown = isObject ? Object.keys(options).find((name) => name !== 'anchor') : String(options)
  if (unknown === undefined) return
  throw new CronError('OPTION_UNKNOWN', `every() has no option ${quote(unknown)}.`, {
    ...pointAt(unknown),
    hint: "Write every('15m', { anchor: Date.parse('2027-01-01T00:05:00Z') }), or leave the anchor out.",
  })
}

class Interval implements EveryTrigger {
  readonly kind = 'every'
  readonly never = false
  readonly everyMs: number
  readonly anchor: number

  constructor(everyMs: number, anchor: number) {
    this.everyMs = everyMs
    this.anchor = anchor
    // Shared where `@every` is written in an expression.
    Object.freeze(this)
  }

  next(from: Date | number): number | null {
    const ms = Math.floor(toInstant(from))
    return inDates(ms + this.everyMs - this.#phase(ms))
  }

  prev(from: Date | number): number | null {
    const ms = Math.ceil(toInstant(from))
    const phase = this.#phase(ms)
    return inDates(ms - (phase === 0 ? this.everyMs : phase))
  }

  matches(at: Date | number): boolean {
    const ms = toInstant(at)
    return Number.isInteger(ms) && this.#phase(ms) === 0
  }

  nextN(from: Date | number, count: number): number[] {
    return collect((after) => this.next(after), from, count)
  }

  toJSON(): EveryData {
    return { kind: this.kind, everyMs: this.everyMs, anchor: this.anchor }
  }

  /** How long ago the series last fired, 0 at one of its instants. */
  #phase(ms: number): number {
    // Remainders before subtracting: the distance to a far anchor may exceed what a number holds exactly.
    const phase = ((ms % this.everyMs) - (this.anchor % this.everyMs)) % this.everyMs
    return phase < 0 ? phase + this.everyMs : phase
  }
}

function inDates(ms: number): number | null {
  return Math.abs(ms) <= DATE_LIMIT_MS ? ms : null
}
