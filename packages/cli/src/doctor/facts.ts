import type { DeploymentsView, InstanceView, ScheduleView, StoreView } from 'cronce'
import type { Problem, Thresholds } from 'cronce/internal'
import type { MigrationStatus } from 'cronce/postgres'

/** What was found out, as plain data: the checks judge it without asking the store. */
export interface Facts {
  readonly machine: MachineFacts
  readonly store: StoreFacts
  /** `null`: the store could not be asked. */
  readonly fleet: FleetFacts | null
}

export interface MachineFacts {
  /** Of this command. */
  readonly version: string
  readonly node: string
  /** Flags of Node.js that turn on what is not finished. */
  readonly experimental: readonly string[]
  readonly zoneData: string
  readonly now: number
  readonly isKubernetes: boolean
  /** How long instances let runs finish, where that is known here. */
  readonly drainMs: number | null
}

export interface Trouble {
  readonly code: string
  readonly message: string
  readonly hint: string | null
}

export interface StoreFacts {
  readonly kind: 'sqlite' | 'postgres' | 'redis' | 'other'
  /** Without secrets. */
  readonly name: string
  /** Why it could not be opened or asked. */
  readonly trouble: Trouble | null
  /** Several answers, one after the other. */
  readonly checks: readonly StoreView[]
  /** What it warned about when it was opened. */
  readonly warnings: readonly { readonly code: string; readonly message: string }[]
  /** PostgreSQL by URL only. */
  readonly migration: Pick<MigrationStatus, 'schema' | 'state' | 'applied' | 'pending'> | null
  /** Why a write that changes nothing was refused; `null`: it was not. */
  readonly write: Trouble | null
  /** SQLite only. */
  readonly place: PlaceFacts | null
}

export interface PlaceFacts {
  readonly file: string
  /** `null`: an ordinary one. */
  readonly fileSystem: string | null
  readonly freeBytes: number
}

export interface FleetFacts {
  /** The store's clock. */
  readonly now: number
  readonly instances: readonly InstanceView[]
  readonly deployments: readonly DeploymentsView[]
  /** What each app set for the watchdog; those of others are the default. */
  readonly thresholds: ReadonlyMap<string, Thresholds>
  readonly schedules: readonly ScheduleFact[]
  /** What the watchdog's rules find wrong with executions that `app.detect()` counts, and with heartbeats. */
  readonly internal: readonly Problem[]
  /** There are more schedules than were looked at. */
  readonly isSample: boolean
  readonly runs: readonly RunFact[]
  /** Of the latest fires that failed, those that ended with a step of unknown outcome. */
  readonly unknownSteps: readonly {
    readonly schedule: string
    readonly dueAt: number
    readonly detail: string | null
  }[]
  /** There are more open runs than were looked at. */
  readonly isRunSample: boolean
}

/** Of a schedule, what the checks ask for. */
export interface ScheduleFact {
  readonly name: string
  readonly job: string
  /** The labels that it belongs to. */
  readonly on: ScheduleView['on']
  /** The app that declares it; `null`: it was made at run time. */
  readonly app: string | null
  readonly state: 'active' | 'paused' | 'retired' | 'finished'
  readonly nextAt: number | null
  /** Since when something of it could have started that nothing in its policy holds back. */
  readonly dueSince: number | null
  /** An instance has to be there for it. */
  readonly needsInstance: boolean
  /** `cronce exec` runs it. */
  readonly isExec?: boolean
  /** Of the runs that an instance executes, the one that began first. */
  readonly oldestRun: { readonly token: string; readonly startedAt: number } | null
  /** What the watchdog's rules find wrong. */
  readonly problems: readonly Problem[]
  readonly timeoutMs: number | null
  readonly failedInRow: number
  readonly pause: { readonly at: number; readonly untilAt: number | null; readonly author: string | null } | null
  /** Since when its oldest fire that has never been run could have been. */
  readonly waitingSince: number | null
  /** Of exec and node-cron: when a call was expected that has not come; `null`: none is missing, or it is not known when to expect one. */
  readonly callMissingAt: number | null
}

export interface RunFact {
  readonly schedule: string
  readonly job: string
  readonly token: string
  /** Empty: it is parked until a call-back says how it ended. */
  readonly instance: string
  readonly startedAt: number
  readonly timeoutMs: number | null
  readonly graceMs: number
}
