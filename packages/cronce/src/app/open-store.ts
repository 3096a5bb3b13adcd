import { CronceError } from '../errors.ts'
import { nameOfUrl } from '../store/name-of-url.ts'
import { sqliteFromUrl } from '../store/sqlite/sqlite.ts'
import type { StoreSource } from '../store/store.ts'
import { kindOf } from '../words.ts'
import { demandNode } from './node-version.ts'

/** A store by its URL, or as it was made. `undefined` is an error: a forgotten variable must not mean another database. */
export function storeSource<Tx>(store: string | StoreSource<Tx> | undefined): StoreSource<Tx> {
  demandNode(process.versions.node)
  if (typeof store === 'object' && store !== null && typeof store.open === 'function') return store
  if (store === undefined || store === null || store === '') {
    throw new CronceError('STORE_MISSING', 'There is no store.', {
      hint: "Write cronce({ store: 'sqlite:./cronce.db' }), or check that the variable with the store's URL is set.",
    })
  }
  if (typeof store !== 'string') {
    throw new CronceError('STORE_INVALID', `The option store must be a URL or a store, but is ${kindOf(store)}.`, {
      hint: "Write a URL such as 'sqlite:./cronce.db', or what postgres(), redis(), etcd(), sqlite() or memory() returns.",
    })
  }
  return byUrl(store) as StoreSource<Tx>
}

function byUrl(url: string): StoreSource {
  if (url === 'memory:') {
    return onOpen('memory', async () => {
      const { memory } = await import('../store/memory/memory.ts')
      return memory() as StoreSource
    })
  }
  if (url.startsWith('sqlite:')) return sqliteFromUrl(url)
  if (/^postgres(ql)?:/.test(url)) {
    return onOpen(nameOfUrl(url) ?? 'postgres', async () => {
      const { postgres } = await import('../store/postgres/postgres.ts')
      return postgres(url) as StoreSource
    })
  }
  if (/^(rediss?(-cluster)?|redis\+unix):/.test(url)) {
    return onOpen(nameOfUrl(url) ?? 'redis', async () => {
      const { redis } = await import('../store/redis/redis.ts')
      return redis(url) as StoreSource
    })
  }
  if (/^etcds?:/.test(url)) {
    return onOpen(nameOfUrl(url) ?? 'etcd', async () => {
      const { etcd } = await import('../store/etcd/etcd.ts')
      return etcd(url) as StoreSource
    })
  }
  if (/^zookeepers?:/.test(url)) {
    return onOpen(nameOfUrl(url) ?? 'zookeeper', async () => {
      const { zookeeper } = await import('../store/zookeeper/zookeeper.ts')
      return zookeeper(url) as StoreSource
    })
  }
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0]
  // The rest of the URL is not shown: it may contain a password.
  throw new CronceError('STORE_UNKNOWN', `There is no store for ${scheme ?? 'this text'}.`, {
    hint:
      urlMeant(url) ??
      "Stores are 'postgres://…', 'redis://…', 'etcd://…', 'zookeeper://…', 'sqlite:FILE' and 'memory:'.",
  })
}

/** What people write for a store, and what to write instead. */
const URLS_MEANT: readonly (readonly [RegExp, string])[] = [
  [/^["'`]/, 'Remove the quotes around the URL.'],
  [/^\$\{?\w+\}?$/, 'This is the name of a variable, which was not replaced by its value.'],
  [/^:?memory:?$/i, "Write store: 'memory:'."],
  [/^(file|sqlite3|better-sqlite3):/i, "Write store: 'sqlite:./cronce.db'."],
  [/^[^:?@]+\.(db|sqlite3?)$/i, "Put sqlite: before the file: store: 'sqlite:./cronce.db'."],
  [/^(pg|psql|pgsql|postgre|postgress?(ql)?|jdbc:postgresql|cockroachdb):/i, "Write 'postgres://…'."],
  [/^(valkeys?|keydb|reddis|redis\+tcp):/i, "Write 'redis://…'."],
  [/^(?![a-z+.-]+:\/\/).*:5432\b/i, "Add the scheme: 'postgres://…'."],
  [/^(?![a-z+.-]+:\/\/).*:6379\b/i, "Add the scheme: 'redis://…'."],
  [/^(etcd3|etcd\+https?):/i, "Write 'etcd://…', or 'etcds://…' for TLS."],
  [/^(zk|zookeeper\+tls):/i, "Write 'zookeeper://…', or 'zookeepers://…' for TLS."],
  [/^(?![a-z+.-]+:\/\/).*:2181\b/i, "Add the scheme: 'zookeeper://…'."],
  [/^(?![a-z+.-]+:\/\/).*:2379\b/i, "Add the scheme: 'etcd://…'."],
  [/^sqlit/i, "Write store: 'sqlite:./cronce.db'."],
]

/** The URL is not repeated: it may contain a password. */
function urlMeant(url: string): string | undefined {
  return URLS_MEANT.find(([pattern]) => pattern.test(url.slice(0, 300)))?.[1]
}

/**
 * The modules of a store are loaded when it is opened: an app that uses another store never loads them. The source is created once,
 * because a store in memory lives as long as its source.
 */
function onOpen(name: string, load: () => Promise<StoreSource>): StoreSource {
  let source: Promise<StoreSource> | undefined
  return {
    name,
    async open(options) {
      source ??= load()
      return (await source).open(options)
    },
  }
}
