import type { TriggerData } from '../trigger/trigger.ts'

export type { TriggerData }

import type { Json } from './json.ts'
import type { StartCause } from './outcome.ts'
import type { Placement } from './placement.ts'
import type { PolicyChoices } from './policy.ts'

/** Epoch milliseconds, always whole. */
export type Instant = number

/** What the user declared: changes only with a new `revision`. */
export interface Definition {
  readonly job: string
  /** `null`: fires only when triggered. */
  readonly trigger: TriggerData | null
  readonly input: Json
  readonly policy: PolicyChoices
  /** Instants before `start` and from `end` on are not the schedule's. */
  readonly start: Instant | null
  readonly end: Instant | null
  /** The schedule is finished after this number of fires. */
  readonly limit: number | null
  /** Whose data it is, so that it can be exported and erased. */
  readonly tenant: string | null
  /** The labels that an instance must have to run it. Absent: any instance that has the job. */
  readonly on?: Placement
}

/** Who may change the definition. `number`: of the app's deployment that defined it; see `policy/deploy/deployment.ts`. */
export type Source =
  | { readonly kind: 'code'; readonly app: string; readonly number: number }
  | { readonly kind: 'client' }

/**
 * All that is needed to decide about a schedule, in one piece: plain data, changed only as a whole, by compare-and-set on
 * `version`. Everything in it is bounded.
 */
export interface ScheduleState {
  /** Its name, unique in the namespace. */
  readonly id: string
  /** Moves up with every change; 0 stands for a schedule that the store does not have. */
  readonly version: number
  readonly definition: Definition
  readonly revision: number
  readonly source: Source
  readonly createdAt: Instant
  readonly updatedAt: Instant
  readonly pause: Pause | null
  /** Its job left the code of the app that declared it: nothing is planned. Waiting fires are frozen, unless it was renamed. */
  readonly retiredAt: Instant | null
  /**
   * The stretches in which it was retired, or its job had another name; the latest last: `MAX_RETIREMENTS` of them, and earlier ones that
   * alone know a name of the job. The current one has no end.
   */
  readonly retirements?: readonly Retirement[]
  /** The high-water mark: every instant before it is on record, none from it on. `null`: there will be no more. */
  readonly nextAt: Instant | null
  /** Up to here everything is settled: `nextAt` is the first instant after it, whatever the time zone data says later. */
  readonly plannedTo?: Instant
  /** Instants still to come that an operator skipped: on record already, whatever the rule becomes until then. */
  readonly skipped?: readonly Instant[]
  /** Version of the time zone data that `nextAt` was computed with; `null` where zones do not matter. */
  readonly zoneData: string | null
  /** When an instance must look at the schedule again; `null`: only after a change. */
  readonly wakeAt: Instant | null
  /** Counts fencing tokens. Never goes back, not even when the schedule is removed and made again. */
  readonly tokens: number
  /** Fires counted against the limit. */
  readonly fired: number
  /** Lines of its history so far: the number of the last one. */
  readonly ended: number
  /** Records of instants before this may be gone. */
  readonly trimmedBefore: Instant | null
  readonly failedInRow: number
  readonly last: Last
  /** Fires that have not ended, by dueAt. */
  readonly open: readonly OpenFire[]
  readonly backfills: readonly Backfill[]
}

export const MAX_RETIREMENTS = 10

export interface Retirement {
  readonly from: Instant
  readonly to: Instant | null
  /**
   * `dropped`: the newest deployment does not declare it. `absent`: no live process declared it any more. `renamed`: a job was declared
   * with `was`.
   */
  readonly cause: 'dropped' | 'absent' | 'renamed'
  /** The deployment that retired it, or whose declarations stand in for it. */
  readonly deployment: string
  readonly number: number
  /** The name that the job had in this stretch: its instants are on record under that one. */
  readonly renamedTo?: string
  /**
   * Counts how often the job had changed its name when it got this one. Of names that are retired, the one with the highest turn had the
   * job last, whatever the clock said.
   */
  readonly turn?: number
}

export interface Last {
  readonly dueAt: Instant | null
  readonly succeededDueAt: Instant | null
  readonly succeededAt: Instant | null
}

export interface Pause {
  readonly at: Instant
  readonly until: Instant | null
  readonly note: string | null
  readonly author: string | null
  /** Which instants of the pause run when it ends by itself. */
  readonly missed: MissedChoice
}

export type MissedChoice = 'skip' | 'latest' | 'all'

export type FireKind = 'scheduled' | 'backfill' | 'manual'

/** A fire that has not ended: it waits (for its time, its turn, its retry) or runs. */
export interface OpenFire {
  readonly dueAt: Instant
  /** Empty for scheduled and backfilled instants; the dedupe key or a random id for manual ones. */
  readonly nonce: string
  readonly kind: FireKind
  /** An operator's retry, or the backfill of a missed instant, opens another round of the same fire. */
  readonly round: number
  readonly plannedAt: Instant
  /** Not to be started before: dueAt plus jitter, or the time of the retry. */
  readonly readyAt: Instant
  /** Starts whatever else is active. */
  readonly ignoresOverlap: boolean
  /** Runs so far, in all rounds. */
  readonly attempt: number
  /** Of this round. */
  readonly failures: number
  readonly crashes: number
  /** Set once it has to be run again: a run that has not begun by then never will, and the fire ends so. */
  readonly giveUp?: { readonly at: Instant; readonly reason: 'retry-too-late' | 'recovery-too-late' }
  readonly run: OpenRun | null
  /** Set once something other than its own time keeps it from its first run. */
  readonly wait?: Wait
  /** Who requested this round, and why, if given. */
  readonly asked?: Asked
  /** What it was planned with, where that is no longer the schedule's, or was given by the one who triggered it. */
  readonly own: { readonly input: Json; readonly policy: PolicyChoices } | null
  /** Whose data it is, where the schedule has become another tenant's since it was planned. */
  readonly tenant?: string | null
}

/** An open fire with a run. */
export interface RunningFire extends OpenFire {
  readonly run: OpenRun
}

export function isRunning(fire: OpenFire): fire is RunningFire {
  return fire.run !== null
}

/** What a fire that was never claimed waits for, as far as the misfire policy needs to know. */
export interface Wait {
  /** Recorded with the run if that starts late. `asked`: misfire does not judge the fire. */
  readonly cause: Exclude<StartCause, 'recovered'>
  /** Lateness counts from here: the end of a pause, or of the fire that it waited for. */
  readonly since?: Instant
  /** It was found late and kept: the misfire window is not judged again. */
  readonly late?: true
}

export interface Asked {
  readonly author: string | null
  readonly note: string | null
}

export interface OpenRun {
  readonly token: string
  /** `NOBODY` while it is parked. */
  readonly instance: string
  /** The number of the claim, unique for its instance: tells whether an unknown answer meant yes. */
  readonly claim: number
  readonly startedAt: Instant
  /** Why it started late, where it started later than the grace. */
  readonly cause?: StartCause
  /** A request to end the run. From `revokeAt` on any instance may end it. */
  readonly cancel: CancelRequest | null
  /** Names of the fleet-wide limits that it counts against, where there are any. */
  readonly slots?: readonly string[]
  /** The run's work goes on elsewhere: a caller with its token reports the outcome by then, or the run fails. */
  readonly parkedUntil?: Instant
}

/** The instance of a parked run: it has none, and so outlives the one that began it. */
export const NOBODY = ''

export interface CancelRequest {
  readonly at: Instant
  readonly reason: 'cancelled-by-operator' | 'replaced'
  readonly detail: string | null
  readonly revokeAt: Instant
}

/** A requested range of instants to run; materialised a few at a time. */
export interface Backfill {
  readonly id: string
  /** First instant not yet looked at. */
  readonly from: Instant
  /** Up to and including. */
  readonly to: Instant
  readonly askedAt: Instant
  readonly author: string | null
  readonly note?: string
}
