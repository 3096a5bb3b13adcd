import { randomUUID } from 'node:crypto'
import type { TargetRun } from '../target/target-run.ts'
import type { Execution, LastRun, Logger, TaskContext, TaskEvent } from './task-types.ts'

/** One call of the user's code. */
export interface Call {
  readonly date: Date
  readonly reason: Execution['reason']
  readonly run: TargetRun | null
}

/** The task that the calls are of, as they see it. */
export interface Caller {
  readonly logger: Logger
  work(context: TaskContext, run: TargetRun | null): unknown
  contextOf(date: Date, more: Pick<TaskContext, 'execution' | 'run'>): TaskContext
  emit(event: TaskEvent, context: TaskContext): void
}

/** The calls of a task's code: their events, which are under way, and how the last one ended. */
export class TaskExecutions {
  readonly #caller: Caller
  readonly #doing = new Set<Promise<unknown>>()
  #scheduled = 0
  #lastRun: LastRun | null = null

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** Whether a slot runs: what is called by hand does not count. */
  get isRunning(): boolean {
    return this.#scheduled > 0
  }

  get lastRun(): LastRun | null {
    return this.#lastRun
  }

  /** When all that is under way now has ended. Never rejects. */
  async quiet(): Promise<void> {
    await Promise.allSettled(this.#doing)
  }

  /** What is under way until this has ended. */
  async track<Value>(doing: Promise<Value>): Promise<Value> {
    this.#doing.add(doing)
    try {
      return await doing
    } finally {
      this.#doing.delete(doing)
    }
  }

  /** Rejects with what the user's code throws. */
  async perform({ date, reason, run }: Call): Promise<unknown> {
    const { logger } = this.#caller
    const execution: Execution = { id: randomUUID(), reason }
    const counts = reason === 'scheduled' ? 1 : 0
    const context = (): TaskContext => this.#caller.contextOf(date, run === null ? { execution } : { execution, run })
    this.#scheduled += counts
    this.#caller.emit('execution:started', context())
    execution.startedAt = new Date()
    try {
      execution.result = await this.#caller.work(context(), run)
    } catch (error) {
      execution.finishedAt = new Date()
      execution.error = error as Error
      this.#lastRun = { date: execution.finishedAt, error: error as Error }
      logger.error(error as Error)
      this.#caller.emit('execution:failed', context())
      this.#scheduled -= counts
      throw error
    }
    execution.finishedAt = new Date()
    this.#lastRun = { date: execution.finishedAt, result: execution.result }
    this.#scheduled -= counts
    this.#caller.emit('execution:finished', context())
    return execution.result
  }
}
