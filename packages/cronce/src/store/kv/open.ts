import type { OpenOptions, Store } from '../store.ts'
import type { KvDriver } from './driver.ts'
import { Identity } from './identity.ts'
import { Keys } from './keys.ts'
import { KvStore } from './store.ts'
import { StoreTime } from './time.ts'

export interface KvOpening extends Pick<OpenOptions, 'namespace' | 'adopt'> {
  readonly prefix: string
  readonly onClose: () => Promise<void>
}

/** A store on anything that has ordered keys, guarded writes and leases: see `KvDriver`. */
export async function openKvStore(driver: KvDriver, opening: KvOpening): Promise<Store<never>> {
  const { namespace, prefix, adopt, onClose } = opening
  const keys = new Keys(prefix, namespace)
  const identity = await Identity.open(driver, keys, { adopt })
  const store = new KvStore({ driver, keys, identity, time: new StoreTime(driver) }, onClose)
  if (identity.isAdopted) await store.buryAll()
  return store
}
