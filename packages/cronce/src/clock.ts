import { uptime } from 'node:os'

/** The time as one process sees it. The engine is handed one, so that tests and simulations can bring their own. */
export interface Clock {
  /** Epoch milliseconds. May step, so it decides nothing: for logs, and as a reason to ask the store. */
  wall(): number
  /** Milliseconds since some moment. Never goes back, never steps. May stand still while the machine is suspended. */
  mono(): number
  /** The same, but it also counts while the machine is suspended, where the system tells. */
  boot(): number
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

/** A smaller change of the wall clock against the monotonic one is not worth a look: less than a suspension takes. */
const NOTICED_MS = 20

/**
 * A monotonic clock that counts suspension. On Linux `os.uptime()` counts it and the monotonic clock does not; on macOS and Windows
 * the monotonic clock itself does. A suspension moves the wall clock against the monotonic one, so `os.uptime()`, which reads a
 * file, is read only when that happens.
 */
function bootClock(): Clock['boot'] {
  if (process.platform !== 'linux') return () => performance.now()
  const begun = uptimeAhead()
  let ahead = begun
  let drift = Date.now() - performance.now()
  return () => {
    const mono = performance.now()
    const drifted = Date.now() - mono
    if (Math.abs(drifted - drift) > NOTICED_MS) {
      drift = drifted
      ahead = Math.max(ahead, uptimeAhead())
    }
    return mono + ahead - begun
  }
}

/** How far the uptime is ahead of the monotonic clock. Read again if the process was held up between the two. */
function uptimeAhead(): number {
  let best = { tookMs: Number.POSITIVE_INFINITY, aheadMs: 0 }
  for (let reads = 0; reads < 5 && best.tookMs > 1; reads++) {
    const before = performance.now()
    const uptimeMs = uptime() * 1_000
    const after = performance.now()
    if (after - before < best.tookMs) best = { tookMs: after - before, aheadMs: uptimeMs - before }
  }
  return best.aheadMs
}

/** `keepAlive: false`: waiting does not keep the process from ending. */
export function systemClock({ keepAlive = true }: { readonly keepAlive?: boolean } = {}): Clock {
  const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
    const end = performance.now() + ms
    for (let left = ms; left > 0 && signal?.aborted !== true; left = end - performance.now()) {
      await timer(Math.min(Math.ceil(left), LONGEST_TIMER_MS), keepAlive, signal)
    }
  }
  return { wall: () => Date.now(), mono: () => performance.now(), boot: bootClock(), sleep, pause: sleep }
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
