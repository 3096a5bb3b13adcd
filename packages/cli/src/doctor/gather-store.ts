import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, CronceError, connect, type Store, type StoreSource, type StoreView } from 'cronce'
import { migrator, postgres } from 'cronce/postgres'
import { EXIT, exitCodeOf } from '../exit-code.ts'
import { type StoreSetting, storeWords, withoutSecrets } from '../open-store.ts'
import { redactSecrets } from '../redact.ts'
import { demandFile, sqliteFile } from '../steer/sqlite-file.ts'
import type { PlaceFacts, StoreFacts, Trouble } from './facts.ts'

const CHECKS = 5
/** A pooler is noticed when a session is opened, which takes a moment. */
const SESSION_MS = 2_000
/** No instance has this id. */
const NO_INSTANCE = 'cronce-doctor'

/** What is on these is gone with the container or the machine. From statfs(2). */
const PASSING: ReadonlyMap<number, string> = new Map([
  [0x794c7630, 'an overlay file system'],
  [0x01021994, 'a temporary file system'],
])

/** Open the store and ask it about itself. The client is `null` where that is impossible; who gets one closes it. */
export async function gatherStore(
  setting: StoreSetting,
): Promise<{ readonly facts: StoreFacts; readonly client: Connection | null }> {
  const { store, namespace, secrets } = setting
  const warnings: { code: string; message: string }[] = []
  const kind = kindOf(store)
  const base: StoreFacts = {
    kind,
    name: storeWords(store),
    trouble: null,
    checks: [],
    warnings,
    migration: null,
    write: null,
    place: null,
  }
  let client: Connection | null = null
  try {
    const facts = await withoutSecrets(secrets, async () => {
      demandFile(store)
      const opened = reachable(store)
      client = await connect({
        store: opened.source,
        namespace,
        logger: false,
        onWarning: (code, message) => warnings.push({ code, message: redactSecrets(message, secrets) }),
      })
      return ask(client, base, opened, setting)
    })
    return { facts, client }
  } catch (error) {
    await (client as Connection | null)?.close()
    // An invalid URL is reported as a usage error, not as a finding about a store.
    if (error instanceof CronceError && exitCodeOf(error) === EXIT.usage) throw error
    return { facts: { ...base, trouble: troubleOf(error) }, client: null }
  }
}

async function ask(
  client: Connection,
  base: StoreFacts,
  opened: Reachable,
  { store }: StoreSetting,
): Promise<StoreFacts> {
  const checks: StoreView[] = []
  for (let nth = 0; nth < CHECKS; nth++) checks.push(await client.store.check())
  const url = typeof store === 'string' ? store : null
  const [write, migration, place] = await Promise.all([
    tryToWrite(client),
    base.kind === 'postgres' && url !== null ? migrationOf(url) : null,
    url === null ? null : placeOf(url),
    opened.openSession(() => base.warnings.some(({ code }) => code === 'STORE_POOLED')),
  ])
  return { ...base, name: checks[0]!.name, checks, write, migration, place }
}

interface Reachable {
  readonly source: StoreSetting['store']
  /** Have it open what only instances need, to be told what is wrong with that. */
  readonly openSession: (isTold: () => boolean) => Promise<void>
}

/** A pooler before PostgreSQL is only noticed by who wants a session; instances do, clients do not. */
function reachable(store: StoreSetting['store']): Reachable {
  if (kindOf(store) !== 'postgres') return { source: store, openSession: async () => {} }
  const source = (typeof store === 'string' ? postgres(store) : store) as StoreSource
  let inner: Store | null = null
  return {
    source: {
      name: source.name,
      open: async (options) => {
        inner = await source.open(options)
        return inner
      },
    },
    openSession: async (isTold) => {
      const stop = inner?.watch(() => {})
      const endsAt = performance.now() + SESSION_MS
      while (!isTold() && performance.now() < endsAt) await sleep(50)
      stop?.()
    },
  }
}

/** The command to drain an instance that is not there: the rights of a write, and no change. */
async function tryToWrite(client: Connection): Promise<Trouble | null> {
  try {
    await client.instances.drain(NO_INSTANCE, false)
    return null
  } catch (error) {
    return error instanceof CronceError && error.code === 'INSTANCE_NOT_FOUND' ? null : troubleOf(error)
  }
}

async function migrationOf(url: string): Promise<StoreFacts['migration']> {
  const store = migrator(url)
  try {
    return await store.status()
  } finally {
    await store.close()
  }
}

async function placeOf(url: string): Promise<PlaceFacts | null> {
  const file = sqliteFile(url)
  if (file === null) return null
  const { type, bavail, bsize } = await statfs(dirname(file))
  return { file, fileSystem: PASSING.get(type) ?? null, freeBytes: bavail * bsize }
}

function kindOf(store: StoreSetting['store']): StoreFacts['kind'] {
  const name = typeof store === 'string' ? store : store.name
  if (/^sqlite:/.test(name)) return 'sqlite'
  if (/^postgres/.test(name)) return 'postgres'
  return /^redis/.test(name) ? 'redis' : 'other'
}

export function troubleOf(error: unknown): Trouble {
  if (!(error instanceof CronceError)) throw error
  return { code: error.code, message: error.message, hint: error.hint ?? null }
}
