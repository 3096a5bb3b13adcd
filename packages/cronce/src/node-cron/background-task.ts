import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../clock.ts'
import { resolveTask } from '../target/isolate/isolate-options.ts'
import type { TargetRun } from '../target/target-run.ts'
import { runInBackground } from './background-run.ts'
import { zoned } from './inline-task.ts'
import { Task, type TaskHooks } from './task.ts'
import type { TaskContext, TaskOptions } from './task-types.ts'
import { within } from './within.ts'

const STOP_MS = 5_000
const { sleep } = systemClock()

/** A task that is a file which exports `task`. Each run is a process of its own, which ends with it. */
export class BackgroundTask extends Task {
  readonly #file: string
  /** Ends what runs now. */
  #kill = new AbortController()

  constructor(pattern: string, url: string, options: TaskOptions, hooks: TaskHooks) {
    super(pattern, options, hooks)
    this.#file = fileURLToPath(url)
  }

  get describedName(): string {
    return `${basename(this.#file)} (${this.getPattern()}${zoned(this.options)})`
  }

  async start(): Promise<void> {
    // Report a missing file now, not at the first slot.
    resolveTask(this.name, { file: this.#file })
    this.begin()
  }

  async stop(): Promise<void> {
    this.end()
    await this.#ended('Stop operation timed out')
  }

  async destroy(): Promise<void> {
    this.finish()
    await this.#ended('Destroy operation timed out')
  }

  override async execute(): Promise<unknown> {
    if (!this.isStarted)
      throw new Error(
        "Cannot execute background task because it hasn't been started yet. Please initialize the task using the start() method before attempting to execute it.",
      )
    const { executeTimeout } = this.options
    const doing = super.execute()
    return typeof executeTimeout === 'number'
      ? within(sleep, executeTimeout, doing, late('Execution timeout exceeded'))
      : doing
  }

  protected work(context: TaskContext, run: TargetRun | null): unknown {
    return runInBackground(this.#file, this, context, run, this.#kill.signal)
  }

  /** What runs may finish; after a while it is ended. */
  async #ended(message: string): Promise<void> {
    try {
      await within(sleep, STOP_MS, this.quiet(), late(message))
    } catch (error) {
      this.#kill.abort(error)
      this.#kill = new AbortController()
      throw error
    }
  }
}

function late(message: string): () => never {
  return () => {
    throw new Error(message)
  }
}
