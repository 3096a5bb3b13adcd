import { existsSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import type { Connection, CronceOptions } from 'cronce'
import { CronceError } from 'cronce/cron'
import type { Args, Flags } from './args.ts'
import { CONFIG_FLAGS, type LoadedConfig, loadConfig } from './config.ts'
import type { Io } from './io.ts'
import { formOf, note } from './output.ts'
import { readLimit } from './paging.ts'
import { isPasswordCut, redactSecrets, redactUrl, secretsOf } from './redact.ts'
import { demandFile } from './steer/sqlite-file.ts'
import { noteOrigin } from './store-origin.ts'
import { sanitize } from './terminal.ts'
import { timeFlag, zoneOf } from './time-words.ts'
import { UsageError } from './usage-error.ts'

/** What every command that opens a store takes. */
export const STORE_FLAGS = {
  store: {
    type: 'string',
    value: 'URL',
    help: 'URL of the store: postgres://…, redis://…, etcd://…, sqlite:FILE, or env:NAME or @FILE to read it from there (default: CRONCE_STORE, the configuration, DATABASE_URL)',
  },
  namespace: {
    type: 'string',
    value: 'NAME',
    help: 'Namespace of the store (default: CRONCE_NAMESPACE, the configuration)',
  },
  ...CONFIG_FLAGS,
} as const satisfies Flags

export interface StoreSetting extends LoadedConfig {
  /** A URL, or in a configuration that is code, a store as it was made. */
  readonly store: NonNullable<CronceOptions['store']>
  readonly namespace: string | undefined
  readonly secrets: readonly string[]
  /** No store was named, and the file that `dev` made was taken. */
  readonly isDefault?: boolean
}

type MaybeStore = Omit<StoreSetting, 'store'> & { readonly store: StoreSetting['store'] | undefined }

/** The file that `dev` and `start` keep their records in when no store is named, from the current folder. */
const DEFAULT_FILE = 'cronce.db'
export const DEFAULT_STORE = `sqlite:${DEFAULT_FILE}`

/** Which store is meant: the flag beats CRONCE_STORE, that the configuration, and that DATABASE_URL. There is no default. */
export async function findStore(args: Args, io: Io): Promise<StoreSetting> {
  return demandStore(await findStoreIfAny(args, io), 'No store is named.')
}

/** The same with a default: `cronce.db` in the current folder, if `dev` or `start` made one there. Never in production. */
export async function findStoreOrDefault(args: Args, io: Io): Promise<StoreSetting> {
  const setting = await findStoreOrDefaultIfAny(args, io)
  return demandStore(
    setting,
    isProduction(io)
      ? `No store is named. In production, ${DEFAULT_FILE} in the current folder is not used by default.`
      : `No store is named, and there is no ${DEFAULT_FILE} in ${io.cwd}.`,
  )
}

export async function findStoreOrDefaultIfAny(args: Args, io: Io): Promise<MaybeStore> {
  const setting = await findStoreIfAny(args, io)
  if (setting.store !== undefined || isProduction(io)) return setting
  const file = join(io.cwd, DEFAULT_FILE)
  if (!existsSync(file)) return setting
  // Relative, since a path may have characters that a URL has not.
  return { ...setting, store: `sqlite:${relative(process.cwd(), file)}`, isDefault: true }
}

function isProduction({ env: { NODE_ENV } }: Io): boolean {
  return NODE_ENV === 'production'
}

function demandStore(setting: MaybeStore, missing: string): StoreSetting {
  if (setting.store !== undefined) return { ...setting, store: setting.store }
  throw new CronceError('STORE_MISSING', missing, {
    hint: 'Set CRONCE_STORE, or add --store with a URL: postgres://USER@HOST/DATABASE, redis://HOST, etcd://HOST, sqlite:FILE.',
  })
}

/** The same for commands that have a default of their own. */
export async function findStoreIfAny(args: Args, io: Io): Promise<MaybeStore> {
  const { CRONCE_STORE: ours, CRONCE_NAMESPACE: namespace, DATABASE_URL: everybodys } = io.env
  const loaded = await loadConfig(args, io)
  const { config } = loaded
  const named = args.text('store') ?? (ours || config.store || everybodys || undefined)
  if (named !== undefined && !args.has('store')) noteOrigin(io, ours ? 'CRONCE_STORE' : originIn(loaded))
  const store = typeof named === 'string' ? readStoreText(named, io) : named
  if (typeof store === 'string') demandUrl(store)
  return {
    ...loaded,
    store,
    namespace: args.text('namespace') ?? (namespace || config.namespace),
    secrets: typeof store === 'string' ? secretsOf(store) : [],
  }
}

/** Where it is from if neither a flag nor CRONCE_STORE names it. */
function originIn({ config, file }: LoadedConfig): string {
  return config.store ? (file ?? 'the configuration') : 'DATABASE_URL'
}

function demandUrl(url: string): void {
  if (/^["'`]/.test(url)) {
    throw new CronceError('STORE_INVALID', 'The URL of the store has a quote in front.', {
      hint: 'Remove the quotes: files that Docker or systemd read keep them as part of the value.',
    })
  }
  if (/^\$\{?\w+\}?$/.test(url)) {
    throw new CronceError('STORE_INVALID', `The URL of the store is the text ${url}, the name of a variable.`, {
      hint: 'Its value was not put in its place: write --store "$DATABASE_URL" in a shell, or --store env:DATABASE_URL.',
    })
  }
  if (isPasswordCut(url)) throw urlInvalid('The password in the URL of the store is cut.')
}

/** A URL, or where it is kept, so that it need not be on the command line, where all users of a machine can see it. */
export function readStoreText(text: string, { env, cwd }: Pick<Io, 'env' | 'cwd'>): string {
  if (text.startsWith('env:')) {
    const name = text.slice('env:'.length)
    const url = env[name]?.trim()
    if (url) return url
    throw new UsageError(`The variable ${name} is not set.`, `Set ${name} to the URL of the store.`)
  }
  if (!text.startsWith('@')) return text
  const file = resolve(cwd, text.slice(1))
  let url: string
  try {
    url = readFileSync(file, 'utf8').trim()
  } catch (cause) {
    throw new UsageError(`${file} can't be read: ${(cause as Error).message}`, 'Write the URL of the store into it.')
  }
  if (url !== '' && !/\s/.test(url)) return url
  throw new UsageError(`${file} has no URL in it.`, 'Write the URL of the store into it, and nothing else.')
}

/** Open the store that is meant. Warnings go to stderr; close it, or the process does not end. */
export async function openClient(args: Args, io: Io, options: { adopt?: boolean } = {}): Promise<Connection> {
  return openSetting(await findStoreOrDefault(args, io), io, options)
}

export async function openSetting(
  setting: StoreSetting,
  io: Io,
  options: { adopt?: boolean } = {},
): Promise<Connection> {
  const { store, namespace, secrets, config } = setting
  const { calendars } = config
  const tell = (message: string): void =>
    io.err(`${io.paintErr('yellow', 'warning:')} ${sanitize(redactSecrets(message, secrets))}\n`)
  demandFile(store)
  // Three hundred files, which most of what is asked without a store does not need.
  const { connect } = await import('cronce')
  return withoutSecrets(secrets, () =>
    connect({ store, namespace, calendars, ...options, logger: { warn: tell, error: tell } }),
  )
}

/**
 * Connect to the store, call `work`, and close the connection whatever happens. `work` gets an `io` whose `now` is the store's:
 * everything on record was dated by the store's clock, and the operator's clock may be wrong.
 */
export async function withClient<T>(args: Args, io: Io, work: (client: Connection, io: Io) => Promise<T>): Promise<T> {
  judgeFlags(args, io)
  const setting = await findStoreOrDefault(args, io)
  const client = await openSetting(setting, io)
  try {
    if (setting.isDefault && !['json', 'jsonl'].includes(formOf(args))) await noteIfEmpty(client, io)
    return await withoutSecrets(setting.secrets, async () => work(client, atNow(io, (await client.store.check()).now)))
  } finally {
    await client.close()
  }
}

/** An empty store may be the wrong one: only then it helps to know that none was named. */
async function noteIfEmpty(client: Connection, io: Io): Promise<void> {
  const { items } = await client.schedules.list({ internal: true, limit: 1 })
  if (items.length > 0) return
  note(`No store is named, so this is ${DEFAULT_STORE} in the current folder, which is empty. See --store.`, io)
}

/**
 * Refuse a mistyped flag before anything is asked of a store. The times are read again with the store's clock: whether a text
 * is a time does not depend on the clock.
 */
function judgeFlags(args: Args, { now }: Io): void {
  readLimit(args)
  const tz = zoneOf(args)
  for (const flag of ['from', 'to', 'until', 'due']) timeFlag(args, flag, { tz, now })
}

/** The same terminal and environment, at another time. `signal` stays a getter: reading it takes over the signals. */
function atNow(io: Io, now: number): Io {
  const copy: PropertyDescriptorMap & ThisType<Io> = Object.getOwnPropertyDescriptors(io)
  return Object.defineProperties({}, { ...copy, now: { value: now, enumerable: true } }) as Io
}

/** No error says a password: neither those of drivers, nor that of a URL which is none. */
export async function withoutSecrets<T>(secrets: readonly string[], work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof CronceError)) {
      if (!isInvalidUrl(error)) throw error
      throw urlInvalid('The value for the store is not a valid URL.')
    }
    const message = redactSecrets(error.message, secrets)
    const hint = error.hint === undefined ? undefined : redactSecrets(error.hint, secrets)
    if (message === error.message && hint === error.hint) throw error
    throw new CronceError(error.code, message, { hint })
  }
}

function urlInvalid(message: string): CronceError {
  return new CronceError('STORE_INVALID', message, {
    hint: 'Percent-encode special characters in its password: @ is %40, / is %2F.',
  })
}

function isInvalidUrl(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_URL'
}

/** The store for people: a URL without its secrets. */
export function storeWords(store: StoreSetting['store']): string {
  return typeof store === 'string' ? redactUrl(store) : 'the store of the configuration'
}
