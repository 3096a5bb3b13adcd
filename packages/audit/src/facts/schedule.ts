import type { Place } from './place.ts'

/** Who decides that a schedule is due. Each has its own dialect and its own way to keep runs apart. */
export type Source =
  | 'node-cron'
  | 'cron'
  | 'nest'
  | 'node-schedule'
  | 'croner'
  | 'bree'
  | 'toad-scheduler'
  | 'agenda'
  | 'bull'
  | 'bullmq'
  | 'pg-boss'
  | 'apscheduler'
  | 'py-schedule'
  | 'celery'
  | 'django-crontab'
  | 'crontab'
  | 'systemd'
  | 'kubernetes'
  | 'github-actions'
  | 'vercel'
  | 'cloudflare'
  | 'eventbridge'

/** `process`: a timer inside each instance. `queue`: a store keeps one. `host`: one per machine. `platform`: one for all. */
export type Runner = 'process' | 'queue' | 'host' | 'platform'

/** Grammar of an expression: see `cron/dialects.ts`. */
export type Dialect =
  | 'node-cron'
  | 'cron'
  | 'cron-parser'
  | 'croner'
  | 'vixie'
  | 'robfig'
  | 'quartz'
  | 'eventbridge'
  | 'github'
  | 'vercel'
  | 'celery'
  | 'apscheduler'

/** When a schedule fires. What could not be evaluated stays `unknown`. */
export type When =
  | { readonly kind: 'cron'; readonly expression: string; readonly dialect: Dialect }
  | { readonly kind: 'every'; readonly ms: number }
  /** Times of day, in words of the source: `day.at("10:30")`, `OnCalendar=daily`. */
  | { readonly kind: 'calendar'; readonly text: string; readonly isFixedHour: boolean }
  | { readonly kind: 'once' }
  | { readonly kind: 'invalid'; readonly text: string; readonly reason: string }
  | { readonly kind: 'unknown'; readonly text: string }

/** `platform`: the source defines the zone itself (UTC). `computed`: stated by an expression that was not evaluated. */
export type Zone =
  | { readonly kind: 'stated'; readonly name: string }
  | { readonly kind: 'computed' }
  | { readonly kind: 'platform' }
  | { readonly kind: 'none' }

/** What keeps instances from running the same fire. */
export type Guard =
  | { readonly kind: 'none' }
  /** Effective across instances: a lease, a leader flag, an atomic claim, a queue. */
  | { readonly kind: 'shared'; readonly text: string; readonly place: Place }
  /** One instance is chosen by configuration. */
  | { readonly kind: 'designated'; readonly text: string; readonly place: Place }
  /** Named like a guard, but its code could not be found. */
  | { readonly kind: 'unresolved'; readonly text: string; readonly place: Place }
  /** Looks like a guard, and keeps no other instance away. */
  | { readonly kind: 'ineffective'; readonly text: string; readonly place: Place }

/** What a handler does, as far as it matters when it runs twice. */
export type Effect = 'unknown' | 'logs' | 'set-based' | 'process-local' | 'none'

export interface Handler {
  /** `null`: not known. */
  readonly isAsync: boolean | null
  readonly effect: Effect
  /** Calls nothing: a function is created and dropped, and where. */
  readonly dropped: Place | null
  /** Function or command, for the inventory. */
  readonly text: string
  /** What happens to promises and calls in it, where the reader looks for that. */
  readonly flow?: HandlerFlow
}

/** Promises, time limits and effects of a handler. */
export interface HandlerFlow {
  /** A call whose promise nothing waits for. */
  readonly floating: Place | null
  /** Code that can reject, while nothing in the handler catches it. */
  readonly uncaught: Place | null
  /** A request without a time limit. */
  readonly unlimited: Place | null
  /** An effect in another system, without a key that makes a second one harmless. */
  readonly unkeyed: { readonly place: Place; readonly text: string } | null
}

/** One rule by which something runs at times. */
export interface Schedule {
  readonly kind: 'schedule'
  readonly place: Place
  readonly source: Source
  readonly runner: Runner
  readonly name: string | null
  readonly when: When
  readonly zone: Zone
  /** DST002 is reported once for all schedules with the same group. `null`: for each. */
  readonly zoneGroup: string | null
  readonly guard: Guard
  readonly handler: Handler
  /** Whether a run can start while the last one is still running. */
  readonly overlap: 'possible' | 'prevented' | 'unknown'
  /** Registered per request or row rather than when the process starts. */
  readonly isDynamic: boolean
  /** Where the expression is written, if that is another place. */
  readonly whenPlace?: Place
  /** The function around it is never called, as far as the files say. */
  readonly isUnreached?: boolean
  /** Importing the module starts it. */
  readonly isAtImport?: boolean
}

export const NO_GUARD: Guard = { kind: 'none' }
export const NO_ZONE: Zone = { kind: 'none' }
export const PLATFORM_ZONE: Zone = { kind: 'platform' }
