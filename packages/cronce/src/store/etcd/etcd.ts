import type { ConnectionOptions } from 'node:tls'
import { openKvStore } from '../kv/open.ts'
import { type ClusterKind, clusterOptions } from '../kv/options.ts'
import { ServerClock } from '../kv/server-clock.ts'
import type { OpenOptions, Store, StoreSource } from '../store.ts'
import { StoreError } from '../store-error.ts'
import { endpointOf, parseUrl } from './address.ts'
import { ClockKeeper } from './clock-keeper.ts'
import { EtcdDriver } from './driver.ts'
import { Link, type Target } from './link.ts'

/** Options of `etcd()`. */
export interface EtcdOptions {
  /** Of the members: `['http://127.0.0.1:2379']`, or `https://` for TLS. */
  readonly endpoints: readonly string[]
  /** Where authentication is enabled. */
  readonly user?: string | undefined
  readonly password?: string | undefined
  /** For `https://`: `ca`, `cert`, `key` and other options of `tls.connect`. */
  readonly tls?: ConnectionOptions | undefined
  /** What all keys begin with; the namespace follows. @default 'cronce' */
  readonly prefix?: string | undefined
  /** The longest that a call may take, the wait for a connection included. @default 5000 */
  readonly timeoutMs?: number | undefined
}

/** Nested transactions came with 3.4. */
const OLDEST = [3, 4] as const
/** The quota of etcd unless it was raised. */
const DEFAULT_QUOTA_BYTES = 2 * 2 ** 30

/** A store in an etcd cluster, 3.4 or later: by URL, or by the endpoints of its members. */
export function etcd(target: string | EtcdOptions, more: Omit<EtcdOptions, 'endpoints'> = {}): StoreSource<never> {
  const options = clusterOptions(KIND, target, more)
  const { prefix } = options
  const chosen = targetOf(options)
  // What one opening has learned about it, the next one knows.
  const clock = new ServerClock(() => performance.now())
  return { name: chosen.name, open: (opening) => open(chosen, clock, prefix, opening) }
}

async function open(target: Target, clock: ServerClock, prefix: string, opening: OpenOptions): Promise<Store<never>> {
  const link = new Link(target)
  const keeper = new ClockKeeper(target.name, clock, () => link.endpoint, target.tls)
  const close = async (): Promise<void> => {
    keeper.close()
    link.close()
  }
  try {
    const driver = new EtcdDriver(link, keeper, `${prefix}\0`)
    await checkServer(driver, opening.warn)
    await keeper.ask().catch((error) => {
      throw link.translate(error)
    })
    keeper.start()
    return await openKvStore(driver, { ...opening, prefix, onClose: close })
  } catch (error) {
    await close()
    throw error
  }
}

async function checkServer(driver: EtcdDriver, warn: OpenOptions['warn']): Promise<void> {
  const { version, dbSize } = await driver.status()
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    throw new StoreError('STORE_UNSUPPORTED', `${driver.name} is etcd ${version}.`, {
      hint: `Use ${OLDEST.join('.')} or later.`,
    })
  }
  if (dbSize > DEFAULT_QUOTA_BYTES / 2) {
    warn(
      'STORE_NEARLY_FULL',
      `${driver.name} has a database of ${Math.round(dbSize / 2 ** 20)} MB. At its quota (2048 MB unless --quota-backend-bytes is set) ` +
        'etcd refuses every write. Set --auto-compaction-retention, keep less history, and run etcdctl defrag.',
    )
  }
}

const KIND: ClusterKind<EtcdOptions> = {
  ...{ name: 'etcd', store: 'an etcd store', list: 'endpoints', member: 'member', sample: 'http://127.0.0.1:2379' },
  foreign: { url: 'endpoints', namespace: 'prefix' },
  fromUrl(url) {
    const { endpoints, user } = parseUrl(url)
    return { endpoints, ...(user === null ? {} : { user: user.name, password: user.password }) }
  },
}

function targetOf({
  endpoints,
  user,
  password = '',
  tls = {},
  timeoutMs,
}: EtcdOptions & Pick<Target, 'timeoutMs'>): Target {
  const origins = endpoints.map(endpointOf)
  return {
    name: `etcd at ${origins.map((origin) => new URL(origin).host).join(', ')}`,
    endpoints: origins,
    tls,
    user: user === undefined ? null : { name: user, password },
    timeoutMs,
  }
}
