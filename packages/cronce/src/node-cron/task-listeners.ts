import type { TaskContext, TaskEvent, TaskListener } from './task-types.ts'

interface Listening {
  readonly listener: TaskListener
  readonly isOnce: boolean
}

/** The listeners of a task. An error of one, now or later, does not affect the others. */
export class TaskListeners {
  readonly #listening = new Map<TaskEvent, Listening[]>()
  readonly #onError: (error: unknown) => void

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  add(event: TaskEvent, listener: TaskListener, isOnce: boolean): void {
    this.#listening.set(event, [...this.#of(event), { listener, isOnce }])
  }

  /** The one that was added last, if it was added more than once. */
  remove(event: TaskEvent, listener: TaskListener): void {
    const all = this.#of(event)
    const index = all.findLastIndex((one) => one.listener === listener)
    if (index >= 0) this.#listening.set(event, all.toSpliced(index, 1))
  }

  has(event: TaskEvent): boolean {
    return this.#of(event).length > 0
  }

  emit(event: TaskEvent, context: TaskContext): void {
    for (const { listener, isOnce } of this.#of(event)) {
      if (isOnce) this.remove(event, listener)
      try {
        Promise.resolve(listener(context)).catch(this.#onError)
      } catch (error) {
        this.#onError(error)
      }
    }
  }

  #of(event: TaskEvent): readonly Listening[] {
    return this.#listening.get(event) ?? []
  }
}
