import type { Clock } from '../../src/clock.ts'
import type { World } from './world.ts'

/** How the clocks of a process differ from the world's. */
export interface ClockFaults {
  /** How far its wall clock is ahead. */
  readonly skewMs?: number | undefined
  /** How fast its clocks run: 1.01 gains a second in a hundred. */
  readonly rate?: number | undefined
}

/**
 * `stopped`: as SIGSTOP does. `suspended`: the machine sleeps, and the monotonic clock stands still meanwhile. `frozen`: the
 * hypervisor pauses the machine, and only its wall clock, corrected afterwards, shows it.
 */
export type PauseKind = 'stopped' | 'suspended' | 'frozen'

/**
 * A process as the outside sees it: things are delivered to it (the end of a sleep, an answer), unless it is paused, when they
 * wait, or has crashed, when they are lost.
 */
export interface Process {
  readonly clock: Clock
  readonly state: 'runs' | 'paused' | 'crashed'
  /** Stop delivering. */
  pause(how?: PauseKind): void
  resume(): void
  /** At once, or instead of the so-manieth thing that is delivered from now on: wherever it waits then. */
  crash(later?: { readonly deliveries: number; readonly crashed: () => void }): void
  /** Holds the event loop for `ms`, then continues before anything that came in meanwhile. For handlers. */
  block(ms: number, how?: PauseKind): Promise<void>
  /** Set its wall clock. */
  step(ms: number): void
  /** Resolves when this can be delivered: at once, when it is resumed, or never. */
  delivered(): Promise<void>
  /** Called when this can be delivered. */
  deliver(happen: () => void): void
  /** Sleeps that have not ended. */
  readonly sleeping: number
}

/** A new promise each time: a shared one would keep every waiter in memory. */
export function never(): Promise<never> {
  return new Promise(() => {})
}

export function createProcess(world: World, epoch: number, { skewMs = 0, rate = 1 }: ClockFaults = {}): Process {
  let state: Process['state'] = 'runs'
  let stepped = 0
  let suspendedAt: number | null = null
  let suspendedMs = 0
  let frozenAt: number | null = null
  let frozenMs = 0
  let waiting: (() => void)[] = []
  let crashing = { deliveries: Number.POSITIVE_INFINITY, crashed: (): void => {} }
  let sleeping = 0

  const deliver = (happen: () => void): void => {
    if (state === 'paused') waiting.push(happen)
    if (state !== 'runs') return
    if (--crashing.deliveries > 0) happen()
    else {
      crash()
      crashing.crashed()
    }
  }
  const crash = (): void => {
    state = 'crashed'
    waiting = []
  }
  const mono = (): number => ((suspendedAt ?? world.now()) - suspendedMs) * rate
  const boot = (): number => ((frozenAt ?? world.now()) - frozenMs) * rate
  const sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    if (state === 'crashed') return never()
    if (ms <= 0 || signal?.aborted === true) return Promise.resolve()
    const end = mono() + ms
    sleeping++
    return new Promise((resolve) => {
      let isOver = false
      let callOff = (): void => {}
      const wake = (): void => {
        if (!isOver) sleeping--
        isOver = true
        callOff()
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      const arm = (): void => {
        callOff = world.at(world.now() + Math.ceil((end - mono()) / rate), () => deliver(ring))
      }
      const ring = (): void => {
        if (isOver) return
        if (mono() < end) arm()
        else wake()
      }
      signal?.addEventListener('abort', wake, { once: true })
      arm()
    })
  }
  const resume = (): void => {
    if (state !== 'paused') return
    state = 'runs'
    if (suspendedAt !== null) suspendedMs += world.now() - suspendedAt
    suspendedAt = null
    if (frozenAt !== null) frozenMs += world.now() - frozenAt
    frozenAt = null
    const held = waiting
    waiting = []
    // In order, as an event loop would; a further pause in between holds the rest.
    for (const happen of held) world.at(world.now(), () => deliver(happen))
  }
  const pause: Process['pause'] = (how = 'stopped') => {
    if (state !== 'runs') return
    state = 'paused'
    if (how !== 'stopped') suspendedAt = world.now()
    if (how === 'frozen') frozenAt = world.now()
  }
  return {
    clock: { wall: () => Math.floor(epoch + skewMs + stepped + world.now() * rate), mono, boot, sleep, pause: sleep },
    get state() {
      return state
    },
    pause,
    resume,
    crash(later) {
      if (later === undefined) crash()
      else crashing = { ...later }
    },
    async block(ms, how) {
      if (state !== 'runs') return
      pause(how)
      await world.after(ms)
      resume()
    },
    step(ms) {
      stepped += ms
    },
    delivered: () => new Promise((resolve) => deliver(resolve)),
    deliver,
    get sleeping() {
      return sleeping
    },
  }
}
