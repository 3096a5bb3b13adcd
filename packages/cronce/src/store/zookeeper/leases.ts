import { StoreError } from '../store-error.ts'
import { ERROR, PING, ZooKeeperError } from './messages.ts'
import { Session, type Target } from './session.ts'

interface Lease {
  readonly session: Session
  usedAt: number
  readonly ttlMs: number
}

/** A lease that was not used for this many times its length has ended long ago. */
const FORGOTTEN_AFTER = 10

/** A lease is a session without pings of its own: it ends unless it is kept alive. */
export class LeaseSessions {
  readonly #target: Target
  readonly #leases = new Map<string, Lease>()

  constructor(target: Target) {
    this.#target = target
  }

  async grant(ttlMs: number): Promise<string> {
    this.#forgetOld()
    const session = new Session(this.#target, { ttlMs, isKept: false })
    await session.send([PING], this.#target.timeoutMs)
    if (session.negotiatedMs < Math.floor(ttlMs)) {
      await session.close(true)
      throw new StoreError(
        'STORE_INVALID',
        `${this.#target.name} allows sessions of at most ${session.negotiatedMs} ms, and the lease needs ${Math.ceil(ttlMs)} ms.`,
        { hint: 'Raise maxSessionTimeout of the servers, or use a shorter lease.' },
      )
    }
    const id = String(session.id)
    this.#leases.set(id, { session, ttlMs, usedAt: performance.now() })
    return id
  }

  /** False: it has ended. */
  async keepAlive(id: string): Promise<boolean> {
    const session = this.sessionOf(id)
    if (session === null) return false
    try {
      await session.send([PING], this.#target.timeoutMs)
      return true
    } catch (error) {
      if (!(error instanceof ZooKeeperError) || error.code !== ERROR.sessionExpired) throw error
      this.#leases.delete(id)
      return false
    }
  }

  /** `null`: it has ended. */
  sessionOf(id: string): Session | null {
    const lease = this.#leases.get(id)
    if (lease === undefined) return null
    lease.usedAt = performance.now()
    return lease.session
  }

  /** The sessions last for their time, as those of a process that was killed would. */
  async close(): Promise<void> {
    for (const { session } of this.#leases.values()) await session.close(false)
    this.#leases.clear()
  }

  #forgetOld(): void {
    const now = performance.now()
    for (const [id, { session, ttlMs, usedAt }] of this.#leases) {
      if (now - usedAt < ttlMs * FORGOTTEN_AFTER) continue
      this.#leases.delete(id)
      void session.close(false)
    }
  }
}
