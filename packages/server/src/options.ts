import { CronceError, type HandleCallbackOptions, type HandleFireOptions } from 'cronce'
import { didYouMean } from 'cronce/internal'
import type { MetricsOptions } from 'cronce/metrics'
import type { Access } from './access.ts'

/** Options of `createHandler()`. */
export interface HandlerOptions {
  /**
   * Where the handler is mounted, such as `/ops/cronce`. It may be there in the URL or stripped by the host already.
   * @default ''
   */
  readonly basePath?: string | undefined
  /** Who may do what. Without it nothing but the probes is answered. @default closed */
  readonly access?: Access | undefined
  /** The largest body, in bytes, up to 1 MB. @default 131_072 */
  readonly bodyLimit?: number | undefined
  /** Requests that are worked on at a time; more are refused. 1 to 10,000. @default 256 */
  readonly concurrency?: number | undefined
  /** How long a read may take, in milliseconds: 100 to 600,000. Then it is answered with STORE_TIMEOUT. @default 15_000 */
  readonly readTimeout?: number | undefined
  /** Origins other than its own that browsers may use it from, such as `https://ops.example.com`. @default none */
  readonly allowedOrigins?: readonly string[] | undefined
  /**
   * Names of fields, such as `password`. Wherever inputs and results have them, at any depth and in any case, all callers get `[redacted]`
   * in the place of the value. @default none
   */
  readonly redact?: readonly string[] | undefined
  /** The file of a SARIF report, such as the one that CI makes with `cronce audit`, for `GET /api/v1/audit`. @default none */
  readonly audit?: string | undefined
  /** Streams of events at a time, 1 to 10,000. @default 100 */
  readonly streams?: number | undefined
  /**
   * Streams of events at a time that one principal (a bearer token, an author) may open, 1 to 10,000. Callers without a principal are
   * bounded by `streams` only. @default a quarter of `streams`
   */
  readonly streamsPerPrincipal?: number | undefined
  /**
   * A secret of at least 16 characters that all processes behind one address share: then each accepts the `next` of another one from
   * callers who see some schedules only. @default a random one, so that these cursors end with the process
   */
  readonly cursorSecret?: string | undefined
  /** A condition of `/readyz` besides the store and the instance. @default none */
  readonly ready?: (() => boolean | Promise<boolean>) | undefined
  /** Options of `/metrics` and `/metrics/fleet`. `false`: the handler measures nothing and has neither path. @default { maxJobs: 100 } */
  readonly metrics?: MetricsOptions | false | undefined
  /**
   * How deliveries to `POST /api/v1/fires` are authenticated: the options of `app.handleFire`.
   * @default CRONCE_FIRE_TOKEN and CRONCE_FIRE_SECRET of the environment
   */
  readonly fires?: HandleFireOptions | undefined
  /**
   * How call-backs to `/api/v1/callbacks` are authenticated: those of `app.handleCallback`.
   * @default the secret of the job's own target, else CRONCE_CALLBACK_SECRET of the environment
   */
  readonly callbacks?: Omit<HandleCallbackOptions, 'schedule' | 'token'> | undefined
  /** Where faults of the server are logged. @default stderr */
  readonly logger?: ApiLogger | false | undefined
}

/** Where the API reports failures. */
export interface ApiLogger {
  error(message: string): void
}

export interface ResolvedOptions {
  readonly basePath: string
  readonly access: Access | null
  readonly bodyLimit: number
  readonly concurrency: number
  readonly readTimeout: number
  readonly allowedOrigins: ReadonlySet<string>
  readonly redact: ReadonlySet<string>
  readonly audit: string | null
  readonly streams: number
  readonly streamsPerPrincipal: number
  readonly cursorSecret: string | null
  readonly ready: () => boolean | Promise<boolean>
  readonly metrics: MetricsOptions | false
  readonly fires: HandleFireOptions
  readonly callbacks: Omit<HandleCallbackOptions, 'schedule' | 'token'>
  readonly logger: ApiLogger
}

const NAMES: readonly (keyof HandlerOptions)[] = [
  'basePath',
  'access',
  'bodyLimit',
  'concurrency',
  'readTimeout',
  'allowedOrigins',
  'redact',
  'audit',
  'streams',
  'streamsPerPrincipal',
  'cursorSecret',
  'ready',
  'metrics',
  'fires',
  'callbacks',
  'logger',
]

/** By default, how many principals it takes to use up all streams of events. */
const PRINCIPALS_SERVED = 4

export function resolveOptions(options: HandlerOptions): ResolvedOptions {
  for (const name of Object.keys(options)) {
    if (NAMES.some((known) => known === name)) continue
    const meant = didYouMean(name, NAMES)
    const hint = meant === undefined ? `The options here are ${NAMES.join(', ')}.` : `Did you mean ${meant}?`
    throw new CronceError('OPTION_UNKNOWN', `There is no option ${JSON.stringify(name)}.`, { hint })
  }
  const { access = null, logger } = options
  if (access !== null && typeof access !== 'function') {
    throw invalid('access', 'a function', "Write access: bearerAccess({ operate: process.env['OPS_TOKEN'] }).")
  }
  const streams = readInteger('streams', options.streams ?? 100, 1, 10_000)
  const perPrincipal = options.streamsPerPrincipal ?? Math.max(1, Math.floor(streams / PRINCIPALS_SERVED))
  return {
    basePath: readBasePath(options.basePath ?? ''),
    access,
    bodyLimit: readInteger('bodyLimit', options.bodyLimit ?? 131_072, 1_024, 1_048_576),
    concurrency: readInteger('concurrency', options.concurrency ?? 256, 1, 10_000),
    readTimeout: readInteger('readTimeout', options.readTimeout ?? 15_000, 100, 600_000),
    allowedOrigins: new Set((options.allowedOrigins ?? []).map(readOrigin)),
    redact: readRedact(options.redact ?? []),
    audit: readAudit(options.audit),
    streams,
    streamsPerPrincipal: readInteger('streamsPerPrincipal', perPrincipal, 1, 10_000),
    cursorSecret: readSecret(options.cursorSecret),
    ready: options.ready ?? (() => true),
    metrics: options.metrics ?? {},
    fires: options.fires ?? {},
    callbacks: options.callbacks ?? {},
    logger: logger === false ? { error: () => {} } : (logger ?? stderr),
  }
}

const stderr: ApiLogger = {
  error(message) {
    process.stderr.write(`cronce: ${message}\n`)
  },
}

function readBasePath(value: unknown): string {
  if (typeof value === 'string' && /^(\/[\w.~%@:+-]+)*\/?$/.test(value)) return value.replace(/\/$/, '')
  throw invalid('basePath', 'a path', "Write basePath: '/ops/cronce'.")
}

/** Shorter ones can be guessed. */
const SECRET_MIN = 16

function readSecret(value: unknown): string | null {
  if (value === undefined) return null
  if (typeof value === 'string' && value.length >= SECRET_MIN) return value
  throw invalid('cursorSecret', `a text of at least ${SECRET_MIN} characters`, 'Make one with openssl rand -hex 32.')
}

function readRedact(value: unknown): ReadonlySet<string> {
  const isList = Array.isArray(value) && value.every((name) => typeof name === 'string' && name !== '')
  if (isList) return new Set((value as readonly string[]).map((name) => name.toLowerCase()))
  throw invalid('redact', 'a list of names', "Write redact: ['password', 'token'].")
}

function readAudit(value: unknown): string | null {
  if (value === undefined) return null
  if (typeof value === 'string' && value !== '') return value
  throw invalid('audit', 'the path of a file', "Write audit: './audit.sarif'.")
}

function readOrigin(value: unknown): string {
  const origin = typeof value === 'string' && URL.canParse(value) ? new URL(value).origin : 'null'
  if (origin !== 'null' && origin === value) return origin
  throw invalid('allowedOrigins', 'origins', "Write allowedOrigins: ['https://ops.example.com'], without a path.")
}

function readInteger(name: string, value: unknown, min: number, max: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
  throw invalid(name, `a whole number from ${min} to ${max}`, `Write ${name}: ${min}, or leave it out.`)
}

function invalid(name: string, expected: string, hint: string): CronceError {
  return new CronceError('OPTION_INVALID', `The option ${name} must be ${expected}.`, { hint })
}
