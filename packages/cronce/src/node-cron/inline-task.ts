import { Task, type TaskHooks } from './task.ts'
import type { TaskContext, TaskFn, TaskOptions } from './task-types.ts'

/** A task that is a function of this process. */
export class InlineTask extends Task {
  readonly #fn: TaskFn

  constructor(pattern: string, fn: TaskFn, options: TaskOptions, hooks: TaskHooks) {
    super(pattern, options, hooks)
    this.#fn = fn
  }

  get describedName(): string {
    return `${this.#fn.name || 'task'} (${this.getPattern()}${zoned(this.options)})`
  }

  start(): void {
    this.begin()
  }

  stop(): void {
    this.end()
  }

  destroy(): void {
    this.finish()
  }

  protected work(context: TaskContext): unknown {
    return this.#fn(context)
  }
}

export function zoned({ timezone }: TaskOptions): string {
  return timezone === undefined ? '' : ` ${timezone}`
}
