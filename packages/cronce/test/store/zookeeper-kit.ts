import { ServerClock } from '../../src/store/kv/server-clock.ts'
import { parseUrl } from '../../src/store/zookeeper/address.ts'
import type { ZooKeeperDriver } from '../../src/store/zookeeper/driver.ts'
import type { Target } from '../../src/store/zookeeper/session.ts'
import { openDriver } from '../../src/store/zookeeper/zookeeper.ts'

export function targetAt(url: string, timeoutMs = 5_000): Target {
  const { servers } = parseUrl(url)
  return { name: 'ZooKeeper', servers, tls: null, user: null, timeoutMs }
}

/** A driver without a store. */
export function driverAt(url: string, namespace: string, timeoutMs?: number): Promise<ZooKeeperDriver> {
  return openDriver(targetAt(url, timeoutMs), new ServerClock(() => performance.now()), 'cronce', namespace)
}
