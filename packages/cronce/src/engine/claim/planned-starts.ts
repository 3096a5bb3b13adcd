import type { Clock } from '../../clock.ts'
import type { Instant } from '../../model/schedule.ts'
import type { Lease } from '../fleet/lease.ts'
import type { StoreTime } from '../fleet/store-time.ts'
import { WAIT_ENDED } from '../wait-ended.ts'

/** Pause before the store is asked again, if it did not answer. */
const RETRY_MS = 100

export interface PlannedStartsParts {
  readonly clock: Clock
  readonly time: StoreTime
  readonly lease: Lease
  readonly leaseMs: number
  /** Nothing more is started here. */
  readonly isStopping: () => boolean
  readonly stopped: AbortSignal
  /** Sends one heartbeat. False: the store did not answer. */
  readonly renew: () => Promise<boolean>
}

/** A point in time at which runs start that were claimed ahead, and how many wait for it. */
interface PlannedStart {
  readonly reached: Promise<void>
  readonly wait: AbortController
}

/**
 * When runs may start that were claimed ahead. There is one timer for all that start at the same time. A run starts when the store's
 * clock has reached its due time for certain, and no peer can have declared this instance dead: see docs/decisions/004-time.md,
 * "Claim ahead".
 */
export class PlannedStarts {
  readonly #parts: PlannedStartsParts
  readonly #starts = new Map<Instant, PlannedStart>()
  #renewing: Promise<void> | null = null

  constructor(parts: PlannedStartsParts) {
    this.#parts = parts
  }

  /** Resolves when `has` is true of this time, or nothing more is started here. Never rejects. */
  reached(at: Instant): Promise<void> {
    const known = this.#starts.get(at)
    if (known !== undefined) return known.reached
    const wait = new AbortController()
    const reached = this.#reach(at, wait.signal).finally(() => this.#starts.delete(at))
    this.#starts.set(at, { reached, wait })
    return reached
  }

  /** Check this right before the start: the event loop may have been blocked since `reached` resolved. */
  has(at: Instant): boolean {
    const { time, lease } = this.#parts
    const now = time.atLeast()
    return now !== null && now >= at && lease.isFresh()
  }

  /** One heartbeat for all that wait: it tells the store's clock, and that this instance is alive. Never rejects. */
  renew(): Promise<void> {
    this.#renewing ??= this.#send().finally(() => {
      this.#renewing = null
    })
    return this.#renewing
  }

  /** The instance stops, or its epoch has moved: no run waits any longer, and none of them starts. */
  release(): void {
    for (const { wait } of this.#starts.values()) wait.abort(WAIT_ENDED)
  }

  async #reach(at: Instant, released: AbortSignal): Promise<void> {
    const { time, clock, leaseMs } = this.#parts
    while (!released.aborted && !this.#isOver() && !this.has(at)) {
      const leftMs = at - (time.atLeast() ?? time.estimate())
      // Without an answer of the last second the estimate is good enough to sleep by, but not to start by.
      if (leftMs > 0) await clock.sleep(Math.min(leftMs, leaseMs), released)
      else await this.renew()
    }
  }

  #isOver(): boolean {
    const { isStopping, stopped, lease } = this.#parts
    return isStopping() || stopped.aborted || !lease.trusted()
  }

  async #send(): Promise<void> {
    const { clock, stopped, renew } = this.#parts
    if (!(await renew())) await clock.sleep(RETRY_MS, stopped)
  }
}
