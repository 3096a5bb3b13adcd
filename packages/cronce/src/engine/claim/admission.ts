/**
 * How much of its concurrency an instance uses. One that renews late or whose event loop lags loses leases, and the runs it
 * loses are run again by others, who then lag too: overload must not feed itself. So it takes half, and half again, until it
 * is well; then it grows back.
 */
export interface Admission {
  /** A timer came so late. */
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
