/** The time of a whole fleet: it advances on request, from one planned event to the next. */
export interface World {
  /** Milliseconds since it began: the time of no clock in particular. */
  now(): number
  /**
   * Calls this at that time; calls for the same time run in the order of their requests. Returns a function that
   * cancels it.
   */
  at(time: number, happen: () => void): () => void
  after(ms: number): Promise<void>
  /** Lets time pass. The consequences of each event have run to where they wait again before the next event. */
  advance(ms: number): Promise<void>
  /** Let time pass until this is settled; an error if it is not within `limitMs`. */
  until<Value>(promise: Promise<Value>, limitMs?: number): Promise<Value>
  /** How many things have happened: two runs of one seed must agree on it. */
  readonly happened: number
}

interface Happening {
  readonly time: number
  readonly number: number
  happen: (() => void) | null
}

const A_DAY = 86_400_000

export function createWorld(): World {
  let now = 0
  let asked = 0
  let happened = 0
  const heap: Happening[] = []

  const next = async (): Promise<void> => {
    const { time, happen } = take(heap)
    // Called off: most of what is waited for with a deadline comes before it.
    if (happen === null) return
    now = Math.max(now, time)
    happened++
    happen()
    await idle()
  }
  const at = (time: number, happen: () => void): (() => void) => {
    const happening: Happening = { time, number: asked++, happen }
    put(heap, happening)
    return () => {
      happening.happen = null
    }
  }

  return {
    now: () => now,
    at,
    after: (ms) => new Promise((resolve) => void at(now + ms, resolve)),
    async advance(ms) {
      const end = now + ms
      await idle()
      while (heap.length > 0 && heap[0]!.time <= end) await next()
      now = Math.max(now, end)
      await idle()
    },
    async until(promise, limitMs = A_DAY) {
      const end = now + limitMs
      let isSettled = false
      const settle = (): void => {
        isSettled = true
      }
      promise.then(settle, settle)
      await idle()
      while (!isSettled) {
        if (heap.length === 0 || heap[0]!.time > end) throw new Error('Nothing that is to happen would settle this.')
        await next()
      }
      return promise
    },
    get happened() {
      return happened
    },
  }
}

/**
 * Promises that wait for nothing else have all been followed: ticks have their turn when no promise has anything left to do.
 * Nothing here waits for anything real.
 */
function idle(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve))
}

function isBefore(one: Happening, other: Happening): boolean {
  return one.time < other.time || (one.time === other.time && one.number < other.number)
}

function put(heap: Happening[], happening: Happening): void {
  let at = heap.length
  for (; at > 0; at = (at - 1) >> 1) {
    const parent = heap[(at - 1) >> 1]!
    if (isBefore(parent, happening)) break
    heap[at] = parent
  }
  heap[at] = happening
}

function take(heap: Happening[]): Happening {
  const first = heap[0]!
  const last = heap.pop()!
  if (heap.length === 0) return first
  let at = 0
  for (let child = 1; child < heap.length; child = 2 * at + 1) {
    if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++
    if (isBefore(last, heap[child]!)) break
    heap[at] = heap[child]!
    at = child
  }
  heap[at] = last
  return first
}

/** Uniform in [0, 1), the same for the same seed. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
