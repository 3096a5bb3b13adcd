import { type CalendarDays, type Calendars, readCalendars } from '../client/read-calendar.ts'
import { readName } from '../client/read-name.ts'
import {
  type Bounds,
  isRecord,
  readBoolean,
  readDuration,
  readFields,
  readInteger,
  show,
} from '../client/read-option.ts'
import { readLabels } from '../client/read-placement.ts'
import { readHttpUrl, secretInvalid } from '../client/read-url.ts'
import type { Duration } from '../client/schedule-options.ts'
import { appSuspicions } from '../client/suspicions.ts'
import { GRACE_MS } from '../engine/fleet/lease.ts'
import { CronceError } from '../errors.ts'
import type { Json } from '../model/json.ts'
import type { Labels } from '../model/placement.ts'
import type { StoreSource } from '../store/store.ts'
import type { AlertsOptions } from '../watch/channel.ts'
import { type ReadAlerts, readAlerts, readWatch } from '../watch/read-watch.ts'
import type { Thresholds } from '../watch/rules/thresholds.ts'
import type { WatchOptions } from '../watch/watch-options.ts'
import { type Logger, stderrLogger } from './logger.ts'

/** Options of `cronce()`. */
export interface CronceOptions<Tx = unknown> {
  /** A URL (`postgres://…`, `sqlite:FILE`, `memory:`), or what `postgres()`, `sqlite()` or `memory()` returns. `undefined` is an error, never a fallback. */
  readonly store: string | StoreSource<Tx> | undefined
  /** Applications in different namespaces of a store never meet. @default 'default' */
  readonly namespace?: string | undefined
  /**
   * Which program this is. All processes of one program have one name; programs that share a store have different names.
   * @default CRONCE_APP, or the name in the package.json of the application, or 'default'
   */
  readonly app?: string | undefined
  /**
   * The release that this process belongs to, the same for all processes of a release: a commit, an image tag. With an id, a job that the
   * newest release does not declare is retired. @default CRONCE_DEPLOYMENT, or a hash of what this process declares
   */
  readonly deployment?: string | undefined
  /**
   * What this machine is, for work that belongs to it: jobs with `on`. `host` is there by itself: the name of the machine.
   * @default CRONCE_LABELS, as in role=db,zone=a
   */
  readonly labels?: Labels | undefined
  /** Runs at a time on this instance, 1 to 10,000. @default 20 */
  readonly concurrency?: number | undefined
  /** How long the fleet waits for a silent instance before it takes over, 1 s to 10 m. @default '15s' */
  readonly lease?: Duration | undefined
  /** How long `stop()` lets runs finish, up to a day. @default '30s' */
  readonly drain?: Duration | undefined
  /**
   * How long before its due time a fire may be claimed, up to 300 ms, so that it starts on time when many are due at once. 0 switches it off.
   * At most a quarter of the lease; off where the store can't notice a dead process (`cronce doctor` says so). @default 300
   */
  readonly claimAhead?: Duration | undefined
  /**
   * How long the ends of runs are gathered before they are written, up to 1 s, so that runs that end one after the other share a write. A
   * process that dies meanwhile repeats these runs, and each counts as open, with its place, for that much longer. @default 0
   */
  readonly settleDelay?: Duration | undefined
  /** How long a deployment must be gone before an older one counts again, and ready before it retires jobs, up to a day. @default '60s' */
  readonly holdDown?: Duration | undefined
  /** How long live processes of an older release keep a job that the newest release does not declare, up to a day. @default '10m' */
  readonly retireAfter?: Duration | undefined
  /**
   * The fleet writes a heartbeat once per period, 1 s to 1 d, and calls the URL of a dead man's switch with each: so the end of all
   * instances is noticed outside. As `'1m'`, or `{ every, url }`. @default none
   */
  readonly heartbeat?: Duration | HeartbeatOptions | undefined
  /** Stop on SIGTERM and SIGINT, then let the process end. @default true */
  readonly signals?: boolean | undefined
  /** Whether a started app keeps the process from ending. @default true */
  readonly keepAlive?: boolean | undefined
  /** Where failures, dangers, the start and the stop are reported, `false` for nowhere. @default stderr */
  readonly logger?: Logger | false | undefined
  /** How long lines of the operator log are kept, a day to ten years: those of actions in this process. @default '365d' */
  readonly keepActivity?: Duration | undefined
  /** Take over a store that was copied or restored from elsewhere. @default false */
  readonly adopt?: boolean | undefined
  /** Calendars by name, for the option `calendar` of jobs and schedules: the days on which they do not fire. @default none */
  readonly calendars?: Readonly<Record<string, CalendarDays>> | undefined
  /** Where the watchdog sends its alerts. With this option, or `watch`, the fleet watches itself. @default no watchdog */
  readonly alerts?: AlertsOptions | undefined
  /** What the watchdog reports, for all jobs of the app. @default the default of each rule */
  readonly watch?: WatchOptions | undefined
}

export interface ResolvedWatch {
  readonly alerts: ReadAlerts
  readonly thresholds: Thresholds
  /** The option `watch` as plain data. */
  readonly given: Json | undefined
}

/** The option `heartbeat`. */
export interface HeartbeatOptions {
  /** @default '1m' */
  readonly every?: Duration | undefined
  /** Of a dead man's switch: URL/start, URL, URL/fail and URL/log are called. @default none */
  readonly url?: string | undefined
}

export interface Heartbeat {
  readonly everyMs: number
  readonly url: string | null
}

export interface ResolvedOptions {
  readonly namespace: string
  readonly app: string | undefined
  readonly deployment: string | undefined
  readonly labels: Labels
  readonly concurrency: number
  readonly leaseMs: number
  readonly claimAheadMs: number
  readonly settleDelayMs: number
  readonly drainMs: number
  readonly holdDownMs: number
  readonly retireAfterMs: number
  readonly heartbeat: Heartbeat | null
  readonly signals: boolean
  readonly keepAlive: boolean
  readonly logger: Logger
  readonly keepActivityMs: number
  readonly adopt: boolean
  readonly calendars: Calendars
  /** `null`: the app is not watched. */
  readonly watch: ResolvedWatch | null
  /** Warnings about valid values that are probably mistakes, in sentences. */
  readonly warnings: readonly string[]
}

const NAMES = [
  'store',
  'namespace',
  'app',
  'deployment',
  'labels',
  'concurrency',
  'lease',
  'claimAhead',
  'settleDelay',
  'drain',
  'holdDown',
  'retireAfter',
  'heartbeat',
  'signals',
  'keepAlive',
  'logger',
  'keepActivity',
  'adopt',
  'calendars',
  'alerts',
  'watch',
] as const satisfies readonly (keyof CronceOptions)[]

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const YEAR_MS = 365 * DAY_MS
const SILENT: Logger = { error: () => {}, warn: () => {} }

export function resolveOptions(options: unknown): ResolvedOptions {
  const given = readFields('', options, NAMES, "cronce({ store: 'sqlite:./cronce.db' })")
  const duration = (name: (typeof NAMES)[number], usual: number, bounds: Bounds): number =>
    readDuration(name, given[name] ?? usual, { ...bounds, usual })
  return Object.freeze({
    namespace: readName('namespace', given.namespace ?? 'default'),
    app: given.app === undefined ? undefined : readName('app', given.app),
    deployment: given.deployment === undefined ? undefined : readName('deployment', given.deployment),
    labels: readLabels(given.labels),
    concurrency: readInteger('concurrency', given.concurrency ?? 20, { min: 1, max: 10_000 }),
    leaseMs: duration('lease', 15_000, { min: 1_000, max: 600_000 }),
    claimAheadMs: duration('claimAhead', GRACE_MS, { min: 0, max: GRACE_MS }),
    settleDelayMs: duration('settleDelay', 0, { min: 0, max: 1_000 }),
    drainMs: duration('drain', 30_000, { min: 0, max: DAY_MS }),
    holdDownMs: duration('holdDown', 60_000, { min: 1_000, max: DAY_MS }),
    retireAfterMs: duration('retireAfter', 600_000, { min: 1_000, max: DAY_MS }),
    heartbeat: readHeartbeat(given.heartbeat),
    signals: readBoolean('signals', given.signals ?? true),
    keepAlive: readBoolean('keepAlive', given.keepAlive ?? true),
    logger: readLogger(given.logger),
    keepActivityMs: duration('keepActivity', YEAR_MS, { min: DAY_MS, max: 10 * YEAR_MS }),
    adopt: readBoolean('adopt', given.adopt ?? false),
    calendars: readCalendars(given.calendars),
    watch: resolveWatch(given),
    warnings: appSuspicions(given),
  })
}

function resolveWatch({ alerts, watch }: { alerts?: unknown; watch?: unknown }): ResolvedWatch | null {
  if (alerts === undefined && watch === undefined) return null
  const thresholds = readWatch(watch, 'app')
  const given = watch === undefined ? undefined : (JSON.parse(JSON.stringify(watch)) as Json)
  return { alerts: readAlerts(alerts), thresholds, given }
}

const HEARTBEAT_HINT = "Write heartbeat: { url: 'https://hc-ping.com/…' }."

function readHeartbeat(given: unknown): Heartbeat | null {
  if (given === undefined) return null
  if (typeof given === 'string' && given.includes('/')) {
    throw secretInvalid('heartbeat', given, 'a duration, or an object with every and url', HEARTBEAT_HINT)
  }
  const fields = isRecord(given)
    ? readFields('heartbeat', given, ['every', 'url'], "{ every: '1m' }")
    : { every: given }
  const { every = MINUTE_MS, url } = fields as { readonly every?: unknown; readonly url?: unknown }
  const bounds = { min: 1_000, max: DAY_MS, usual: MINUTE_MS }
  return {
    everyMs: readDuration(isRecord(given) ? 'heartbeat.every' : 'heartbeat', every, bounds),
    url: url === undefined ? null : readHttpUrl('heartbeat.url', url, HEARTBEAT_HINT),
  }
}

function readLogger(logger: unknown): Logger {
  if (logger === undefined) return stderrLogger
  if (logger === false) return SILENT
  const { error, warn } = (logger ?? {}) as Partial<Logger>
  if (typeof error === 'function' && typeof warn === 'function') return logger as Logger
  throw new CronceError(
    'OPTION_INVALID',
    `The option logger can't be ${show(logger)}: expected an object with the methods error and warn.`,
    {
      hint: 'Write logger: console, hand in your own logger, or false for none.',
    },
  )
}
