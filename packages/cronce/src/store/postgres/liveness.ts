import { createHash } from 'node:crypto'
import type { Database, Session } from './database.ts'

/** The longest that a probe waits for somebody to die. */
const PROBE_MS = 3_000

/** Who has begun to hold runs is watched after at most this time. */
const LOOK_MS = 500

/**
 * Tells whether the process of an instance still lives: its session holds a lock, which the server releases with the session.
 * Only a hint, since sessions end for other reasons too. Where there is no session, nobody is known to be gone.
 */
export class Liveness {
  readonly #database: Pick<Database, 'session'>
  readonly #scope: string
  #session: Session | null = null
  #isClosed = false

  constructor(database: Pick<Database, 'session'>, schema: string, namespace: string) {
    this.#database = database
    this.#scope = JSON.stringify([schema, namespace])
  }

  /** Hold the lock of this instance for as long as the process lives. Harmless if it is held already. */
  async hold(instance: string): Promise<void> {
    this.#session = await this.#database.session()
    await this.#session?.hold(this.#lockOf(instance))
  }

  async release(instance: string): Promise<void> {
    await this.#session?.release(this.#lockOf(instance))
  }

  /** Whether the others would notice its end; `null` where that is not to be had. */
  isHolding(): boolean | null {
    return this.#session === null ? null : this.#session.isHolding()
  }

  /**
   * Those whose session has ended. Waits for that, but only for instances that hold runs: a wait keeps the server from cleaning up
   * behind everybody. Nothing is asked while none does.
   */
  async probe(instances: readonly string[], isBusy: (instance: string) => boolean): Promise<string[]> {
    const endsAt = performance.now() + PROBE_MS
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

  close(): void {
    this.#isClosed = true
    this.#session = null
  }

  #lockOf(instance: string): bigint {
    return createHash('sha256').update(`${this.#scope} ${instance}`).digest().readBigInt64BE()
  }
}
