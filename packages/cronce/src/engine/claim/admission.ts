/**
 * How much of its concurrency an instance uses. If it renews late or its event loop lags, it loses leases, its peers run its runs
 * again and lag in turn. To stop that spiral it halves its share until it recovers, then grows back.
 */
export interface Admission {
  /** A timer was late by `lagMs`. */
  readonly lagged: (lagMs: number) => void
  readonly renewedInTime: () => void
  readonly lostLease: () => void
  readonly capacity: () => number
}

/** A timer as late as this means that something held the event loop. */
const LAG_MS = 1_000

export function admission(concurrency: number): Admission {
  let share = 1
  const shrink = (): void => {
    share = Math.max(share / 2, 1 / concurrency)
  }
  return {
    lagged(lagMs) {
      if (lagMs > LAG_MS) shrink()
    },
    renewedInTime() {
      share = Math.min(1, share + 1 / 8)
    },
    lostLease: shrink,
    capacity: () => Math.max(1, Math.floor(concurrency * share)),
  }
}
