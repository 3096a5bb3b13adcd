import type { Clock } from '../../clock.ts'

/**
 * The epoch of the store, as its answers tell. It moves when the store may have gone back in time. From then on this instance
 * claims nothing until it has settled in the new epoch, that is, until it has written again what it knew.
 */
export interface Epochs {
  /** An answer belongs to this epoch. False: do not claim based on it. */
  observe(epoch: number): boolean
  /** The highest epoch so far. `null`: the store has not answered yet. */
  readonly latest: number | null
  /** The epoch in which everything known here is written. `null`: the store has not answered yet, and nothing is known. */
  readonly settled: number | null
  /** Since when (monotonic) this holds: earlier answers about the runs of this instance are not reliable. */
  readonly settledAt: number
  isSettled(): boolean
  settle(epoch: number): void
  /** Whether claims are allowed: the store knows that this instance has settled. */
  mayClaim(): boolean
  allowClaims(): void
  /** Resolves once this instance has settled, or the engine is stopped. */
  ready(): Promise<void>
}

export function epochs(clock: Clock, stopped: AbortSignal, onMove: () => void): Epochs {
  let latest: number | null = null
  let settled: number | null = null
  let settledAt = Number.NEGATIVE_INFINITY
  let mayClaim = true
  let waiting: (() => void)[] = []
  const isSettled = (): boolean => latest === settled
  const release = (): void => {
    for (const resolve of waiting) resolve()
    waiting = []
  }
  stopped.addEventListener('abort', release, { once: true })
  return {
    observe(epoch) {
      if (latest === null) {
        latest = epoch
        settled = epoch
      } else if (epoch > latest) {
        latest = epoch
        mayClaim = false
        onMove()
      }
      return mayClaim && epoch === settled
    },
    get latest() {
      return latest
    },
    get settled() {
      return settled
    },
    get settledAt() {
      return settledAt
    },
    isSettled,
    settle(epoch) {
      settled = epoch
      settledAt = clock.mono()
      if (isSettled()) release()
    },
    mayClaim: () => mayClaim,
    allowClaims() {
      mayClaim = isSettled()
    },
    ready: () =>
      isSettled() || stopped.aborted ? Promise.resolve() : new Promise((resolve) => void waiting.push(resolve)),
  }
}
