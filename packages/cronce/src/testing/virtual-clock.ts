import type { Clock } from '../clock.ts'

/** Time that stands still until it is told to move. */
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

/** Time moves on although something still pauses: it fails again and again, and only time may help. */
const PAUSES_LONGEST_TURNS = 10_000

/** `settled`: resolves when what was woken has done all it can at this moment. */
export function virtualClock(start: number, settled: () => Promise<void> = turn): VirtualClock {
  let mono = 0
  let offset = start
  let count = 0
  let sleepers: Sleeper[] = []
  let pausing = 0

  const sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    if (ms <= 0 || signal?.aborted === true) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = (): void => {
        sleepers = sleepers.filter((other) => other !== sleeper)
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      // Whole milliseconds: fractions would only make longer logs.
      const sleeper: Sleeper = { at: mono + Math.ceil(ms), number: count++, wake }
      sleepers.push(sleeper)
      signal?.addEventListener('abort', wake, { once: true })
    })
  }

  /** One turn of the event loop for each millisecond: takes no virtual time, and keeps competitors apart. */
  const pause = async (ms: number, signal?: AbortSignal): Promise<void> => {
    pausing++
    for (let left = ms; left > 0 && signal?.aborted !== true; left--) await nextTurn()
    pausing--
  }

  const earliest = (): Sleeper | undefined =>
    sleepers.reduce<Sleeper | undefined>(
      (first, next) =>
        first === undefined || next.at < first.at || (next.at === first.at && next.number < first.number)
          ? next
          : first,
      undefined,
    )

  /** All work of this moment is done, further attempts after a pause included. */
  const allSettled = async (): Promise<void> => {
    await settled()
    for (let turns = 0; pausing > 0 && turns < PAUSES_LONGEST_TURNS; turns++) {
      await nextTurn()
      if (pausing === 0) await settled()
    }
  }

  return {
    wall: () => mono + offset,
    mono: () => mono,
    boot: () => mono,
    sleep,
    pause,
    step(ms) {
      offset += ms
    },
    async advance(ms) {
      const target = mono + ms
      await allSettled()
      for (let next = earliest(); next !== undefined && next.at <= target; next = earliest()) {
        mono = Math.max(mono, next.at)
        next.wake()
        await allSettled()
      }
      mono = Math.max(mono, target)
      await allSettled()
    },
    get sleeping() {
      return sleepers.length
    },
  }
}

/** Everything that waits for nothing but the event loop has run. */
export async function turn(): Promise<void> {
  for (let turns = 0; turns < 3; turns++) await nextTurn()
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
