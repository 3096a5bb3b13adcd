import type { Clock } from '../clock.ts'

/** Time that stands still until the test moves it. */
export interface VirtualClock extends Clock {
  /** Move on by so much, stopping at every sleeper on the way, and letting what it wakes do its work before time goes on. */
  advance(ms: number): Promise<void>
  /** Set the wall clock without time passing, as an administrator or NTP would. */
  step(ms: number): void
  /** How many wait for time to pass. */
  readonly sleeping: number
}

interface Sleeper {
  readonly at: number
  readonly number: number
  readonly wake: () => void
}

/** After this many turns of the event loop time moves on although a caller still pauses: it may keep failing until it does. */
const MAX_PAUSE_TURNS = 10_000

/** `settled`: resolves when what was woken has done all it can at this moment. */
export function virtualClock(start: number, settled: () => Promise<void> = turn): VirtualClock {
  return new ManualClock(start, settled)
}

/** Methods are properties of the object: the engine calls `sleep` and the readings without it, and tests spread a clock. */
class ManualClock implements VirtualClock {
  readonly #settled: () => Promise<void>
  #mono = 0
  /** Between the wall clock and the monotonic one. */
  #offset: number
  #count = 0
  #sleepers: Sleeper[] = []
  #pausing = 0

  constructor(start: number, settled: () => Promise<void>) {
    this.#offset = start
    this.#settled = settled
  }

  get sleeping(): number {
    return this.#sleepers.length
  }

  readonly wall = (): number => this.#mono + this.#offset

  readonly mono = (): number => this.#mono

  readonly boot = (): number => this.#mono

  readonly sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    if (ms <= 0 || signal?.aborted === true) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper)
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      // Whole milliseconds: fractions would only make longer logs.
      const sleeper: Sleeper = { at: this.#mono + Math.ceil(ms), number: this.#count++, wake }
      this.#sleepers.push(sleeper)
      signal?.addEventListener('abort', wake, { once: true })
    })
  }

  /** One turn of the event loop for each millisecond: takes no virtual time, and keeps competitors apart. */
  readonly pause = async (ms: number, signal?: AbortSignal): Promise<void> => {
    this.#pausing++
    for (let left = ms; left > 0 && signal?.aborted !== true; left--) await nextTurn()
    this.#pausing--
  }

  readonly step = (ms: number): void => {
    this.#offset += ms
  }

  readonly advance = async (ms: number): Promise<void> => {
    const target = this.#mono + ms
    await this.#allSettled()
    for (let next = this.#earliest(); next !== undefined && next.at <= target; next = this.#earliest()) {
      this.#mono = Math.max(this.#mono, next.at)
      next.wake()
      await this.#allSettled()
    }
    this.#mono = Math.max(this.#mono, target)
    await this.#allSettled()
  }

  #earliest(): Sleeper | undefined {
    return this.#sleepers.reduce<Sleeper | undefined>(
      (first, next) =>
        first === undefined || next.at < first.at || (next.at === first.at && next.number < first.number)
          ? next
          : first,
      undefined,
    )
  }

  /** All work of this moment is done, further attempts after a pause included. */
  async #allSettled(): Promise<void> {
    await this.#settled()
    for (let turns = 0; this.#pausing > 0 && turns < MAX_PAUSE_TURNS; turns++) {
      await nextTurn()
      if (this.#pausing === 0) await this.#settled()
    }
  }
}

/** Everything that waits for nothing but the event loop has run. */
export async function turn(): Promise<void> {
  for (let turns = 0; turns < 3; turns++) await nextTurn()
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
