import { ClockKeeper } from '../../src/store/etcd/clock-keeper.ts'
import { EtcdDriver } from '../../src/store/etcd/driver.ts'
import { Link } from '../../src/store/etcd/link.ts'
import type { KvDriver } from '../../src/store/kv/driver.ts'

import { openKvStore } from '../../src/store/kv/open.ts'
import { ServerClock } from '../../src/store/kv/server-clock.ts'
import type { Store, StoreSource } from '../../src/store/store.ts'
import { OPENING } from './kv-kit.ts'

/** A driver without a store. */
export function driverAt(url: string, timeoutMs = 5_000): KvDriver {
  const link = new Link({ name: 'etcd', endpoints: [url], tls: {}, user: null, timeoutMs })
  const clock = new ServerClock(() => performance.now())
  return new EtcdDriver(link, new ClockKeeper('etcd', clock, () => url, {}), 'kit\0')
}

/** A store in which something else can happen between what a call reads and what it writes. */
export interface RacingStore {
  readonly store: Store<never>
  /** Run it once, before the next commit of this store. */
  beforeCommit(rival: () => Promise<unknown>): void
}

export async function openRacing(url: string, namespace: string): Promise<RacingStore> {
  const driver = await driverWithClock(url)
  let rival: (() => Promise<unknown>) | null = null
  const commit = driver.commit.bind(driver)
  driver.commit = async (given) => {
    const first = rival
    rival = null
    await first?.()
    return commit(given)
  }
  const opening = { ...OPENING, namespace, prefix: 'cronce', onClose: () => driver.close() }
  return {
    store: await openKvStore(driver, opening),
    beforeCommit(next) {
      rival = next
    },
  }
}

/** A store whose clock can be set: what reads it from the server is replaced. */
export function sourceWithClock(url: string, wall: () => number): StoreSource<never> {
  return {
    name: 'etcd',
    async open(options) {
      const driver = driverAt(url)
      driver.clock = () => ({ earliest: wall(), latest: wall(), steps: 0 })
      driver.sharpen = async () => {}
      return openKvStore(driver, { ...options, prefix: 'cronce', onClose: () => driver.close() })
    },
  }
}

async function driverWithClock(url: string): Promise<KvDriver> {
  const link = new Link({ name: 'etcd', endpoints: [url], tls: {}, user: null, timeoutMs: 5_000 })
  const keeper = new ClockKeeper('etcd', new ServerClock(() => performance.now()), () => url, {})
  await keeper.ask()
  const driver = new EtcdDriver(link, keeper, 'kit\0')
  // To the second is enough here.
  driver.sharpen = async () => {}
  return driver
}

/** By the JSON gateway, which shares no code with the store. */
export async function askGateway(
  url: string,
  path: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<{ readonly header: { readonly revision: string; readonly member_id: string }; readonly token?: string }> {
  const answer = await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body), headers })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path}: ${text}`)
  return JSON.parse(text)
}
