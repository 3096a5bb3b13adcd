import type { KvDriver, Put } from './driver.ts'
import { encodeName, type Keys } from './keys.ts'
import type { StoreTime } from './time.ts'

interface Lease {
  readonly id: string
  readonly leaseMs: number
  /** When the last keep-alive was sent. */
  keptAt: number
}

/** A lease outlasts what it stands for, so that a claim renews without a keep-alive of its own: see `KEPT_FOR`. */
const TTL_FACTOR = 1.15
/** As a fraction of the lease. */
const KEPT_FOR = 0.1

/** The server's leases of instances: they end by its clock, whatever the clocks of processes say. */
export class Leases {
  readonly #driver: KvDriver
  readonly #keys: Keys
  readonly #time: StoreTime
  readonly #leases = new Map<string, Lease>()

  constructor(driver: KvDriver, keys: Keys, time: StoreTime) {
    this.#driver = driver
    this.#keys = keys
    this.#time = time
  }

  /** What a renewal writes. Its lease lasts for at least `leaseMs` from now on. */
  async renewal(instance: string, leaseMs: number): Promise<Put[]> {
    const lease = await this.#keep(instance, leaseMs)
    const name = encodeName(instance)
    return [
      { key: this.#keys.key('iv', name), value: String(this.#time.now()) },
      { key: this.#keys.key('ie', name), value: '', lease },
    ]
  }

  /** It has ended, or its instance has. */
  forget(instance: string): void {
    this.#leases.delete(instance)
  }

  async #keep(instance: string, leaseMs: number): Promise<string> {
    const known = this.#leases.get(instance)
    const now = performance.now()
    if (known !== undefined && known.leaseMs === leaseMs) {
      if (now - known.keptAt < leaseMs * KEPT_FOR) return known.id
      if (await this.#driver.keepAlive(known.id)) {
        known.keptAt = now
        return known.id
      }
    }
    const lease = { id: await this.#driver.grant(leaseMs * TTL_FACTOR), leaseMs, keptAt: now }
    this.#leases.set(instance, lease)
    return lease.id
  }
}
