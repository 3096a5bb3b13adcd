import { aliveChannel } from './keys.ts'
import type { Link, Session } from './link.ts'

/** Longest duration of a probe. */
const PROBE_MS = 3_000
/** Pause between two looks, while peers hold runs. */
const LOOK_MS = 500

/** How many times a new peer is checked: it may not listen yet. */
const MEETINGS = 3

/**
 * Tells whether the process of an instance still lives: its session listens to its own channel, and the server knows at once when
 * the connection ends. Only a hint, since connections end for other reasons too.
 */
export class Liveness {
  readonly #link: Pick<Link, 'session'>
  readonly #namespace: string
  readonly #held = new Map<string, () => void>()
  /** Instances that were seen listening: one that never listened proves nothing by not listening. */
  readonly #seen = new Set<string>()
  /** How often new peers were checked before they held runs. */
  #met = new Map<string, number>()
  #session: Session | null = null
  #isClosed = false

  constructor(link: Pick<Link, 'session'>, namespace: string) {
    this.#link = link
    this.#namespace = namespace
  }

  /** Listen for the life of the process. Harmless if it already listens. */
  async hold(instance: string): Promise<void> {
    await this.#connect()
    if (this.#held.has(instance)) return
    const stop = await this.#session!.listen(aliveChannel(this.#namespace, instance), () => {})
    this.#held.set(instance, stop)
  }

  /** What a lost server knew proves nothing about instances that have yet to reconnect. */
  async #connect(): Promise<void> {
    if (this.#session !== null) return
    this.#session = await this.#link.session()
    this.#session.onChange(() => this.#seen.clear())
  }

  release(instance: string): void {
    this.#held.get(instance)?.()
    this.#held.delete(instance)
  }

  /** Whether peers would notice its end. */
  isHolding(): boolean {
    return this.#session?.isListening() === true
  }

  /** The instances whose connection has ended. Asks nothing while none of them holds runs. */
  async probe(instances: readonly string[], isBusy: (instance: string) => boolean): Promise<string[]> {
    const endsAt = performance.now() + PROBE_MS
    await this.#meet(instances)
    for (;;) {
      const busy = instances.filter(isBusy)
      // A process that is cut off itself sees no peer, and can't tell.
      if (busy.length === 0 || this.#session?.isListening() !== true) return []
      const counts = await this.#listenersOf(busy)
      if (counts === null) return []
      const gone = busy.filter((id, index) => counts[index] === 0 && this.#seen.has(id))
      for (const [index, id] of busy.entries()) if (counts[index]! > 0) this.#seen.add(id)
      if (gone.length > 0) return gone
      if (performance.now() + LOOK_MS >= endsAt) return []
      await new Promise<void>((resolve) => setTimeout(resolve, LOOK_MS).unref())
      if (this.#isClosed) return []
    }
  }

  /**
   * Checks new peers before they hold runs: they may die right after their first claim, and one that was never seen proves
   * nothing.
   */
  async #meet(instances: readonly string[]): Promise<void> {
    const met = new Map(instances.map((id) => [id, this.#met.get(id) ?? 0]))
    const strangers = instances.filter((id) => met.get(id)! < MEETINGS && !this.#seen.has(id))
    this.#met = met
    if (strangers.length === 0 || this.#session?.isListening() !== true) return
    for (const id of strangers) met.set(id, met.get(id)! + 1)
    const counts = await this.#listenersOf(strangers)
    if (counts === null) return
    for (const [index, id] of strangers.entries()) if (counts[index]! > 0) this.#seen.add(id)
  }

  /**
   * `null`: it was closed meanwhile, or the server that answered does not see this process either: commands go to another server
   * than the one that it listens to.
   */
  async #listenersOf(instances: readonly string[]): Promise<readonly number[] | null> {
    try {
      const asked = [...instances, ...this.#held.keys()]
      const counts = await this.#session!.listeners(asked.map((id) => aliveChannel(this.#namespace, id)))
      return counts.slice(instances.length).includes(0) ? null : counts
    } catch (error) {
      if (this.#isClosed) return null
      throw error
    }
  }

  close(): void {
    this.#isClosed = true
    this.#session = null
    this.#held.clear()
  }
}
