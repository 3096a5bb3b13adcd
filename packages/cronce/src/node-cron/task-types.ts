import type { PolicyOptions } from '../client/schedule-options.ts'
import type { Run } from '../run/run.ts'

/** Where tasks tell what goes wrong, as node-cron's. */
export interface Logger {
  info(message: string): void
  warn(message: string): void
  error(message: string | Error, error?: Error): void
  debug(message: string | Error, error?: Error): void
}

/** Asked before a slot of a `distributed` task is run. */
export interface RunCoordinator {
  shouldRun(key: string, ttlMs: number): boolean | Promise<boolean>
  onComplete?(key: string): void | Promise<void>
}

/** Why a slot was not run here. `not-elected`: it ran in another process, or a coordinator or an operator said no. */
export type SkipReason = 'not-elected' | 'coordinator-error'

/** What a task is called with. */
export interface TaskContext {
  /** The slot, however late it runs; of `execute()`, now. */
  date: Date
  /** The same by the clocks of the task's zone. */
  dateLocalIso: string
  task?: ScheduledTask
  execution?: Execution
  triggeredAt: Date
  reason?: SkipReason
  /** Of a slot that no process runs: what is on record as the reason. */
  detail?: 'paused' | 'skipped-by-operator' | 'queue-full'
  error?: Error
  /** Of a scheduled run: what a handler of cronce gets, with the fencing token, the signal and durable steps. */
  run?: Run
}

/** The events of a task. */
export type TaskEvent =
  | 'task:started'
  | 'task:stopped'
  | 'task:destroyed'
  | 'task:failed'
  | 'execution:started'
  | 'execution:finished'
  | 'execution:failed'
  | 'execution:missed'
  | 'execution:overlap'
  | 'execution:maxReached'
  | 'execution:skipped'

/** One execution of a task. */
export interface Execution {
  id: string
  reason: 'invoked' | 'scheduled'
  startedAt?: Date
  finishedAt?: Date
  error?: Error
  // biome-ignore lint/suspicious/noExplicitAny: node-cron's own type, which code that comes from there relies on.
  result?: any
}

/** How the last execution of a task ended. */
export interface LastRun {
  date: Date
  result?: unknown
  error?: Error
}

/** The function of a task. */
// biome-ignore lint/suspicious/noExplicitAny: node-cron's own type, which code that comes from there relies on.
export type TaskFn = (context: TaskContext) => any | Promise<any>

/** Called with the events of a task. */
export type TaskListener = (context: TaskContext) => Promise<void> | void

/** Options of `schedule()` and `createTask()`. */
export interface TaskOptions extends Omit<PolicyOptions, 'overlap' | 'jitter'> {
  /** Any IANA name. @default the host's zone */
  timezone?: string
  /** What the task is known by in the whole fleet. Without one it is this process's own. @default its id */
  name?: string
  /** Skip a slot while an earlier one runs, in whatever process. @default false */
  noOverlap?: boolean
  /** `false`: this process's own, also if it has a name. @default each slot runs once in the fleet, if there is a store and a name */
  distributed?: boolean
  runCoordinator?: RunCoordinator
  /** The lease that a coordinator gets, in milliseconds. @default 30000 */
  distributedLease?: number
  /** After this many runs in this process the task is destroyed. */
  maxExecutions?: number
  /** Milliseconds. */
  maxRandomDelay?: number
  logger?: Logger
  suppressMissedWarning?: boolean
  /** Milliseconds: what is later is missed, and not caught up. @default caught up, if the task is the fleet's; else 1000 */
  missedExecutionTolerance?: number
  /** Of `execute()` of a background task, in milliseconds. */
  executeTimeout?: number
  /** There is no process to wait for: without effect. */
  startTimeout?: number
  unref?: boolean
}

/** A task, as `schedule()` and `createTask()` return it. */
export interface ScheduledTask {
  id: string
  name?: string
  start(): void | Promise<void>
  stop(): void | Promise<void>
  getStatus(): string
  destroy(): void | Promise<void>
  // biome-ignore lint/suspicious/noExplicitAny: node-cron's own type, which code that comes from there relies on.
  execute(): Promise<any>
  getNextRun(): Date | null
  getNextRuns(count: number): Date[]
  match(date: Date): boolean
  msToNext(): number | null
  isBusy(): boolean
  runsLeft(): number | undefined
  getPattern(): string
  lastRun(): LastRun | null
  unref(): void
  ref(): void
  on(event: TaskEvent, listener: TaskListener): void
  off(event: TaskEvent, listener: TaskListener): void
  once(event: TaskEvent, listener: TaskListener): void
}
