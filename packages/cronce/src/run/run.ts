import type { Jsonified, ReturnsJson } from '../model/json.ts'
import type { FireKind, Instant } from '../model/schedule.ts'

/** What a handler gets. */
export interface Run<Input = unknown, Tx = unknown> {
  readonly fire: Fire<Input>
  /** 1 for the first run of the fire. */
  readonly attempt: number
  /** The fencing token: higher than that of every earlier run of the schedule. For resources that can check it. */
  readonly token: bigint
  /** Aborted on timeout, cancel, replace, when the instance stops, and when the lease can't be trusted any more. */
  readonly signal: AbortSignal
  readonly instance: string
  /** Of the schedule, before this fire: for work that goes on where the last one ended. */
  readonly previous: Previous
  /**
   * A durable step: `work` is called by one run of the fire, and its result kept; later runs get that and do not call it.
   * If an earlier run began it and its outcome is unknown, it throws STEP_UNKNOWN, unless `rerun` allows it again.
   * The result is stored as JSON. One that JSON would change (a Date, a Map, an Error) is refused: STEP_RESULT_INVALID.
   */
  once<Value>(
    step: string,
    work: (() => Value | Promise<Value>) & ReturnsJson<Value>,
    options?: StepOptions,
  ): Promise<Jsonified<Value>>
  /** Stable for the fire, whatever attempt asks; for payment gateways and others that take one. */
  idempotencyKey(step?: string): string
  /** A fraction from 0 to 1: 0.5, not 50. Kept with the run, written at most once a second. */
  progress(fraction: number, message?: string): void
  /** Kept with the run, up to 64 KB. */
  readonly log: RunLog
  /** Work in a transaction of the store's own database, which also settles the fire: both happen or neither. Once per run. */
  transaction<Value>(work: ((tx: Tx) => Value) & ReturnsInTime<Tx, Value>): Promise<Awaited<Value>>
}

/** The transaction of a store that runs its statements synchronously: a `DatabaseSync` of `node:sqlite`. */
interface SynchronousTransaction {
  exec(sql: string): void
  prepare(sql: string): { run(...values: never[]): { readonly changes: number | bigint } }
}

/** Does not compile with an async function where the transaction can't wait for it. */
export type ReturnsInTime<Tx, Value> = Tx extends SynchronousTransaction
  ? Value extends PromiseLike<unknown>
    ? TransactionIsSynchronous
    : unknown
  : unknown

/** On SQLite the function must not be async: await what it needs before the transaction. */
export interface TransactionIsSynchronous {
  readonly 'on SQLite this function must not be async: await what it needs before the transaction': never
}

/** The fire that a run executes. */
export interface Fire<Input> {
  readonly schedule: string
  readonly job: string
  /** The instant it stands for, in epoch milliseconds, however late it runs. */
  readonly dueAt: Instant
  /** Empty, except for fires that were triggered by a caller. */
  readonly nonce: string
  readonly kind: FireKind
  readonly input: Input
}

/** What came before this fire of the schedule. */
export interface Previous {
  /** Of the last fire that ended, and of the last that succeeded; `null`: there was none. */
  readonly dueAt: Instant | null
  readonly succeededDueAt: Instant | null
  readonly succeededAt: Instant | null
  /** From the last success's dueAt to this one's. */
  readonly sinceSuccessMs: number | null
}

/** Log lines of a run, stored with it. */
export interface RunLog {
  (message: string): void
  debug(message: string): void
  info(message: string): void
  warn(message: string): void
  error(message: string): void
}

export interface StepOptions {
  /** Repeat the step if an earlier run began it and its outcome is unknown. */
  readonly rerun?: boolean | undefined
}
