import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { CronceOptions } from 'cronce'
import { CronceError } from 'cronce/cron'
import { didYouMean } from 'cronce/internal'
import type { Args, Flags } from './args.ts'
import type { Io } from './io.ts'
import { jsonPlace } from './json-place.ts'
import { loadModule } from './load-module.ts'
import { redactText } from './redact.ts'

/** `cronce.config.{ts,mts,js,mjs,json}`: what the flags say when they are not given. */
export interface CronceConfig {
  /** A URL, `env:NAME`, `@FILE`, or in code what `postgres()`, `redis()`, `etcd()`, `sqlite()` or `memory()` returns. */
  readonly store?: CronceOptions['store']
  readonly namespace?: string
  readonly app?: string
  readonly deployment?: string
  readonly concurrency?: number
  readonly lease?: CronceOptions['lease']
  readonly drain?: CronceOptions['drain']
  readonly holdDown?: CronceOptions['holdDown']
  /** Calendars by name, for the option `calendar` of jobs and schedules. */
  readonly calendars?: CronceOptions['calendars']
  /** Where the watchdog sends its alerts, and what it reports: in code, since channels are functions. */
  readonly alerts?: CronceOptions['alerts']
  readonly watch?: CronceOptions['watch']
  /** The file with the jobs, from the folder of the configuration; or the jobs themselves, by name. */
  readonly jobs?: string | Readonly<Record<string, unknown>>
  /** Where the HTTP API listens: `HOST:PORT`, `:PORT`, or a port. */
  readonly listen?: string | number
  /** Who may use the HTTP API; see the documentation of `@cronce/server`. */
  readonly access?: unknown
}

/** For editors: the configuration is returned as it is. */
export function defineConfig(config: CronceConfig): CronceConfig {
  return config
}

export const CONFIG_FLAGS = {
  config: {
    type: 'string',
    value: 'FILE',
    help: 'Configuration file (default: the nearest cronce.config.ts, .mts, .js, .mjs or .json, from here upwards)',
  },
} as const satisfies Flags

export interface LoadedConfig {
  readonly config: CronceConfig
  /** `null`: there is no configuration, and that is fine. */
  readonly file: string | null
}

/** What a configuration is called, in the order of preference. */
export const CONFIG_FILES = ['ts', 'mts', 'js', 'mjs', 'json'].map((extension) => `cronce.config.${extension}`)

const TYPES: Readonly<Record<keyof CronceConfig, readonly string[]>> = {
  store: ['string', 'object'],
  namespace: ['string'],
  app: ['string'],
  deployment: ['string'],
  concurrency: ['number'],
  lease: ['string', 'number'],
  drain: ['string', 'number'],
  holdDown: ['string', 'number'],
  calendars: ['object'],
  alerts: ['object'],
  watch: ['object'],
  jobs: ['string', 'object'],
  listen: ['string', 'number'],
  access: ['string', 'object', 'function'],
}

/** The configuration that is meant: that of `--config` or CRONCE_CONFIG, or the nearest one upwards. */
export async function loadConfig(args: Args, { cwd, env }: Io): Promise<LoadedConfig> {
  const { CRONCE_CONFIG: named } = env
  const given = args.text('config') ?? named
  const file = given ? resolve(cwd, given) : findConfig(cwd)
  if (file === null) return { config: {}, file: null }
  if (!existsSync(file)) {
    throw new CronceError('CONFIG_NOT_FOUND', `There is no configuration ${file}.`, {
      hint: 'Check --config and CRONCE_CONFIG.',
    })
  }
  return { config: checkConfig(file.endsWith('.json') ? readJson(file) : await readCode(file), file), file }
}

function findConfig(cwd: string): string | null {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const found = CONFIG_FILES.map((name) => join(folder, name)).filter((path) => existsSync(path))
    if (found.length > 1) {
      throw new CronceError('CONFIG_INVALID', `There are two configurations: ${found.join(' and ')}.`, {
        hint: 'Remove one, or name one with --config.',
      })
    }
    if (found[0] !== undefined) return found[0]
    if (dirname(folder) === folder) return null
  }
}

function readJson(file: string): unknown {
  const text = readFileSync(file, 'utf8').replace(/^\ufeff/, '')
  try {
    return JSON.parse(text)
  } catch (error) {
    const { message } = error as SyntaxError
    throw new CronceError('CONFIG_INVALID', `${file}${jsonPlace(text, message)} is not JSON.`, {
      hint: 'Look for a missing or superfluous comma or quote there; JSON has no comments.',
      cause: error,
    })
  }
}

async function readCode(file: string): Promise<unknown> {
  let module: Record<string, unknown>
  try {
    module = await loadModule(file)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new CronceError('CONFIG_INVALID', `${file} can't be loaded: ${redactText(message)}`, {
      hint: `Run it alone to see more: node ${file}`,
      cause: error,
    })
  }
  const { default: exported } = module
  if (exported !== undefined) return exported
  throw new CronceError('CONFIG_INVALID', `${file} has no default export.`, {
    hint: "Write export default { store: 'sqlite:cronce.db' }.",
  })
}

function checkConfig(value: unknown, file: string): CronceConfig {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new CronceError('CONFIG_INVALID', `${file} is not an object with options.`, {
      hint: "Write { store: 'sqlite:cronce.db', jobs: './jobs.ts' }.",
    })
  }
  for (const [key, option] of Object.entries(value)) {
    const types = Object.hasOwn(TYPES, key) ? TYPES[key as keyof CronceConfig] : undefined
    if (types === undefined) throw unknownKey(key, file)
    // An unset variable, such as store: process.env.CRONCE_STORE, leaves it to the environment and the flags.
    if (option === undefined || types.includes(typeof option)) continue
    throw new CronceError('CONFIG_INVALID', `The option ${key} in ${file} can't be ${typeWords(typeof option)}.`, {
      hint: `Write ${types.map(typeWords).join(' or ')}.`,
    })
  }
  return value
}

function typeWords(type: string): string {
  return `${type === 'object' ? 'an' : 'a'} ${type}`
}

function unknownKey(key: string, file: string): CronceError {
  const meant = didYouMean(key, Object.keys(TYPES))
  return new CronceError('CONFIG_INVALID', `There is no option ${JSON.stringify(key)}, in ${file}.`, {
    hint: meant === undefined ? `Options are ${Object.keys(TYPES).join(', ')}.` : `Did you mean ${meant}?`,
  })
}
