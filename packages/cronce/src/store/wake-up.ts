import type { WatchHint } from './store.ts'

/** So long an instance is taken for one that holds runs, after it was last said to. */
const BUSY_MS = 60_000

const BUSY = /^(wake,)?busy:(.*)$/s

type Listener = (hint: WatchHint) => void

/** A connection that hears what others tell, for as long as the process wants it to. */
export interface Hearing {
  listen(channel: string, onMessage: (payload: string) => void): Promise<() => void>
  onChange(listener: (state: 'lost' | 'back') => void): () => void
}

/** Lets one process wake the others, and tell them that it holds runs. Only a hint. Watching keeps no process from ending. */
export class WakeUp {
  /** Where to tell the others. */
  readonly channel: string
  /** What to tell them, to wake. Whoever sent it has heard of it already. */
  readonly payload: string = crypto.randomUUID()
  readonly #connect: () => Promise<Hearing | null>
  readonly #onWake: () => void
  readonly #listeners = new Set<Listener>()
  readonly #busyAt = new Map<string, number>()
  #stop: (() => void) | null = null
  #isClosed = false

  /** `null`: nothing is to be heard. `onWake` comes before those who watch. */
  constructor(channel: string, connect: () => Promise<Hearing | null>, onWake: () => void = () => {}) {
    this.channel = channel
    this.#connect = connect
    this.#onWake = onWake
  }

  /** Says that this instance has begun to hold runs; with `wake`, it also wakes. */
  busyPayload(instance: string, wake: boolean): string {
    return `${wake ? 'wake,' : ''}busy:${instance}`
  }

  markBusy(instance: string): void {
    this.#busyAt.set(instance, performance.now())
  }

  isBusy(instance: string): boolean {
    return performance.now() - (this.#busyAt.get(instance) ?? Number.NEGATIVE_INFINITY) < BUSY_MS
  }

  watch(listener: Listener): () => void {
    // The same function may be handed in twice.
    const own: Listener = (hint) => listener(hint)
    this.#listeners.add(own)
    if (this.#listeners.size === 1) void this.#start()
    return () => {
      this.#listeners.delete(own)
    }
  }

  /** Tell those of this process: what the server tells them may come later, or never. */
  ring(hint: WatchHint = 'wake'): void {
    this.#tellAll(hint)
  }

  close(): void {
    this.#isClosed = true
    this.#listeners.clear()
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
    if (instance === undefined || wakes !== undefined) this.#tellAll('wake')
    this.#forget()
  }

  #forget(): void {
    for (const instance of this.#busyAt.keys()) if (!this.isBusy(instance)) this.#busyAt.delete(instance)
  }

  /** In a turn of its own: what a listener throws must not come up in somebody else's write. */
  #tellAll(hint: WatchHint): void {
    this.#onWake()
    setImmediate(() => {
      for (const listener of this.#listeners) {
        try {
          listener(hint)
        } catch {
          // It has been told all the same, and nothing here may end the process.
        }
      }
    })
  }
}
