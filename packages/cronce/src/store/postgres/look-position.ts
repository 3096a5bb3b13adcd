import type { Instant, ScheduleState } from '../../model/schedule.ts'
import type { DueQuery } from '../store.ts'

/** How often a look starts from the beginning, to find rows that peers wrote with a time long past. */
const WHOLE_MS = 2_000
/** Rows written a moment ago may not have been committed yet at the time of the look. */
const MARGIN_MS = 2_000
const EVER = -9_000_000_000_000_000

interface Look {
  readonly buckets: string
  readonly wholeAt: number
  since: Instant
  /** The earliest time that was written here since the last look began, which its answer may lack. */
  written: Instant
}

/**
 * Where the next look for due schedules begins. Every claim leaves a dead entry at the early end of the index, which the server
 * cannot remove while a session holds an old snapshot: then each look would scan everything that was due since. This affects only
 * the cost.
 */
export class LookPositions {
  readonly #looks = new Map<string, Look>()

  /** The jobs in the form that the statement takes. */
  begin(jobs: DueQuery['jobs']): readonly (DueQuery['jobs'][number] & { readonly since: Instant })[] {
    const now = performance.now()
    return jobs.map(({ job, buckets }) => {
      const look = this.#looks.get(job)
      const isWhole = look === undefined || look.buckets !== buckets || now - look.wholeAt > WHOLE_MS
      if (isWhole) {
        this.#looks.set(job, { buckets, wholeAt: now, since: EVER, written: Number.POSITIVE_INFINITY })
        return { job, buckets, since: EVER }
      }
      look.written = Number.POSITIVE_INFINITY
      return { job, buckets, since: look.since }
    })
  }

  /**
   * The result: by job, the longest waiting. Returns when to look again at the latest: a look that left something out must not be
   * followed by a long sleep.
   */
  end(asked: ReturnType<LookPositions['begin']>, now: Instant, oldest: ReadonlyMap<string, Instant>): Instant | null {
    for (const { job } of asked) {
      const look = this.#looks.get(job)
      if (look === undefined) continue
      const found = oldest.get(job) ?? now
      look.since = Math.min(found, look.written, now - MARGIN_MS)
    }
    return asked.every(({ since }) => since === EVER) ? null : now + WHOLE_MS
  }

  /** A schedule was written here. */
  written({ definition, wakeAt }: ScheduleState): void {
    const look = this.#looks.get(definition.job)
    if (look === undefined || wakeAt === null) return
    look.since = Math.min(look.since, wakeAt)
    look.written = Math.min(look.written, wakeAt)
  }

  /** Called on a wake-up: the next look must find what was just written. */
  forget(): void {
    this.#looks.clear()
  }
}
