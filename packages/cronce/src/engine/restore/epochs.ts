import type { Clock } from '../../clock.ts'

/**
 * The epoch of the store, as its answers tell. It moves when the store may have gone back in time; from then on nothing is
 * claimed here until this instance has settled in the new one: until what it knew is written again.
 */
export interface Epochs {
  /** An answer is of this epoch. False: what it says is not to be claimed on. */
  observe(epoch: number): boolean
  /** The highest that was told. `null`: the store was not heard of yet. */
  readonly latest: number | null
  /** The one in which all that is known here is written. `null`: the store was not heard of yet, and nothing is known. */
  readonly settled: number | null
  /** Since when, by the monotonic clock: what the store said before that of the runs here is not to be believed. */
  readonly settledAt: number
  isSettled(): boolean
  settle(epoch: number): void
  /** Whether anything may be claimed: the store knows that this instance has settled. */
  mayClaim(): boolean
  allowClaims(): void
  /** Resolves once it is settled, or the engine is stopped. */
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
