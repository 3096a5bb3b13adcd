import type { ConnectionOptions } from 'node:tls'
import { openKvStore } from '../kv/open.ts'
import { ServerClock } from '../kv/server-clock.ts'
import type { OpenOptions, Store, StoreSource } from '../store.ts'
import { StoreError } from '../store-error.ts'
import { demandOptions, optionsInvalid as invalid, isUrlOrOptions, shown, targetHint } from '../store-options.ts'
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

const NAMES = ['endpoints', 'user', 'password', 'tls', 'prefix', 'timeoutMs'] satisfies (keyof EtcdOptions)[]

const FOREIGN = {
  hosts: 'endpoints',
  host: 'endpoints',
  url: 'endpoints',
  username: 'user',
  ssl: 'tls',
  namespace: 'prefix',
}

/** Nested transactions came with 3.4. */
const OLDEST = [3, 4] as const
/** The quota of etcd unless it was raised. */
const DEFAULT_QUOTA_BYTES = 2 * 2 ** 30

/** A store in an etcd cluster, 3.4 or later: by URL, or by the endpoints of its members. */
export function etcd(target: string | EtcdOptions, more: Omit<EtcdOptions, 'endpoints'> = {}): StoreSource<never> {
  const options = optionsOf(target, more)
  const chosen = targetOf(options)
  const { prefix = 'cronce' } = options
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

function optionsOf(target: string | EtcdOptions, more: Omit<EtcdOptions, 'endpoints'>): EtcdOptions {
  if (!isUrlOrOptions(target)) {
    const write = "Write etcd('etcd://127.0.0.1:2379') or etcd({ endpoints: ['http://127.0.0.1:2379'] })."
    throw invalid(`etcd() needs a URL or options, but got ${shown(target)}.`, targetHint(target, write))
  }
  demandOptions('an etcd store', more, NAMES, FOREIGN)
  const given = typeof target === 'string' ? fromUrl(target, more) : { ...target, ...more }
  demandOptions('an etcd store', given, NAMES, FOREIGN)
  const { prefix, timeoutMs, endpoints } = given
  if (!Array.isArray(endpoints) || endpoints.length === 0) {
    throw invalid('The option endpoints must name at least one member.', "Write endpoints: ['http://127.0.0.1:2379'].")
  }
  if (prefix !== undefined && (typeof prefix !== 'string' || !/^\P{Cc}+$/u.test(prefix))) {
    throw invalid('The option prefix must be a text without control characters.', "Leave it out for 'cronce'.")
  }
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs >= 100)) {
    throw invalid('The option timeoutMs must be a number of milliseconds, at least 100.', 'Leave it out for 5000.')
  }
  return given
}

function fromUrl(url: string, more: Omit<EtcdOptions, 'endpoints'>): EtcdOptions {
  const { endpoints, user } = parseUrl(url)
  return { ...more, endpoints, ...(user === null ? {} : { user: user.name, password: user.password }) }
}

function targetOf({ endpoints, user, password = '', tls = {}, timeoutMs = 5_000 }: EtcdOptions): Target {
  const origins = endpoints.map(endpointOf)
  return {
    name: `etcd at ${origins.map((origin) => new URL(origin).host).join(', ')}`,
    endpoints: origins,
    tls,
    user: user === undefined ? null : { name: user, password },
    timeoutMs,
  }
}
