import { storeSource } from '../app/open-store.ts'
import type { CronceOptions } from '../app/options.ts'
import { readName } from '../client/read-name.ts'
import { readBoolean, readChoice, readDuration, readFields, readInteger } from '../client/read-option.ts'
import type { StoreSource } from '../store/store.ts'

/** Where tasks are kept, and how they are run. */
export interface SetupOptions
  extends Pick<CronceOptions, 'namespace' | 'concurrency' | 'lease' | 'drain' | 'signals' | 'adopt'> {
  /** A URL, or what `postgres()`, `redis()`, `sqlite()` or `memory()` returns. @default CRONCE_STORE */
  readonly store?: string | StoreSource<never> | StoreSource | undefined
  /**
   * Tasks without a name. `own`: each process runs its own, as with node-cron. `shared`: they are known by the name of their
   * function and their expression, so each slot runs once in the fleet; two that are called alike are refused.
   * @default 'own'
   */
  readonly unnamed?: 'own' | 'shared' | undefined
}

export interface Setup {
  /** `null`: there is none, and every task is this process's own. */
  readonly source: StoreSource | null
  readonly namespace: string
  readonly concurrency: number
  readonly leaseMs: number
  /** How long runs may finish after a signal. */
  readonly drainMs: number
  readonly signals: boolean
  readonly adopt: boolean
  readonly unnamed: 'own' | 'shared'
}

const DAY_MS = 86_400_000
const NAMES = ['store', 'namespace', 'concurrency', 'lease', 'drain', 'signals', 'adopt', 'unnamed'] as const

/** With what the environment says where nothing is given. */
export function resolveSetup(options: unknown): Setup {
  const given = readFields('', options, NAMES, "{ store: 'redis://localhost' }")
  const { CRONCE_STORE, CRONCE_NAMESPACE } = process.env
  const store = given.store ?? (CRONCE_STORE === '' ? undefined : CRONCE_STORE)
  return Object.freeze({
    source: store === undefined ? null : storeSource(store as string | StoreSource),
    namespace: readName('namespace', given.namespace ?? CRONCE_NAMESPACE ?? 'default'),
    // node-cron knows no limit.
    concurrency: readInteger('concurrency', given.concurrency ?? 1_000, { min: 1, max: 10_000 }),
    leaseMs: readDuration('lease', given.lease ?? 15_000, { min: 1_000, max: 600_000, usual: 15_000 }),
    drainMs: readDuration('drain', given.drain ?? 30_000, { min: 0, max: DAY_MS, usual: 30_000 }),
    signals: readBoolean('signals', given.signals ?? true),
    adopt: readBoolean('adopt', given.adopt ?? false),
    unnamed: readChoice('unnamed', given.unnamed ?? 'own', ['own', 'shared']),
  })
}
