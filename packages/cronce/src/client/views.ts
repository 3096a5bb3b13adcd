import type { Json } from '../model/json.ts'
import type { Outcome, Reason, StartCause } from '../model/outcome.ts'
import type { Policy } from '../model/policy.ts'
import type { ErrorRecord, LogLine, Progress } from '../model/record.ts'
import type { FireKind, MissedChoice, Retirement } from '../model/schedule.ts'
import type { TriggerData } from '../trigger/trigger.ts'

/** What users see: plain data. Instants are epoch milliseconds (`…At`), durations milliseconds (`…Ms`), tokens texts. */

export interface ScheduleView {
  readonly name: string
  readonly job: string
  /** `retired`: its job left the code. `finished`: it had instants, and all are over. */
  readonly state: 'active' | 'paused' | 'retired' | 'finished'
  /** `null`: fires only when triggered. */
  readonly trigger: TriggerData | null
  readonly input: Json
  /** With all defaults filled in. */
  readonly policy: Policy
  /** The window of its instants: `startAt` included, `endAt` not. */
  readonly startAt: number | null
  readonly endAt: number | null
  /** Fires in all, and how many of them there were. */
  readonly limit: number | null
  readonly fired: number
  readonly tenant: string | null
  /** The labels that an instance must have to run it, each with its possible values; `null`: any that has the job. */
  readonly on: Readonly<Record<string, readonly string[]>> | null
  /** The app whose code declares it; `null`: it was made by a client. */
  readonly app: string | null
  /** How often it was defined. */
  readonly revision: number
  readonly createdAt: number
  readonly updatedAt: number
  readonly retiredAt: number | null
  /**
   * The last ten stretches in which it was retired, and the last one of each other name that its job has had; the latest last. The current one
   * has `to: null`. Its instants in them did not fire.
   */
  readonly retirements: readonly Retirement[]
  readonly pause: PauseView | null
  /**
   * When it is due next. `null`: never again, or only when triggered. While the schedule is paused, this is the first due time that
   * has not been decided: it may be inside the pause, and then does not fire on time.
   */
  readonly nextAt: number | null
  /** Instants to come that an operator skipped. */
  readonly skipped: readonly number[]
  /** The latest fire that was run to its end, and the latest that succeeded. */
  readonly last: {
    readonly dueAt: number | null
    readonly succeededDueAt: number | null
    readonly succeededAt: number | null
  }
  readonly failedInRow: number
  /** Fires that have not ended, by `dueAt`: at most 1,000. */
  readonly open: readonly OpenFireView[]
  /** Stretches that are being filled in. */
  readonly backfills: readonly BackfillView[]
}

/** A pause of a schedule. */
export interface PauseView {
  readonly at: number
  /** When the pause ends by itself; `null`: when it is resumed. */
  readonly untilAt: number | null
  readonly note: string | null
  readonly author: string | null
  /** Which instants of the pause run when it ends. */
  readonly missed: MissedChoice
}

/** A fire that has not ended. */
export interface OpenFireView {
  readonly dueAt: number
  readonly nonce: string
  readonly kind: FireKind
  /** `cancelling`: it runs, and was asked to end. `parked`: its work goes on elsewhere, and a call-back is waited for. */
  readonly state: 'waiting' | 'running' | 'cancelling' | 'parked'
  /** Not to be started before: the due time with jitter, or the time of the retry. */
  readonly readyAt: number
  /** Runs so far. */
  readonly attempt: number
  /** The run that is going on. */
  readonly token: string | null
  readonly instance: string | null
  readonly startedAt: number | null
  /** The deadline for the call-back. */
  readonly parkedUntilAt: number | null
}

/** A stretch that is being filled in. */
export interface BackfillView {
  readonly id: string
  /** What is left of it: from here, to there, both included. */
  readonly fromAt: number
  readonly toAt: number
  readonly askedAt: number
  readonly author: string | null
  readonly note: string | null
}

/** A fire, as lists show it. */
export interface FireView {
  readonly schedule: string
  readonly dueAt: number
  /** Empty, or the dedupe key or a random id of a manual fire. */
  readonly nonce: string
  readonly job: string
  readonly kind: FireKind
  /** `open`, or how it ended. */
  readonly state: 'open' | Outcome
  readonly reason: Reason | null
  /** The reason in words for people. */
  readonly detail: string | null
  /** 1, and one more for each retry by an operator or backfill. */
  readonly round: number
  /** Runs so far. */
  readonly attempt: number
  readonly plannedAt: number
  readonly readyAt: number
  readonly endedAt: number | null
  /** When the record goes. */
  readonly expiresAt: number | null
  /** Its own input; `null` if it has its schedule's. */
  readonly input: Json
  /** Who requested it (a trigger, a retry, a backfill) and why; `null`: not given. */
  readonly asked: { readonly author: string | null; readonly note: string | null } | null
  /** This record stands for `count` instants, from `dueAt` to `untilAt`, that ended alike. `null`: for one. */
  readonly range: { readonly untilAt: number; readonly count: number } | null
}

/** A run, as lists show it. */
export interface RunView {
  readonly schedule: string
  readonly dueAt: number
  readonly nonce: string
  /** The fencing token: unique in the schedule, a decimal text. */
  readonly token: string
  readonly job: string
  readonly round: number
  /** Which try at its fire it is. */
  readonly attempt: number
  /** Empty once the run is parked: it then belongs to no instance. */
  readonly instance: string
  /** `cancelling`: it runs, and was asked to end. `parked`: its work goes on elsewhere, and a call-back is waited for. */
  readonly state: 'running' | 'cancelling' | 'parked' | Outcome
  readonly reason: Reason | null
  readonly detail: string | null
  readonly startedAt: number
  /** How long after it could have. */
  readonly latenessMs: number
  /** Why it started later than its grace; `null`: it did not. */
  readonly cause: StartCause | null
  readonly endedAt: number | null
  /** `null` while it runs. */
  readonly durationMs: number | null
  readonly cancel: { readonly at: number; readonly reason: string; readonly detail: string | null } | null
  readonly error: ErrorRecord | null
  readonly result: Json
  readonly progress: Progress | null
  readonly log: readonly LogLine[]
  /** The log was longer than what is kept of it. */
  readonly logCut: boolean
}

/** A durable step of a fire. */
export interface StepView {
  readonly schedule: string
  readonly dueAt: number
  readonly nonce: string
  readonly step: string
  /** `begun`: it is still running, or its outcome is unknown. */
  readonly state: 'begun' | 'done' | 'failed'
  /** Of the run that began it. */
  readonly token: string
  readonly result: Json
  readonly begunAt: number
  readonly endedAt: number | null
}

/** An instance of the fleet. */
export interface InstanceView {
  readonly id: string
  readonly app: string
  readonly deployment: string
  /** Jobs it can run. */
  readonly jobs: readonly string[]
  readonly host: string
  /** Its labels besides `host`. */
  readonly labels: Readonly<Record<string, string>>
  readonly pid: number
  readonly version: string
  /** Version of its time zone data. */
  readonly zoneData: string
  /** `silent`: its lease has run out, or on SQLite its process is gone, and no peer has declared it dead yet. */
  readonly state: 'live' | 'draining' | 'silent' | 'left' | 'dead'
  readonly startedAt: number
  /** When it left or was declared dead. `null`: neither. */
  readonly endedAt: number | null
  readonly renewedAt: number
  /** How far its wall clock is from the store's, as it measured. */
  readonly clockOffsetMs: number
  readonly running: number
  /** Runs it takes at a time. */
  readonly concurrency: number
  /** An operator wants it to take nothing new. */
  readonly drain: boolean
}
