/** Schedulers under the same faults. Each decides in its own way which of three processes runs a due time. */
export const SYSTEMS = [
  'cronce-postgres',
  'cronce-redis',
  'bullmq',
  'pg-boss',
  'node-cron-lock-freed',
  'node-cron-lock-kept',
  'node-cron',
] as const

export type System = (typeof SYSTEMS)[number]

export type ServerKind = 'postgres' | 'redis'

export interface Description {
  readonly name: string
  /** The package whose version the report names. */
  readonly package: string
  readonly server: ServerKind | null
  /** What differs from the defaults of its documentation, and why. */
  readonly settings: string
}

export const DESCRIPTIONS: Readonly<Record<System, Description>> = {
  'cronce-postgres': {
    ...{ name: 'cronce on PostgreSQL', package: 'cronce', server: 'postgres' },
    settings: 'defaults (lease 15 s, `at-least-once`); the job passes `run.signal` on and gives the ledger `run.token`',
  },
  'cronce-redis': {
    ...{ name: 'cronce on Redis', package: 'cronce', server: 'redis' },
    settings: 'the same',
  },
  bullmq: {
    ...{ name: 'BullMQ job schedulers', package: 'bullmq', server: 'redis' },
    settings:
      'defaults (lock 30 s, stalled check every 30 s); `upsertJobScheduler` at each start, as documented; jobs are cancelled by `cancelJob` on `lockRenewalFailed`, and pass the signal on',
  },
  'pg-boss': {
    ...{ name: 'pg-boss schedules', package: 'pg-boss', server: 'postgres' },
    settings:
      "`heartbeatSeconds: 15`, since without it a killed job is retried after 15 minutes; `missed: 'once'`, so that due times without a pass are caught up; cron passes every second and `pollingIntervalSeconds: 0.5` instead of every 30 s and 2 s, so that it starts as soon as the others; the job passes `job.signal` on",
  },
  'node-cron-lock-freed': {
    ...{ name: 'node-cron, lock freed at the end', package: 'node-cron', server: 'redis' },
    settings:
      '`SET NX PX` for each due time with the default lease, freed at the end by a script that compares its token',
  },
  'node-cron-lock-kept': {
    ...{ name: 'node-cron, lock kept', package: 'node-cron', server: 'redis' },
    settings: '`SET NX PX` for each due time, kept for ten minutes instead of being freed',
  },
  'node-cron': {
    ...{ name: 'node-cron alone', package: 'node-cron', server: null },
    settings: 'no coordination: the control, whose duplicates the ledger must see',
  },
}

/** What a process is started with. */
export interface Order {
  readonly system: System
  readonly node: string
  /** Through the proxy of this process. */
  readonly url: string
  readonly schedules: number
  readonly workMs: number
  /** What the process writes survives its end. */
  readonly ledger: string
  /** Time 0 of the ledger, by the monotonic clock of the host, in nanoseconds. */
  readonly origin: string
}

/** Every minute at second 0: the finest cron that all of these systems have. */
export const PATTERN = '* * * * *'
export const MINUTE_MS = 60_000

export function scheduleName(index: number): string {
  return `job-${index}`
}

/** One write(2) each. `at` is the host's monotonic clock, which no fault touches. */
export type Line =
  | ({ readonly kind: 'start' } & Attempt)
  /** It did its work to the end. */
  | ({ readonly kind: 'end' } & Attempt)
  /** Its signal told it to stop, and it did. */
  | ({ readonly kind: 'stopped' } & Attempt)

export interface Attempt {
  readonly at: number
  readonly node: string
  readonly schedule: string
  readonly dueAt: number
  /** A fencing token that grows with each attempt, where the scheduler hands the job one. */
  readonly token: string | null
}
