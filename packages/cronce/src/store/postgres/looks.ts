import type { Instant, ScheduleState } from '../../model/schedule.ts'
import type { DueQuery } from '../store.ts'

/** So often a look leaves nothing out: what others wrote with a time long past is found by then. */
const WHOLE_MS = 2_000
/** What was written a moment ago may not have been committed yet when somebody looked. */
const MARGIN_MS = 2_000
const EVER = -9_000_000_000_000_000

interface Look {
  readonly buckets: string
  readonly wholeAt: number
  since: Instant
}

/**
 * Where the next look at what is due begins. Every claim leaves a dead entry at the early end of the index, which the server clears
 * away in passing, but not while anybody holds an old snapshot: then each look would go through all that was due since. Nothing
 * but cost depends on this.
 */
export class Looks {
  readonly #looks = new Map<string, Look>()

  /** The jobs as the statement wants them. */
  begin(jobs: DueQuery['jobs']): readonly (DueQuery['jobs'][number] & { readonly since: Instant })[] {
    const now = performance.now()
    return jobs.map(({ job, buckets }) => {
      const look = this.#looks.get(job)
      const isWhole = look === undefined || look.buckets !== buckets || now - look.wholeAt > WHOLE_MS
      if (!isWhole) return { job, buckets, since: look.since }
      this.#looks.set(job, { buckets, wholeAt: now, since: EVER })
      return { job, buckets, since: EVER }
    })
  }

  /** What it found: by job, the longest waiting. */
  end(jobs: DueQuery['jobs'], now: Instant, oldest: Readonly<Record<string, Instant>>): void {
    for (const { job } of jobs) {
      const look = this.#looks.get(job)
      if (look !== undefined) look.since = Math.min(Object.hasOwn(oldest, job) ? oldest[job]! : now, now - MARGIN_MS)
    }
  }

  /** This was written here. */
  heed({ definition, wakeAt }: ScheduleState): void {
    const look = this.#looks.get(definition.job)
    if (look !== undefined && wakeAt !== null && wakeAt < look.since) look.since = wakeAt
  }

  /** Somebody wrote something that can't wait. */
  forget(): void {
    this.#looks.clear()
  }
}
