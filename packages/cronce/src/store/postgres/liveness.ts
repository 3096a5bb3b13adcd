import { createHash } from 'node:crypto'
import type { Database, Session } from './database.ts'

/** Longest wait of a probe for a session to end. */
const PROBE_MS = 3_000

/** Longest time until an instance that begins to hold runs is watched. */
const LOOK_MS = 500

/** How many times the lock of a new peer is checked: it may not be held yet. */
const MEETINGS = 3

/**
 * Tells whether the process of an instance still lives: its session holds a lock, which the server releases with the session.
 * Only a hint, since sessions end for other reasons too. Without a session, no instance is reported dead.
 */
export class Liveness {
  readonly #database: Pick<Database, 'session'>
  readonly #scope: string
  #session: Session | null = null
  /** How often the locks of peers were checked before they held runs. */
  #met = new Map<string, number>()
  #isClosed = false

  constructor(database: Pick<Database, 'session'>, schema: string, namespace: string) {
    this.#database = database
    this.#scope = JSON.stringify([schema, namespace])
  }

  /** Hold the lock of this instance for the life of the process. Harmless if it is already held. */
  async hold(instance: string): Promise<void> {
    this.#session = await this.#database.session()
    await this.#session?.hold(this.#lockOf(instance))
  }

  async release(instance: string): Promise<void> {
    await this.#session?.release(this.#lockOf(instance))
  }

  /** Whether peers would notice its end; `null`: not available. */
  isHolding(): boolean | null {
    return this.#session === null ? null : this.#session.isHolding()
  }

  /**
   * The instances whose session has ended. Waits for that, but only for instances that hold runs: a wait keeps the server from
   * vacuuming. If no instance holds runs, it asks nothing.
   */
  async probe(instances: readonly string[], isBusy: (instance: string) => boolean): Promise<string[]> {
    const endsAt = performance.now() + PROBE_MS
    await this.#meet(instances)
    do {
      const busy = new Map(instances.filter(isBusy).map((instance) => [this.#lockOf(instance), instance]))
      if (busy.size === 0) return []
      const session = await this.#database.session()
      if (session === null || !session.isHolding()) return []
      const freed = await session.freed([...busy.keys()], LOOK_MS)
      if (freed.length > 0) return freed.map((lock) => busy.get(lock)!)
    } while (performance.now() < endsAt && !this.#isClosed)
    return []
  }

  /**
   * A lock that was never seen held proves nothing when it is free. So the locks of new peers are checked before they hold runs:
   * they may die right after their first claim.
   */
  async #meet(instances: readonly string[]): Promise<void> {
    const met = new Map(instances.map((instance) => [instance, this.#met.get(instance) ?? 0]))
    const strangers = instances.filter((instance) => met.get(instance)! < MEETINGS)
    this.#met = met
    if (strangers.length === 0) return
    const session = await this.#database.session()
    if (session === null || !session.isHolding()) return
    for (const instance of strangers) met.set(instance, met.get(instance)! + 1)
    await session.freed(
      strangers.map((instance) => this.#lockOf(instance)),
      0,
    )
  }

  close(): void {
    this.#isClosed = true
    this.#session = null
  }

  #lockOf(instance: string): bigint {
    return createHash('sha256').update(`${this.#scope} ${instance}`).digest().readBigInt64BE()
  }
}
