import type { KvDriver } from './driver.ts'
import type { Identity } from './identity.ts'
import type { Keys } from './keys.ts'
import type { StoreTime } from './time.ts'

/** What all parts of one opening share. */
export interface Context {
  readonly driver: KvDriver
  readonly keys: Keys
  readonly time: StoreTime
  readonly identity: Identity
}
