import { toExactJson } from '../../engine/run/to-json.ts'
import { CronceError } from '../../errors.ts'
import { cut, LIMITS } from '../../model/limits.ts'
import type { LogLine } from '../../model/record.ts'
import { idempotencyKey } from '../../run/idempotency-key.ts'
import { onceOf } from '../../run/once-of.ts'
import type { Run, RunLog, StepOptions } from '../../run/run.ts'
import { fromErrorData, toErrorData } from './error-data.ts'
import type { FromTask, TaskOrder, ToTask } from './messages.ts'

/** The way to the scheduler. While it is held, the task does not end for want of anything else to do. */
export interface Link {
  send(message: FromTask): void
  hold(): void
  release(): void
}

interface Step {
  readonly work: () => unknown
  readonly ended: PromiseWithResolvers<unknown>
}

/** Progress is not read more often than this. */
const PROGRESS_MS = 100

/** The run as the handler in a task sees it. */
export class TaskRun implements Run {
  readonly fire: Run['fire']
  readonly attempt: number
  readonly token: bigint
  readonly instance: string
  readonly previous: Run['previous']
  readonly log: RunLog
  // Functions of their own, so that a handler may take them out of the run.
  readonly once: Run['once']
  readonly idempotencyKey: Run['idempotencyKey']
  readonly progress: Run['progress']
  readonly transaction: Run['transaction']
  readonly #link: Link
  readonly #aborted = new AbortController()
  readonly #steps = new Map<number, Step>()
  #stepCount = 0
  #logRoom: number = LIMITS.log
  #latest: Extract<FromTask, { kind: 'progress' }> | null = null
  #progressAt = Number.NEGATIVE_INFINITY

  constructor(order: TaskOrder, link: Link) {
    const { namespace, fire, attempt, token, instance, previous } = order
    const { schedule, dueAt, nonce } = fire
    this.fire = fire
    this.attempt = attempt
    this.token = BigInt(token)
    this.instance = instance
    this.previous = previous
    this.#link = link
    this.log = Object.assign((message: string) => this.#write('info', message), {
      debug: (message: string) => this.#write('debug', message),
      info: (message: string) => this.#write('info', message),
      warn: (message: string) => this.#write('warn', message),
      error: (message: string) => this.#write('error', message),
    })
    this.once = <Value>(step: string, work: () => Value | Promise<Value>, options?: StepOptions) =>
      onceOf(this, step, work, (entered) => this.#once(step, entered, options?.rerun) as Promise<Value>)
    this.idempotencyKey = (step = '') => idempotencyKey([namespace, schedule, dueAt, nonce, step])
    this.progress = (fraction, message) => this.#progress(fraction, message)
    this.transaction = () => Promise.reject(noTransaction())
  }

  /** Who asks for it may wait for nothing else, and must still be there when it is aborted. */
  get signal(): AbortSignal {
    this.#link.hold()
    return this.#aborted.signal
  }

  receive(message: ToTask): void {
    switch (message.kind) {
      case 'abort':
        this.#aborted.abort(fromErrorData(message.error))
        break
      case 'work':
        void this.#work(message.step)
        break
      case 'step-done':
        this.#steps.get(message.step)?.ended.resolve(message.json)
        break
      case 'step-failed':
        this.#steps.get(message.step)?.ended.reject(fromErrorData(message.error))
        break
      case 'order':
        break
    }
  }

  /** What was held back. */
  flush(): void {
    if (this.#latest === null) return
    this.#link.send(this.#latest)
    this.#latest = null
    this.#progressAt = performance.now()
  }

  async #once(name: string, work: () => unknown, rerun: boolean | undefined): Promise<unknown> {
    const step = ++this.#stepCount
    const ended = Promise.withResolvers<unknown>()
    this.#steps.set(step, { work, ended })
    this.#link.hold()
    this.#link.send({ kind: 'step', step, name, rerun })
    try {
      return await ended.promise
    } finally {
      this.#steps.delete(step)
      this.#link.release()
    }
  }

  async #work(step: number): Promise<void> {
    try {
      const result = toExactJson(await this.#steps.get(step)?.work(), LIMITS.stepResult)
      const value = result.kind === 'json' ? { json: result.json } : { problem: result.problem }
      this.#link.send({ kind: 'worked', step, value })
    } catch (error) {
      this.#link.send({ kind: 'work-failed', step, error: toErrorData(error) })
    }
  }

  #write(level: LogLine['level'], message: string): void {
    if (this.#logRoom < 0) return
    // One character too many makes the log put its mark behind what it cuts.
    const text = cutOver(String(message), LIMITS.logLine)
    this.#logRoom -= text.length
    this.#link.send({ kind: 'log', level, message: text })
  }

  #progress(fraction: number, message: string | undefined): void {
    const text = message === undefined ? undefined : cut(String(message), LIMITS.note)
    const isHeldBack = this.#latest !== null
    this.#latest = { kind: 'progress', fraction: Number(fraction), message: text }
    const waitMs = this.#progressAt + PROGRESS_MS - performance.now()
    // A handler that computes without a pause has no timers: what it tells must go out from here.
    if (waitMs <= 0) this.flush()
    else if (!isHeldBack) setTimeout(() => this.flush(), waitMs).unref()
  }
}

function cutOver(text: string, max: number): string {
  return text.length <= max ? text : text.slice(0, max + 1)
}

function noTransaction(): CronceError {
  return new CronceError('TRANSACTION_ISOLATED', 'A task in a thread or process of its own has no transaction.', {
    hint: 'Give the job a function instead of a file; or use run.once, run.token and run.idempotencyKey here.',
  })
}
