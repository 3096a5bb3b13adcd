import type { Rule, Severity } from './alert.ts'
import type { Outcome, Reason, StartCause } from './outcome.ts'
import type { ErrorRecord, FireKey } from './record.ts'
import type { CancelRequest, Instant, Retirement } from './schedule.ts'

interface AboutFire {
  readonly schedule: string
  readonly job: string
  readonly dueAt: Instant
  readonly nonce: string
}

interface AboutRun extends AboutFire {
  readonly token: string
  readonly attempt: number
  readonly instance: string
}

interface AboutSchedule {
  readonly schedule: string
  readonly job: string
}

export interface AboutProcess {
  readonly instance: string
  readonly deployment: string
  readonly host: string
  readonly pid: number
}

/** One execution of work that cronce does not schedule. */
export interface Execution {
  readonly instance: string
  readonly host: string
  readonly pid: number
  readonly at: Instant
}

/** What happened, in the past tense, as plain data: ids and values, nothing with a method. */
export type CronceEvent =
  | ({ readonly type: 'fire.planned' } & AboutFire)
  /** A fire ended without a run: `count` instants from `dueAt` to `untilAt`. */
  | ({
      readonly type: 'fire.skipped' | 'fire.missed'
      readonly reason: Reason
      readonly detail: string | null
      readonly count: number
      readonly untilAt: Instant
    } & AboutFire)
  | ({
      readonly type: 'fire.ended'
      readonly outcome: Outcome
      readonly reason: Reason
      readonly detail: string | null
      readonly attempt: number
    } & AboutFire)
  | ({ readonly type: 'run.started'; readonly latenessMs: number; readonly cause: StartCause | null } & AboutRun)
  | ({
      readonly type: 'run.ended'
      readonly outcome: Outcome
      readonly reason: Reason
      readonly durationMs: number
      readonly error: ErrorRecord | null
    } & AboutRun)
  /** It failed or its instance died, and the fire will be run again. */
  | ({ readonly type: 'run.retried'; readonly readyAt: Instant; readonly reason: Reason } & AboutRun)
  /** Its work goes on elsewhere: the run stays open, without an instance, until a call-back comes or the time is up. */
  | ({ readonly type: 'run.parked'; readonly until: Instant } & AboutRun)
  /** The run was asked to end; its signal is aborted. */
  | ({ readonly type: 'run.cancelled'; readonly reason: CancelRequest['reason'] } & AboutRun)
  /** It has no timeout and has been running for an hour, or another hour. */
  | ({ readonly type: 'run.stuck'; readonly runningMs: number } & AboutRun)
  /** It ignored its signal: it is over for the fleet, but may still be computing here. */
  | ({ readonly type: 'run.overran' } & AboutRun)
  /** Its transaction has settled the fire as succeeded, and its handler threw afterwards. It is not run again. */
  | ({ readonly type: 'run.failedLate'; readonly error: ErrorRecord } & AboutRun)
  /** Its job is exactly-once, and it ended without a transaction. Emitted once for each job and instance. */
  | ({ readonly type: 'run.untransacted' } & AboutRun)
  /** It was overtaken: what it wanted to write was refused. */
  | ({ readonly type: 'run.fenced'; readonly refused: 'settle' | 'once' | 'transaction' | 'progress' } & AboutRun)
  /** What `app.detect()` wraps was executed again within its window. `isRefused`: the second execution did not happen. */
  | {
      readonly type: 'execution.duplicated'
      readonly name: string
      readonly windowMs: number
      readonly isRefused: boolean
      readonly first: Execution
      readonly second: Execution
    }
  /** Its instance died; this is the run that was lost. */
  | ({ readonly type: 'run.lost' } & AboutRun)
  /** A renewal came late or not at all: nothing new is begun until it has come. */
  | { readonly type: 'lease.doubted'; readonly instance: string }
  /** The lease can't be trusted any more: all signals are aborted. */
  | { readonly type: 'lease.lost'; readonly instance: string; readonly runs: number }
  | { readonly type: 'lease.regained'; readonly instance: string }
  | { readonly type: 'instance.joined'; readonly instance: string; readonly app: string; readonly deployment: string }
  | { readonly type: 'instance.draining'; readonly instance: string; readonly runs: number }
  | { readonly type: 'instance.left'; readonly instance: string }
  /** This instance declared another one dead: its process is gone, or its lease ran out. */
  | { readonly type: 'instance.died'; readonly instance: string; readonly by: 'probe' | 'lease' }
  /** This instance was declared dead, and goes on under a new id. */
  | { readonly type: 'instance.fenced'; readonly instance: string; readonly successor: string }
  | ({
      readonly type: 'schedule.created' | 'schedule.changed' | 'schedule.removed'
    } & AboutSchedule)
  /** It stops firing. `deployment`: the one that no longer declares it, or whose declarations stand in for it. */
  | ({
      readonly type: 'schedule.retired'
      readonly cause: Retirement['cause']
      readonly deployment: string
    } & AboutSchedule)
  /** A retired schedule is declared again, and fires again. */
  | ({ readonly type: 'schedule.returned'; readonly retiredAt: Instant } & AboutSchedule)
  /**
   * The newest deployment of the app does not declare it, but live processes of older deployments do: it is retired in `retireInMs`.
   * Emitted by a process of the newest deployment and by every process that declares it.
   */
  | ({
      readonly type: 'schedule.contested'
      readonly app: string
      readonly newest: string
      readonly retireInMs: number
      readonly declaredBy: readonly AboutProcess[]
    } & AboutSchedule)
  /** Another live process of the same app declares none of the schedules of this one: perhaps it is another program. */
  | {
      readonly type: 'deployment.disjoint'
      readonly app: string
      readonly deployment: string
      readonly other: AboutProcess
      readonly jobs: readonly string[]
    }
  | ({ readonly type: 'schedule.finished' } & AboutSchedule)
  /**
   * A process declares it, but it stays as it is. `process`: of the same app and not this one, if it was another process's declaration of a
   * schedule that this one declares, too.
   */
  | ({
      readonly type: 'schedule.refused'
      readonly code: string
      readonly message: string
      readonly process?: AboutProcess
    } & AboutSchedule)
  | ({
      readonly type: 'schedule.paused'
      readonly note: string | null
      readonly author: string | null
      readonly until: Instant | null
    } & AboutSchedule)
  | ({
      readonly type: 'schedule.resumed'
      readonly note: string | null
      readonly author: string | null
    } & AboutSchedule)
  /** This instance can't plan it, as for a time zone that its runtime does not know: others may, and all else goes on. */
  | ({ readonly type: 'schedule.failed'; readonly error: ErrorRecord } & AboutSchedule)
  /** Newer time zone data moved its next instant. */
  | ({ readonly type: 'schedule.moved'; readonly from: Instant | null; readonly to: Instant | null } & AboutSchedule)
  /** The deployment is the highest-numbered one that counts. */
  | {
      readonly type: 'deployment.activated'
      readonly app: string
      readonly deployment: string
      readonly number: number
    }
  /** The store did not answer, or not with what was asked. It is asked again. */
  | {
      readonly type: 'store.failed'
      readonly operation: string
      readonly error: ErrorRecord
      readonly retryInMs: number
    }
  | { readonly type: 'store.recovered' }
  /**
   * The store went back in time: a failover, or a copy that was put in its place. `lost`: it says itself that writes are gone
   * which it had acknowledged here. `restored`: fires that this instance had begun or ended, and has written again. `doubtful`:
   * fires that ran here and may run twice, since a peer began them again before, or their schedule is gone. `incomplete`: more
   * may be lost than this instance remembers.
   */
  | {
      readonly type: 'store.rolledBack'
      readonly epoch: number
      readonly lost: boolean
      readonly restored: readonly FireKey[]
      readonly doubtful: readonly FireKey[]
      readonly incomplete: boolean
    }
  | { readonly type: 'clock.skewed'; readonly instance: string; readonly offsetMs: number }
  /** The watchdog noticed a problem, or that it is over. Emitted by the instance that watches. */
  | {
      readonly type: 'alert.fired' | 'alert.resolved'
      readonly app: string
      readonly rule: Rule
      readonly severity: Severity
      /** The first of them; `count`: how many there are. */
      readonly subjects: readonly string[]
      readonly count: number
    }

/** The types of events that `app.on()` takes. */
export type EventType = CronceEvent['type']

const TYPES = {
  'fire.planned': true,
  'fire.skipped': true,
  'fire.missed': true,
  'fire.ended': true,
  'run.started': true,
  'run.ended': true,
  'run.retried': true,
  'run.parked': true,
  'run.cancelled': true,
  'run.stuck': true,
  'run.overran': true,
  'run.failedLate': true,
  'run.untransacted': true,
  'run.fenced': true,
  'run.lost': true,
  'lease.doubted': true,
  'lease.lost': true,
  'lease.regained': true,
  'execution.duplicated': true,
  'instance.joined': true,
  'instance.draining': true,
  'instance.left': true,
  'instance.died': true,
  'instance.fenced': true,
  'schedule.created': true,
  'schedule.changed': true,
  'schedule.removed': true,
  'schedule.retired': true,
  'schedule.returned': true,
  'schedule.contested': true,
  'deployment.disjoint': true,
  'schedule.finished': true,
  'schedule.refused': true,
  'schedule.paused': true,
  'schedule.resumed': true,
  'schedule.failed': true,
  'schedule.moved': true,
  'deployment.activated': true,
  'store.failed': true,
  'store.recovered': true,
  'store.rolledBack': true,
  'clock.skewed': true,
  'alert.fired': true,
  'alert.resolved': true,
} as const satisfies Readonly<Record<EventType, true>>

/** All events, by name. */
export const EVENT_TYPES = Object.keys(TYPES) as readonly EventType[]

/** The event of a type. */
export type EventOf<Type extends EventType> = OfType<CronceEvent, Type>

/** Event by event, since some stand for several types. */
type OfType<Event, Type> = Event extends { readonly type: infer Types }
  ? Type extends Types
    ? Event & { readonly type: Type }
    : never
  : never
