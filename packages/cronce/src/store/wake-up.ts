import type { WatchHint } from './store.ts'

/** How long an instance counts as holding runs after its last report. */
const BUSY_MS = 60_000
/** Any client of the server can write to the channel, without any right on the tables: its effect here is bounded. */
const BUSY_MOST = 10_000
const NAME_LONGEST = 200
/** Number of wake-ups allowed at once after a pause, and one per interval after that. */
const BURST = 20
const INTERVAL_MS = 50

const BUSY = /^(wake,)?busy:(.*)$/s

type Listener = (hint: WatchHint) => void

/** A connection that receives messages of peers, for as long as the process wants. */
export interface Hearing {
  listen(channel: string, onMessage: (payload: string) => void): Promise<() => void>
  onChange(listener: (state: 'lost' | 'back') => void): () => void
}

/** Lets one process wake the others, and report that it holds runs. Only a hint. Watching does not keep the process alive. */
export class WakeUp {
  /** The channel on which peers listen. */
  readonly channel: string
  /** The message that wakes the peers. Its sender ignores it. */
  readonly payload: string = crypto.randomUUID()
  readonly #connect: () => Promise<Hearing | null>
  readonly #onWake: () => void
  readonly #listeners = new Set<Listener>()
  /** Longest ago first. */
  readonly #busyAt = new Map<string, number>()
  /** Until then, wake-ups that came so far are accounted for, one interval each. */
  #spentUntil = Number.NEGATIVE_INFINITY
  #pending: NodeJS.Timeout | null = null
  #stop: (() => void) | null = null
  #isClosed = false

  /** `null`: nothing is received. `onWake` is called before the watchers. */
  constructor(channel: string, connect: () => Promise<Hearing | null>, onWake: () => void = () => {}) {
    this.channel = channel
    this.#connect = connect
    this.#onWake = onWake
  }

  /** Reports that this instance has begun to hold runs; with `wake`, it also wakes. */
  busyPayload(instance: string, wake: boolean): string {
    return `${wake ? 'wake,' : ''}busy:${instance}`
  }

  markBusy(instance: string): void {
    if (instance.length > NAME_LONGEST) return
    this.#busyAt.delete(instance)
    this.#busyAt.set(instance, performance.now())
    for (const oldest of this.#busyAt.keys()) {
      if (this.#busyAt.size <= BUSY_MOST && this.isBusy(oldest)) return
      this.#busyAt.delete(oldest)
    }
  }

  isBusy(instance: string): boolean {
    return performance.now() - (this.#busyAt.get(instance) ?? Number.NEGATIVE_INFINITY) < BUSY_MS
  }

  watch(listener: Listener): () => void {
    // The same function may be passed twice.
    const own: Listener = (hint) => listener(hint)
    this.#listeners.add(own)
    if (this.#listeners.size === 1) void this.#start()
    return () => {
      this.#listeners.delete(own)
    }
  }

  /** Wake the watchers of this process: the server's message may come later, or never. */
  ring(hint: WatchHint = 'wake'): void {
    this.#tellAll(hint)
  }

  close(): void {
    this.#isClosed = true
    this.#listeners.clear()
    if (this.#pending !== null) clearTimeout(this.#pending)
    this.#pending = null
    this.#stop?.()
    this.#stop = null
  }

  async #start(): Promise<void> {
    if (this.#stop !== null) return
    let stop = (): void => {}
    this.#stop = () => stop()
    const session = await this.#connect().catch(() => null)
    if (session === null || this.#isClosed) return
    const stopChange = session.onChange((change) => this.#tellAll(change === 'lost' ? 'doubt' : 'wake'))
    const stopListening = await session.listen(this.channel, (payload) => this.#hear(payload))
    stop = () => {
      stopChange()
      stopListening()
    }
    if (this.#isClosed) stop()
  }

  #hear(payload: string): void {
    if (payload === this.payload) return
    const [, wakes, instance] = BUSY.exec(payload) ?? []
    if (instance !== undefined) this.markBusy(instance)
    if (instance === undefined || wakes !== undefined) this.#wake()
  }

  /** At once, or as soon as the rate allows it: the last of many is never lost. */
  #wake(): void {
    if (this.#pending !== null) return
    const now = performance.now()
    this.#spentUntil = Math.max(this.#spentUntil, now - BURST * INTERVAL_MS) + INTERVAL_MS
    if (this.#spentUntil <= now) {
      this.#tellAll('wake')
      return
    }
    this.#pending = setTimeout(() => {
      this.#pending = null
      this.#tellAll('wake')
    }, this.#spentUntil - now)
    this.#pending.unref()
  }

  /** In a separate turn: an error of a listener must not surface in another caller's write. */
  #tellAll(hint: WatchHint): void {
    this.#onWake()
    setImmediate(() => {
      for (const listener of this.#listeners) {
        try {
          listener(hint)
        } catch {
          // The listener was called nevertheless, and an error here must not end the process.
        }
      }
    })
  }
}
