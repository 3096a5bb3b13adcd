import type { Clock } from '../../clock.ts'
import { LONG_MS } from './look.ts'

/** First wait before a job whose limit was used up is claimed again; doubles up to the longest, because its holder may take hours. */
const FIRST_MS = 250
const LONGEST_MS = 4_000
/** Schedules that are remembered: a look reads all of them again. */
const MOST_SCHEDULES = 500

/** Of a claim. */
interface Claimed {
  readonly job: string
  readonly schedule: string
}

/** Jobs whose fleet-wide limit was found used up: they are not looked at for a while. */
export class FullLimits {
  readonly #mono: () => number
  readonly #until = new Map<string, number>()
  /** By job, how often in a row its limit was used up. */
  readonly #times = new Map<string, number>()
  /** Schedules whose last claim met such a limit, the most recent last. Others of the same job may have no limit. */
  readonly #schedules = new Set<string>()

  constructor({ mono }: Clock) {
    this.#mono = mono
  }

  get size(): number {
    return this.#until.size
  }

  /** How many schedules are remembered. */
  get schedules(): number {
    return this.#schedules.size
  }

  /** A claim of the job met a limit that is used up. */
  met({ job, schedule }: Claimed): void {
    this.#schedules.delete(schedule)
    this.#schedules.add(schedule)
    if (this.#schedules.size > MOST_SCHEDULES) this.#schedules.delete(this.#schedules.values().next().value!)
    const times = this.#times.get(job) ?? 0
    this.#times.set(job, times + 1)
    this.#until.set(job, this.#mono() + Math.min(FIRST_MS * 2 ** times, LONGEST_MS))
  }

  /** A run of the job was claimed. */
  passed({ job, schedule }: Claimed): void {
    this.#times.delete(job)
    this.#schedules.delete(schedule)
  }

  /** Schedules that met a used-up limit last, so that they do not take the room of those that may start. */
  sort<State extends { readonly id: string }>(due: readonly State[]): readonly State[] {
    if (this.#schedules.size === 0) return due
    const ranks = new Map([...this.#schedules].map((id, rank) => [id, rank]))
    const rankOf = ({ id }: State): number => ranks.get(id) ?? -1
    return due.toSorted((one, other) => rankOf(one) - rankOf(other))
  }

  /** A run that counts against a limit has ended: any of the jobs may have a place now. */
  clear(): void {
    this.#until.clear()
    this.#schedules.clear()
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
