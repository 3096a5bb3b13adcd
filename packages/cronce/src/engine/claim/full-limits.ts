import type { Clock } from '../../clock.ts'
import { LONG_MS } from './look.ts'

/** First wait before a job whose limit was used up is claimed again; doubles up to the longest, because its holder may take hours. */
const FIRST_MS = 250
const LONGEST_MS = 4_000

/** Jobs whose fleet-wide limit was found used up: they are not looked at for a while. */
export class FullLimits {
  readonly #mono: () => number
  readonly #until = new Map<string, number>()
  /** By job, how often in a row its limit was used up. */
  readonly #times = new Map<string, number>()

  constructor({ mono }: Clock) {
    this.#mono = mono
  }

  get size(): number {
    return this.#until.size
  }

  /** A claim of the job met a limit that is used up. */
  met(job: string): void {
    const times = this.#times.get(job) ?? 0
    this.#times.set(job, times + 1)
    this.#until.set(job, this.#mono() + Math.min(FIRST_MS * 2 ** times, LONGEST_MS))
  }

  /** A run of the job was claimed. */
  passed(job: string): void {
    this.#times.delete(job)
  }

  /** A run that counts against a limit has ended: any of the jobs may have a place now. */
  clear(): void {
    this.#until.clear()
  }

  /** Whether the job is left alone for now. */
  has(job: string): boolean {
    const until = this.#until.get(job)
    if (until === undefined || until > this.#mono()) return until !== undefined
    this.#until.delete(job)
    return false
  }

  untilNextMs(): number {
    const ends = [...this.#until.values()]
    return ends.length === 0 ? LONG_MS : Math.max(1, Math.min(...ends) - this.#mono())
  }
}
