/** The longest wait for a run that another instance may be about to repeat. */
export const SHORT_GRACE_MS = 1_000

/** Between a task's answer and its end. */
export const FAREWELL_MS = 5_000

/** Reasons for which the fire may be taken over while we still wait. */
const TAKEN_OVER: readonly unknown[] = ['RUN_STOPPED', 'LEASE_LOST', 'RUN_FENCED']

const LONGEST_TIMER_MS = 2_147_483_647

/** An end by force that can come sooner than was said, never later: an answer must not buy time after an abort. */
export class ForcedEnd {
  readonly #force: () => void
  #at = Number.POSITIVE_INFINITY
  #timer: NodeJS.Timeout | undefined

  constructor(force: () => void) {
    this.#force = force
  }

  within(ms: number): void {
    const at = performance.now() + ms
    if (at >= this.#at) return
    this.#at = at
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.#force, ms)
  }

  cancel(): void {
    clearTimeout(this.#timer)
  }
}

/**
 * How long after its signal a task is ended by force. A little before the grace is over: then it is gone when the fleet
 * takes the run as ended, and what follows does not run beside it.
 */
export function forceAfterMs(reason: unknown, graceMs: number): number {
  const { code } = (reason ?? {}) as { readonly code?: unknown }
  if (TAKEN_OVER.includes(code)) return Math.min(graceMs, SHORT_GRACE_MS)
  return Math.min(LONGEST_TIMER_MS, graceMs - Math.min(500, graceMs / 4))
}
