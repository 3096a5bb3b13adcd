import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { CronceOptions } from 'cronce'
import { CronceError } from 'cronce/cron'
import type { Args, Flags } from '../args.ts'
import type { LoadedConfig } from '../config.ts'
import { readDurationText } from '../duration-text.ts'
import type { Io } from '../io.ts'
import { DEFAULT_STORE, findStoreIfAny, STORE_FLAGS, type StoreSetting } from '../open-store.ts'
import { originWords } from '../store-origin.ts'
import { UsageError } from '../usage-error.ts'
import { type Jobs, loadJobsFile, readJobs } from './load-jobs.ts'
import { packageName } from './package-name.ts'

/** What the options of `start` and `dev` say about the app that runs the jobs. */
export const SERVICE_FLAGS = {
  ...STORE_FLAGS,
  app: {
    type: 'string',
    value: 'NAME',
    help: 'App that the jobs belong to (default: CRONCE_APP, the nearest package.json)',
  },
  deployment: {
    type: 'string',
    value: 'NAME',
    help: 'Version of the code (default: CRONCE_DEPLOYMENT, or a hash of what is declared)',
  },
  concurrency: { type: 'string', value: 'N', help: 'Most runs at a time on this instance (default 20)' },
  lease: {
    type: 'string',
    value: 'TIME',
    help: 'Silence after which peers take over the runs of an instance (default 15s)',
  },
  drain: { type: 'string', value: 'TIME', help: 'Time that runs have to finish on shutdown (default 30s)' },
} as const satisfies Flags

export interface ServiceSettings {
  readonly jobs: Jobs
  /** `null`: the jobs are an app that brings its own. */
  readonly options: Omit<CronceOptions, 'logger' | 'signals'> | null
  /** No store was named, so the one for trying things out is used. */
  readonly isDefaultStore: boolean
  readonly store: StoreSetting['store'] | null
  /** For messages: where the URL of the store is from; empty if it was on the command line. */
  readonly origin: string
  readonly secrets: readonly string[]
  readonly config: LoadedConfig
}

/** Where jobs are by default. */
export const JOB_FILES = ['ts', 'mts', 'js', 'mjs', 'cjs', 'json'].map((extension) => `jobs.${extension}`)

/** Flags beat the environment, which beats the configuration. */
export async function readService(args: Args, io: Io, command: string): Promise<ServiceSettings> {
  const found = await findStoreIfAny(args, io)
  return settingsFor(args, io, { command, found, jobs: await findJobs(args, io, found, command) })
}

/**
 * The same for several files, which together are one release. `apps`: those that modules have made so far, for modules that export
 * none.
 */
export async function readServices(
  args: Args,
  io: Io,
  command: string,
  apps: readonly object[],
): Promise<readonly ServiceSettings[]> {
  const found = await findStoreIfAny(args, io)
  const files = args.positionals.length < 2 ? [null] : args.positionals
  const services: ServiceSettings[] = []
  for (const file of files) {
    const before = apps.length
    const loading = file === null ? findJobs(args, io, found, command) : loadJobsFile(resolve(io.cwd, file))
    const jobs = await loading.catch((error: unknown): Jobs => {
      const [made] = apps.slice(before)
      const isEmpty = error instanceof CronceError && error.code === 'JOBS_INVALID'
      if (!isEmpty || made === undefined) throw error
      return readJobs(made, file ?? args.positionals[0] ?? 'The jobs file', io.cwd)
    })
    services.push(settingsFor(args, io, { command, found, jobs }))
  }
  return services
}

interface Found {
  readonly command: string
  readonly found: Awaited<ReturnType<typeof findStoreIfAny>>
  readonly jobs: Jobs
}

function settingsFor(args: Args, io: Io, { command, found, jobs }: Found): ServiceSettings {
  const config: LoadedConfig = { config: found.config, file: found.file }
  if (jobs.kind === 'app') {
    // What only looks may look at another store.
    const isLooking = command === 'plan' || command === 'simulate'
    if (!isLooking) refuseFlags(args, jobs.place)
    const store = isLooking && args.has('store') ? found.store! : null
    return { jobs, options: null, isDefaultStore: false, store, origin: '', secrets: found.secrets, config }
  }
  const isDefaultStore = found.store === undefined
  const store = found.store ?? defaultStore(io, command)
  return {
    jobs,
    options: { store, namespace: found.namespace, ...readOptions(args, io, found, jobs) },
    isDefaultStore,
    store,
    origin: originWords(io),
    secrets: found.secrets,
    config,
  }
}

function defaultStore({ env }: Io, command: string): string {
  const { NODE_ENV } = env
  if (NODE_ENV !== 'production' || command === 'dev' || command === 'simulate') return DEFAULT_STORE
  throw new CronceError('STORE_MISSING', 'In production a store has to be named.', {
    hint: 'Set CRONCE_STORE, or add --store: postgres://USER@HOST/DATABASE, redis://HOST, etcd://HOST, or sqlite:FILE on one machine.',
  })
}

async function findJobs(
  args: Args,
  io: Io,
  { config, file: configFile }: LoadedConfig,
  command: string,
): Promise<Jobs> {
  const [given, second] = args.positionals
  if (second !== undefined) {
    throw new UsageError(
      `cronce ${command} takes one file with jobs, got "${second}" as well.`,
      `Make one file of them, or run a process for each, with its own name: cronce ${command} ${second} --app NAME.`,
    )
  }
  const { CRONCE_JOBS: named } = io.env
  if (given !== undefined || named) return loadJobsFile(resolve(io.cwd, given ?? named!))
  const folder = configFile === null ? io.cwd : dirname(configFile)
  if (typeof config.jobs === 'string') return loadJobsFile(resolve(folder, config.jobs))
  if (config.jobs !== undefined) return readJobs(config.jobs, `${configFile} (option jobs)`, folder)
  const usual = JOB_FILES.map((name) => join(folder, name)).find((path) => existsSync(path))
  if (usual !== undefined) return loadJobsFile(usual)
  throw new UsageError(
    'Which jobs?',
    `Write cronce ${command} jobs.ts, or name the file in the configuration; cronce init writes both.`,
  )
}

function readOptions(args: Args, { env, cwd }: Io, { config }: LoadedConfig, jobs: Jobs): Partial<CronceOptions> {
  const { CRONCE_APP, CRONCE_DEPLOYMENT, CRONCE_CONCURRENCY, CRONCE_LEASE, CRONCE_DRAIN } = env
  const duration = (flag: 'lease' | 'drain', named: string | undefined): CronceOptions['lease'] => {
    const text = args.text(flag) ?? (named || undefined)
    return text === undefined ? config[flag] : readDurationText(text, flag)
  }
  const folder = jobs.kind === 'app' ? cwd : folderOf(jobs, cwd)
  return {
    app: args.text('app') ?? (CRONCE_APP || config.app) ?? packageName(folder) ?? 'default',
    deployment: args.text('deployment') ?? (CRONCE_DEPLOYMENT || config.deployment),
    concurrency: readCount(args.text('concurrency') ?? (CRONCE_CONCURRENCY || undefined)) ?? config.concurrency,
    lease: duration('lease', CRONCE_LEASE),
    drain: duration('drain', CRONCE_DRAIN),
    holdDown: config.holdDown,
    calendars: config.calendars,
    alerts: config.alerts,
    watch: config.watch,
  }
}

function folderOf(jobs: Exclude<Jobs, { kind: 'app' }>, cwd: string): string {
  return jobs.kind === 'record' ? jobs.folder : dirname(resolve(cwd, jobs.place))
}

function readCount(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (count >= 1 && count <= 10_000) return count
  throw new UsageError(`--concurrency cannot be "${text}".`, 'Use a whole number from 1 to 10,000.')
}

/** What the file has decided itself can't be decided here. */
function refuseFlags(args: Args, place: string): void {
  const flag = ['store', 'namespace', 'app', 'deployment', 'concurrency', 'lease', 'drain'].find((name) =>
    args.has(name),
  )
  if (flag === undefined) return
  throw new UsageError(
    `--${flag} does nothing here: ${place} exports an app with options of its own.`,
    'Leave it out, or export a function (app) => { app.job(…) } instead of an app.',
  )
}
