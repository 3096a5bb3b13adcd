/** The time as one process sees it. The engine is handed one, so that tests and simulations can bring their own. */
export interface Clock {
  /** Epoch milliseconds. May step: for logs, and to notice that the machine slept. */
  wall(): number
  /** Milliseconds since some moment. Never goes back, never steps. */
  mono(): number
  /** Resolves after `ms`, or as soon as the signal is aborted. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /**
   * Wait before the next attempt at something that a competitor changed meanwhile. Nothing is due when it ends. So a clock that
   * only moves on command does not wait for a command here: the program that gives it may be waiting for this attempt.
   */
  pause(ms: number, signal?: AbortSignal): Promise<void>
}

/** Longer timers would fire at once: Node counts them in 31 bits. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** `keepAlive: false`: waiting does not keep the process from ending. */
export function systemClock({ keepAlive = true }: { readonly keepAlive?: boolean } = {}): Clock {
  const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
    const end = performance.now() + ms
    for (let left = ms; left > 0 && signal?.aborted !== true; left = end - performance.now()) {
      await timer(Math.min(Math.ceil(left), LONGEST_TIMER_MS), keepAlive, signal)
    }
  }
  return { wall: () => Date.now(), mono: () => performance.now(), sleep, pause: sleep }
}

function timer(ms: number, keepAlive: boolean, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timeout)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timeout = setTimeout(done, ms)
    if (!keepAlive) timeout.unref()
    signal?.addEventListener('abort', done, { once: true })
  })
}
