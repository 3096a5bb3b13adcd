import { randomUUID } from 'node:crypto'
import type { TargetRun } from '../target/target-run.ts'
import { ifElected } from './if-elected.ts'
import { localIso } from './local-iso.ts'
import { TaskExecutions } from './task-executions.ts'
import { TaskListeners } from './task-listeners.ts'
import { harmless, sharedLogger } from './task-logger.ts'
import type {
  LastRun,
  Logger,
  RunCoordinator,
  ScheduledTask,
  SkipReason,
  TaskContext,
  TaskEvent,
  TaskListener,
  TaskOptions,
} from './task-types.ts'
import { hostZone, type Timing, timingOf } from './timing.ts'

/** What a task wants of those who run it. */
export interface TaskHooks {
  started(task: Task): void
  /** Nothing more is begun here from now on; what runs goes on. */
  stopped(task: Task): void
  /** Whether it keeps the process from ending has changed. */
  moved(task: Task): void
  /** A listener wants to hear of slots that other processes run. */
  listening(task: Task): void
  destroyed(task: Task): void
  /** The last execution that `maxExecutions` allows has begun, for this slot. Never rejects. */
  usedUp(task: Task, slot: Date): Promise<void>
}

/** A task of node-cron's. What differs between functions and files is how the work is done, and that a file takes time to stop. */
export abstract class Task implements ScheduledTask {
  readonly id = randomUUID()
  readonly name: string
  readonly options: Readonly<TaskOptions>
  readonly logger: Logger
  readonly #pattern: string
  readonly #hooks: TaskHooks
  readonly #listeners: TaskListeners
  #timing: Timing | null = null
  #state: 'stopped' | 'started' | 'destroyed' = 'stopped'
  readonly #executions: TaskExecutions
  /** Slots that were begun and have not ended, also while the coordinator is asked. */
  #begun = 0
  #runs = 0
  #keepsAlive: boolean

  constructor(pattern: string, options: TaskOptions, hooks: TaskHooks) {
    this.#pattern = pattern
    this.options = options
    this.name = options.name || this.id
    const { logger } = options
    this.logger = logger === undefined ? sharedLogger : harmless(() => logger)
    this.#hooks = hooks
    this.#keepsAlive = options.unref !== true
    this.#listeners = new TaskListeners((error) => this.logger.error(error as Error))
    this.#executions = new TaskExecutions({
      logger: this.logger,
      work: (context, run) => this.work(context, run),
      contextOf: (date, more) => this.#contextOf(date, more),
      emit: (event, context) => this.#emit(event, context),
    })
  }

  abstract start(): void | Promise<void>
  abstract stop(): void | Promise<void>
  abstract destroy(): void | Promise<void>
  /** What the user wants done. */
  protected abstract work(context: TaskContext, run: TargetRun | null): unknown

  /** Throws for a zone that there is none of. */
  get timing(): Timing {
    this.#timing ??= timingOf(this.#pattern, this.options.timezone)
    return this.#timing
  }

  get keepsAlive(): boolean {
    return this.#keepsAlive
  }

  /** What it is called if it was given no name: by what it does and when. */
  abstract get describedName(): string

  protected begin(): void {
    if (this.#state !== 'stopped') return
    // The caller that starts it gets the error.
    void this.timing
    this.#state = 'started'
    this.#hooks.started(this)
    this.#emit('task:started', this.#contextOf(new Date()))
  }

  protected end(): void {
    if (this.#state !== 'started') return
    this.#state = 'stopped'
    this.#hooks.stopped(this)
    this.#emit('task:stopped', this.#contextOf(new Date()))
  }

  protected finish(): void {
    if (this.#state === 'destroyed') return
    this.end()
    this.#state = 'destroyed'
    this.#hooks.destroyed(this)
    this.#emit('task:destroyed', this.#contextOf(new Date()))
  }

  protected get isStarted(): boolean {
    return this.#state === 'started'
  }

  /** When all that runs now has ended. Never rejects. */
  quiet(): Promise<void> {
    return this.#executions.quiet()
  }

  getStatus(): string {
    if (this.#state !== 'started') return this.#state
    return this.#executions.isRunning ? 'running' : 'idle'
  }

  isBusy(): boolean {
    return this.getStatus() === 'running'
  }

  getNextRun(): Date | null {
    return this.#state === 'started' ? (this.timing.next(1)[0] ?? null) : null
  }

  getNextRuns(count: number): Date[] {
    return this.timing.next(count)
  }

  match(date: Date): boolean {
    return this.timing.matches(date)
  }

  msToNext(): number | null {
    const next = this.getNextRun()
    return next === null ? null : next.getTime() - Date.now()
  }

  runsLeft(): number | undefined {
    const { maxExecutions } = this.options
    return maxExecutions === undefined || maxExecutions === null ? undefined : Math.max(0, maxExecutions - this.#runs)
  }

  getPattern(): string {
    return this.#pattern
  }

  lastRun(): LastRun | null {
    return this.#executions.lastRun
  }

  ref(): void {
    this.#setKeepsAlive(true)
  }

  unref(): void {
    this.#setKeepsAlive(false)
  }

  on(event: TaskEvent, listener: TaskListener): void {
    this.#listen(event, listener, false)
  }

  once(event: TaskEvent, listener: TaskListener): void {
    this.#listen(event, listener, true)
  }

  off(event: TaskEvent, listener: TaskListener): void {
    this.#listeners.remove(event, listener)
  }

  isListenedTo(event: TaskEvent): boolean {
    return this.#listeners.has(event)
  }

  /** Here, now, in whatever state: without a record, a coordinator or a limit. */
  execute(): Promise<unknown> {
    return this.#executions.track(this.#executions.perform({ date: new Date(), reason: 'invoked', run: null }))
  }

  /** A slot has come, and is this process's to run. Rejects with what the user's code throws. */
  runSlot(run: TargetRun, coordinator: RunCoordinator | null): Promise<unknown> {
    return this.#executions.track(this.#runSlot(run, coordinator))
  }

  async #runSlot(run: TargetRun, coordinator: RunCoordinator | null): Promise<unknown> {
    const date = new Date(run.fire.dueAt)
    // A manual trigger runs like `execute()`.
    if (run.fire.kind === 'manual') return this.#executions.perform({ date, reason: 'invoked', run })
    if (this.#begun > 0) this.#emit('execution:overlap', this.#contextOf(date))
    this.#begun++
    try {
      if (coordinator === null) return await this.#runScheduled(date, run)
      const slot = {
        key: `${this.name}:${date.toISOString()}`,
        leaseMs: this.options.distributedLease,
        logger: this.logger,
        skipped: (reason: SkipReason) => this.skipped(date, reason),
      }
      return await ifElected(coordinator, slot, () => this.#runScheduled(date, run))
    } finally {
      this.#begun--
    }
  }

  async #runScheduled(date: Date, run: TargetRun): Promise<unknown> {
    const { maxExecutions } = this.options
    const isLast = Boolean(maxExecutions) && ++this.#runs >= Number(maxExecutions)
    // So that no other slot begins while the last one runs.
    if (isLast) this.#hooks.stopped(this)
    const recorded = isLast ? this.#hooks.usedUp(this, date) : null
    try {
      return await this.#executions.perform({ date, reason: 'scheduled', run })
    } finally {
      await recorded
      if (isLast && this.#state !== 'destroyed') {
        this.#emit('execution:maxReached', this.#contextOf(date))
        this.finish()
      }
    }
  }

  missed(date: Date): void {
    if (this.options.suppressMissedWarning !== true && !this.#listeners.has('execution:missed'))
      this.logger.warn(`missed execution at ${date.toISOString()} of ${this.name}: it was noticed too late.`)
    this.#emit('execution:missed', this.#contextOf(date))
  }

  overlapped(date: Date): void {
    this.#emit('execution:overlap', this.#contextOf(date))
    this.logger.warn('task still running, new execution blocked by overlap prevention!')
  }

  skipped(date: Date, reason: SkipReason, detail?: NonNullable<TaskContext['detail']>): void {
    const more = detail === undefined ? {} : { detail }
    this.#emit('execution:skipped', this.#contextOf(date, { reason, ...more }))
  }

  /** It can't be run at all. */
  failed(error: Error): void {
    if (this.#state !== 'started') return
    this.logger.error(error)
    this.#state = 'stopped'
    this.#hooks.stopped(this)
    this.#emit('task:failed', this.#contextOf(new Date(), { error }))
  }

  #setKeepsAlive(keepsAlive: boolean): void {
    if (this.#keepsAlive === keepsAlive) return
    this.#keepsAlive = keepsAlive
    if (this.isStarted) this.#hooks.moved(this)
  }

  #listen(event: TaskEvent, listener: TaskListener, isOnce: boolean): void {
    this.#listeners.add(event, listener, isOnce)
    if (event === 'execution:skipped' && this.isStarted) this.#hooks.listening(this)
  }

  #emit(event: TaskEvent, context: TaskContext): void {
    this.#listeners.emit(event, context)
  }

  #localIso(date: Date): string {
    try {
      return localIso(date, this.options.timezone ?? hostZone())
    } catch {
      // There is no such zone, so it never started; it can be destroyed all the same.
      return date.toISOString()
    }
  }

  #contextOf(date: Date, more: Partial<TaskContext> = {}): TaskContext {
    return { date, dateLocalIso: this.#localIso(date), triggeredAt: new Date(), task: this, ...more }
  }
}
