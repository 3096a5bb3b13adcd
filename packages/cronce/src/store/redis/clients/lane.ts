import { closed, isHopeless, replyCodeOf, translate, unreachable } from '../errors.ts'
import type { Connection, ConnectLimits } from './connection.ts'
import { Wire } from './wire.ts'

const SHORTEST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2_000
const SHORTEST_TRY_MS = 1_000

/**
 * Pause before the next attempt: short at first, then about a tenth of the time that the server has been away, so that a restart
 * is noticed quickly and an outage costs little. Random, so that instances differ.
 */
export function pauseAfter(awayMs: number): number {
  return Math.min(LONGEST_PAUSE_MS, SHORTEST_PAUSE_MS + awayMs / 10) * (0.5 + Math.random() / 2)
}

/** Ends early when no call waits any more, and does not keep the process alive. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms).unref()
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
  })
}

export interface LaneOptions {
  /** Name of the server, for messages. */
  readonly name: string
  readonly connect: (limits: ConnectLimits) => Promise<Connection>
  readonly timeoutMs: number
}

interface Waiter {
  readonly resolve: (wire: Wire) => void
  readonly reject: (error: unknown) => void
}

/** The connection for commands to one server. It is opened by the first call, and again after a loss. */
export class Lane {
  readonly #options: LaneOptions
  readonly #waiters = new Set<Waiter>()
  readonly #ending = new AbortController()
  #wire: Wire | null = null
  #isOpening = false
  #awaySince: number | null = null
  #lastError: unknown

  constructor(options: LaneOptions) {
    this.#options = options
  }

  get isClosed(): boolean {
    return this.#ending.signal.aborted
  }

  /** The current connection. */
  get open(): Wire | null {
    return this.#wire?.connection.isOpen ? this.#wire : null
  }

  /** An open connection, before `endsAt` by the monotonic clock. Its error says that nothing was sent. */
  opened(endsAt: number): Promise<Wire> {
    const { name, timeoutMs } = this.#options
    if (this.isClosed) return Promise.reject(closed(name, true))
    return new Promise((resolve, reject) => {
      // It keeps the process alive while a call waits.
      const timer = setTimeout(
        // After a blocked event loop there may be one whose event is still pending.
        () => setImmediate(() => waiter.reject(unreachable(name, this.#lastError, timeoutMs))),
        Math.max(0, endsAt - performance.now()),
      )
      const leave = (): void => {
        clearTimeout(timer)
        this.#waiters.delete(waiter)
      }
      const waiter: Waiter = {
        resolve: (wire) => {
          leave()
          resolve(wire)
        },
        reject: (error) => {
          leave()
          reject(error)
        },
      }
      this.#waiters.add(waiter)
      if (!this.#isOpening) void this.#tryToOpen()
    })
  }

  /** The server is not the wanted one: the next call looks for another. False: it was dropped already. */
  retire(wire: Wire): boolean {
    wire.retire()
    if (this.#wire !== wire) return false
    this.#wire = null
    return true
  }

  close(): void {
    this.#ending.abort()
    for (const waiter of this.#waiters) waiter.reject(closed(this.#options.name, true))
    this.#wire?.connection.destroy()
    this.#wire = null
  }

  /** Repeats until it works, or no call waits any more. */
  async #tryToOpen(): Promise<void> {
    this.#isOpening = true
    while (this.#waiters.size > 0) {
      try {
        const wire = new Wire(await this.#connect())
        this.#wire = wire
        this.#awaySince = null
        this.#lastError = undefined
        for (const waiter of this.#waiters) waiter.resolve(wire)
        break
      } catch (error) {
        this.#lastError = error
        this.#awaySince ??= performance.now()
        if (!isHopeless(error)) await pause(pauseAfter(performance.now() - this.#awaySince), this.#ending.signal)
        else for (const waiter of this.#waiters) waiter.reject(translate(error, this.#options.name, 'connecting'))
      }
    }
    this.#isOpening = false
  }

  async #connect(): Promise<Connection> {
    const { timeoutMs } = this.#options
    // A call has time for two attempts, if it has time at all.
    const limits = {
      timeoutMs: Math.max(timeoutMs / 2, Math.min(timeoutMs, SHORTEST_TRY_MS)),
      signal: this.#ending.signal,
    }
    const connection = await this.#options.connect(limits)
    await greet(connection, limits)
    if (!this.isClosed && connection.isOpen) return connection
    connection.destroy()
    throw new Error('it was closed at once')
  }
}

/**
 * A server that is full, starting or paused lets clients connect, and tells them later, or not at all. Here it is certain that
 * nothing of ours was sent.
 */
export async function greet(connection: Connection, limits: ConnectLimits): Promise<void> {
  try {
    await within(connection.send('ping', []), limits.timeoutMs, () => new Error('no answer to the first command'))
  } catch (error) {
    // An error about missing rights is an answer.
    if (replyCodeOf(error) === 'NOPERM') return
    connection.destroy()
    throw error
  }
}

/** The result of `promise`, or a rejection with the error of `late` when it takes longer. */
export function within<Value>(promise: Promise<Value>, ms: number, late: () => Error): Promise<Value> {
  return new Promise((resolve, reject) => {
    // After a blocked event loop the answer may have arrived unread: read it before deciding.
    const timer = setTimeout(() => {
      immediate = setImmediate(() => reject(late()))
    }, ms)
    let immediate: NodeJS.Immediate | undefined
    const stop = (): void => {
      clearTimeout(timer)
      clearImmediate(immediate)
    }
    promise.then(
      (value) => {
        stop()
        resolve(value)
      },
      (error) => {
        stop()
        reject(error)
      },
    )
  })
}
