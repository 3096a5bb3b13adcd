import type { ConnectionOptions } from 'node:tls'
import { SHARPEN_MS } from '../kv/driver.ts'
import { Keys } from '../kv/keys.ts'
import { openKvStore } from '../kv/open.ts'
import { type ClusterKind, clusterOptions } from '../kv/options.ts'
import { ServerClock } from '../kv/server-clock.ts'
import type { OpenOptions, Store, StoreSource } from '../store.ts'
import { parseUrl, serverOf } from './address.ts'
import { ZooKeeperDriver } from './driver.ts'
import { translate } from './errors.ts'
import { Layout } from './layout.ts'
import { LeaseSessions } from './leases.ts'
import { create, ERROR } from './messages.ts'
import { Session, type Target } from './session.ts'

/** Options of `zookeeper()`. Experimental: they may change in a minor version. */
export interface ZooKeeperOptions {
  /** Of the ensemble: `['127.0.0.1:2181']`. */
  readonly servers: readonly string[]
  /** By the digest scheme. What cronce creates is then for this user alone. */
  readonly user?: string | undefined
  readonly password?: string | undefined
  /** For the secure client port: `ca`, `cert`, `key` and other options of `tls.connect`. @default no TLS */
  readonly tls?: ConnectionOptions | undefined
  /** The node below which all namespaces are. @default 'cronce' */
  readonly prefix?: string | undefined
  /** The longest that a call may take, the wait for a connection included. @default 5000 */
  readonly timeoutMs?: number | undefined
}

/** Of the session for calls. It has nothing that ends with it. */
const SESSION_MS = 10_000

/** A store in a ZooKeeper ensemble, 3.6 or later: by URL, or by its servers. Experimental. */
export function zookeeper(
  target: string | ZooKeeperOptions,
  more: Omit<ZooKeeperOptions, 'servers'> = {},
): StoreSource<never> {
  const options = clusterOptions(KIND, target, more)
  const { prefix } = options
  const chosen = targetOf(options)
  // What one opening has learned about it, the next one knows.
  const clock = new ServerClock(() => performance.now())
  return { name: chosen.name, open: (opening) => open(chosen, clock, prefix, opening) }
}

async function open(target: Target, clock: ServerClock, prefix: string, opening: OpenOptions): Promise<Store<never>> {
  const driver = await openDriver(target, clock, prefix, opening.namespace)
  const onClose = (): Promise<void> => driver.close()
  try {
    await driver.sharpen(SHARPEN_MS)
    return await openKvStore(driver, { ...opening, prefix, onClose })
  } catch (error) {
    await onClose()
    throw error
  }
}

/** Its clock is known from here on. */
export async function openDriver(
  target: Target,
  clock: ServerClock,
  prefix: string,
  namespace: string,
): Promise<ZooKeeperDriver> {
  const layout = new Layout(prefix, namespace)
  const session = new Session(target, { ttlMs: SESSION_MS, isKept: true })
  try {
    await createNodes(session, layout, target)
    const keys = new Keys(prefix, namespace)
    const logged = { from: keys.lineBell, to: keys.below('f').to }
    const leases = new LeaseSessions(target)
    const driver = new ZooKeeperDriver({ target, session, leases, layout, clock, root: keys.root, logged })
    await driver.askTime()
    return driver
  } catch (error) {
    await session.close(true)
    throw translate(error, target.name, false)
  }
}

/** Those that are no keys: what counts commits, what is written to learn the time, what keeps the last commits. */
async function createNodes(session: Session, layout: Layout, target: Target): Promise<void> {
  const access = target.user === null ? 'everyone' : 'user'
  const none = Buffer.alloc(0)
  const zero = Buffer.from(String(0))
  const requests = [
    create(layout.root.slice(0, layout.root.lastIndexOf('/')), none, access),
    create(layout.root, none, access),
    create(layout.own('rev'), zero, access),
    create(layout.own('clock'), none, access),
    create(layout.own('log'), zero, access),
  ]
  for (const reply of await session.send(requests, target.timeoutMs)) {
    if ('error' in reply && reply.error.code !== ERROR.nodeExists) throw reply.error
  }
}

const KIND: ClusterKind<ZooKeeperOptions> = {
  ...{ name: 'zookeeper', store: 'a ZooKeeper store', list: 'servers', member: 'server', sample: '127.0.0.1:2181' },
  foreign: { connectString: 'servers', chroot: 'prefix' },
  fromUrl(url, more) {
    const { servers, isSecure, user } = parseUrl(url)
    return {
      servers: servers.map(({ host, port }) => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`)),
      ...(isSecure ? { tls: more.tls ?? {} } : {}),
      ...(user === null ? {} : { user: user.name, password: user.password }),
    }
  },
}

function targetOf({
  servers,
  user,
  password = '',
  tls,
  timeoutMs,
}: ZooKeeperOptions & Pick<Target, 'timeoutMs'>): Target {
  return {
    name: `ZooKeeper at ${servers.join(', ')}`,
    servers: servers.map(serverOf),
    tls: tls ?? null,
    user: user === undefined ? null : { name: user, password },
    timeoutMs,
  }
}
