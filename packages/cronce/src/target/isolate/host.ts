import type { Json } from '../../model/json.ts'
import type { TargetRun } from '../target-run.ts'
import { fromErrorData, toErrorData } from './error-data.ts'
import type { FromTask, TaskOrder, ToTask, Value } from './messages.ts'

/** How the handler in the task ended. */
export type Answer =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly error: Error }

/** The scheduler's end of a task: does for it what only the scheduler can, and keeps its answer. */
export class Host {
  answer: Answer | null = null
  /** An error that the task did not catch; it counts if no answer comes. */
  uncaught: Error | null = null
  readonly #run: TargetRun
  readonly #send: (message: ToTask) => void
  readonly #onAnswer: () => void
  readonly #working = new Map<number, PromiseWithResolvers<unknown>>()

  constructor(run: TargetRun, link: { send(message: ToTask): void; onAnswer(): void }) {
    this.#run = run
    this.#send = (message) => link.send(message)
    this.#onAnswer = () => link.onAnswer()
  }

  abort(): void {
    this.#send({ kind: 'abort', error: toErrorData(this.#run.signal.reason) })
  }

  /** A task's own code may send on the same way, and anything: what is none of ours is left out. */
  receive(message: unknown): void {
    try {
      this.#receive(message as FromTask)
    } catch {
      // A kind of ours with other contents.
    }
  }

  #receive(message: FromTask): void {
    switch (message.kind) {
      case 'log':
        this.#run.log[message.level](message.message)
        break
      case 'progress':
        this.#run.progress(message.fraction, message.message)
        break
      case 'step':
        void this.#step(message)
        break
      case 'worked':
        this.#working.get(message.step)?.resolve(returned(message.value))
        break
      case 'work-failed':
        this.#working.get(message.step)?.reject(fromErrorData(message.error))
        break
      case 'uncaught':
        this.uncaught = fromErrorData(message.error)
        break
      case 'done':
        this.#answered({ kind: 'returned', value: returned(message.value) })
        break
      case 'failed':
        this.#answered({ kind: 'threw', error: fromErrorData(message.error) })
        break
    }
  }

  #answered(answer: Answer): void {
    this.answer ??= answer
    this.#onAnswer()
  }

  /**
   * The step is the scheduler's, the work is the task's. If the task dies during it, the work never ends here: how far it got
   * is not known, and must not go on record as failed.
   */
  async #step({ step, name, rerun }: Extract<FromTask, { kind: 'step' }>): Promise<void> {
    const work = (): Promise<unknown> => {
      const working = Promise.withResolvers<unknown>()
      this.#working.set(step, working)
      this.#send({ kind: 'work', step })
      return working.promise
    }
    try {
      const json = (await this.#run.once(name, work, { rerun })) as Json
      this.#send({ kind: 'step-done', step, json })
    } catch (error) {
      this.#send({ kind: 'step-failed', step, error: toErrorData(error) })
    } finally {
      this.#working.delete(step)
    }
  }
}

export function orderOf(file: string, run: TargetRun): TaskOrder {
  const { namespace, attempt, token, instance, previous } = run
  // What a schema has made of it may be more than can be handed on: it comes out as it would be stored.
  const fire = { ...run.fire, input: JSON.parse(JSON.stringify(run.fire.input ?? null)) as Json }
  return { file, namespace, fire, attempt, token: String(token), instance, previous }
}

/** What can't be JSON is `undefined` here, too: the code that tries to store it gets the reason, in the words of where it came from. */
function returned(value: Value): unknown {
  if ('json' in value) return value.json
  return {
    toJSON() {
      throw new Error(value.problem)
    },
  }
}
