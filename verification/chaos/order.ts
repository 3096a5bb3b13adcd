import type { Entry, RunOfFire, Time } from '../../packages/checker/src/history.ts'
import type { SyncPoint } from '../../packages/cronce/src/engine/parts.ts'
import type { CronceEvent } from '../../packages/cronce/src/model/event.ts'
import type { ChaosJob } from './jobs.ts'

/** What a process is started with. */
export interface Order {
  /** This incarnation's name; the next one in its place has another. */
  readonly node: string
  /** Its own file, which outlives it. */
  readonly witness: string
  /** What the monotonic clock of the host showed at time 0 of the history, in nanoseconds. */
  readonly origin: string
  readonly seed: number
  readonly store: { readonly module: string; readonly url: string }
  readonly leaseMs: number
  /** A process that is not scheduled for longer than this counts as starved. */
  readonly starvedMs: number
  readonly deployment: string
  readonly jobs: readonly ChaosJob[]
  /** In place from the beginning. */
  readonly ambush: Ambush | null
}

/** Something that happens to a process the next time that it comes to a place, or the `nth` time. */
export interface Ambush {
  readonly point: SyncPoint
  readonly nth: number
  readonly blow: Blow
  /** How long it blocks. */
  readonly ms: number
}

/**
 * `stop`: until the controller resumes it. The last three name the store call after that point; `request-late` stops
 * right before the request is sent, when everything is decided.
 */
export type Blow = 'kill' | 'stop' | 'block' | 'request-lost' | 'answer-lost' | 'request-late'

/** Messages from the controller to a process. */
export type Command =
  | { readonly type: 'ambush'; readonly ambush: Ambush | null }
  | { readonly type: 'block'; readonly ms: number }
  /** This share of its store calls is lost, half of them before and half after they were applied. */
  | { readonly type: 'lossy'; readonly rate: number }
  /** The next one of its transactions is stopped in the middle, or is not. */
  | { readonly type: 'stop-writing'; readonly wanted: boolean }
  /** Write down what the process has witnessed up to now, and confirm. */
  | { readonly type: 'look' }
  | { readonly type: 'answered'; readonly question: number; readonly accepted: boolean }

/**
 * Messages from a process to the controller. They prove nothing, except what the process presents to the fenced
 * resource.
 */
export type Report =
  | { readonly type: 'ready' }
  | { readonly type: 'looked' }
  /** Something was done to it from inside. */
  | { readonly type: 'struck' }
  | { readonly type: 'event'; readonly event: CronceEvent }
  | { readonly type: 'present'; readonly question: number; readonly run: RunOfFire }

/**
 * What a process writes down: entries of the history as they are, and three that become some when all is known. Each is one
 * write(2) to a file that is only appended to, so that it survives `kill -9`.
 */
export type Line =
  | Entry
  /** Something was done to this process, from inside; `over` follows, or the process ended. */
  | {
      readonly kind: 'struck'
      readonly at: Time
      readonly fault: string
      readonly isForAll: boolean
      readonly id: number
    }
  | { readonly kind: 'over'; readonly at: Time; readonly id: number }
  /** The process is about to write into the user's table. The table shows the result. */
  | ({ readonly kind: 'writing'; readonly at: Time } & RunOfFire)
  /** It did the work of a step itself, and (`kept`) got the answer that this is on record. */
  | ({ readonly kind: 'worked' | 'kept'; readonly at: Time; readonly step: string } & RunOfFire)

/** A row of the user's table. It has no key, so a duplicate write is visible. */
export interface EffectRow extends RunOfFire {
  readonly node: string
  readonly at: Time
}

export function sinceOrigin(origin: bigint): Time {
  return Number((process.hrtime.bigint() - origin) / 1_000n) / 1_000
}
