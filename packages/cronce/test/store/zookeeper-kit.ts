import { decodeNumber, encodeNumber, Keys } from '../../src/store/kv/keys.ts'
import { ServerClock } from '../../src/store/kv/server-clock.ts'
import type { OpenOptions } from '../../src/store/store.ts'
import { parseUrl } from '../../src/store/zookeeper/address.ts'
import type { ZooKeeperDriver } from '../../src/store/zookeeper/driver.ts'
import type { Target } from '../../src/store/zookeeper/session.ts'
import { openDriver } from '../../src/store/zookeeper/zookeeper.ts'

export const OPENING: OpenOptions = { namespace: 'test', adopt: false, production: false, warn: () => {} }

export function targetAt(url: string, timeoutMs = 5_000): Target {
  const { servers } = parseUrl(url)
  return { name: 'ZooKeeper', servers, tls: null, user: null, timeoutMs }
}

/** A driver without a store. */
export function driverAt(url: string, namespace: string, timeoutMs?: number): Promise<ZooKeeperDriver> {
  return openDriver(targetAt(url, timeoutMs), new ServerClock(() => performance.now()), 'cronce', namespace)
}

/** Make all instances that are over, over for this much longer. */
export async function ageInstances(url: string, namespace: string, ms: number): Promise<void> {
  const driver = await driverAt(url, namespace)
  const keys = new Keys('cronce', namespace)
  const { found } = await driver.read([{ ...keys.below('gt'), keysOnly: true }])
  for (const { key } of found[0]!.entries) {
    const [, endedAt, name] = keys.parts(key)
    const older = { key: keys.key('gt', encodeNumber(decodeNumber(endedAt!) - ms), name!), value: '' }
    await driver.commit({ guards: [], puts: [older], groups: [{ guards: [], puts: [], deletes: [key] }] })
  }
  await driver.close()
}
