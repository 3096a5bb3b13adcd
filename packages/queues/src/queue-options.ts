import type { Run } from 'cronce'
import { fireMessage } from './fire-message.ts'
import { QueueError } from './queue-error.ts'

/** Options that all queues share. */
export interface QueueTargetOptions<Input = unknown> {
  /** What the queue calls the work: the name of the job (BullMQ), of the queue (pg-boss), of the task (graphile-worker). @default the job's */
  readonly name?: string | undefined
  /** The data of the job, or what makes it of a run. @default a `FireMessage` */
  readonly data?: object | ((run: Run<Input>) => object | Promise<object>) | undefined
  /**
   * When the run has succeeded: as soon as the job is in the queue, or when a worker has completed it. With `completed` the run holds
   * one place of the app's `concurrency`, and the outcome of the job is the outcome of the run.
   * @default 'enqueued'
   */
  readonly wait?: 'enqueued' | 'completed' | undefined
  /** With `wait: 'completed'`: milliseconds between two looks at the job. @default 1_000 */
  readonly pollMs?: number | undefined
}

export interface ReadOptions<Input> {
  readonly isHeld: boolean
  readonly pollMs: number
  nameOf(run: Run<Input>): string
  dataOf(run: Run<Input>): Promise<object>
}

const NAMES = ['name', 'data', 'options', 'wait', 'pollMs']
const POLL_MS = 1_000
const POLL_LONGEST_MS = 3_600_000

/** `more`: names of options that only this target has. `own`: options of the queue that the target sets itself. */
export function readOptions<Input>(
  target: string,
  options: QueueTargetOptions<Input> & { readonly options?: object | undefined },
  { more = [], own = [] }: { readonly more?: readonly string[]; readonly own?: readonly string[] },
): ReadOptions<Input> {
  const { data, wait = 'enqueued', pollMs = POLL_MS, name } = options
  demandKnown(target, options, [...NAMES, ...more], own)
  demandValues(target, { name, wait, pollMs })
  return {
    isHeld: wait === 'completed',
    pollMs,
    nameOf: (run) => name ?? run.fire.job,
    dataOf: async (run) => (typeof data === 'function' ? data(run) : (data ?? fireMessage(run))),
  }
}

function demandKnown(
  target: string,
  given: { readonly options?: object | undefined },
  known: readonly string[],
  own: readonly string[],
): void {
  const unknown = Object.keys(given).find((each) => !known.includes(each))
  if (unknown !== undefined) throw invalid(target, unknown, 'is unknown', `Its options are ${known.join(', ')}.`)
  const taken = own.find((each) => each in (given.options ?? {}))
  if (taken !== undefined)
    throw invalid(
      target,
      `options.${taken}`,
      "can't be set",
      'Leave it out: each fire has one job, whose key follows from the fire.',
    )
}

function demandValues(
  target: string,
  { name, wait, pollMs }: { readonly name: unknown; readonly wait: unknown; readonly pollMs: number },
): void {
  if (name !== undefined && (typeof name !== 'string' || name === ''))
    throw invalid(target, 'name', 'must be a text that is not empty', 'Leave it out to use the name of the job.')
  if (wait !== 'enqueued' && wait !== 'completed')
    throw invalid(target, 'wait', `can't be ${JSON.stringify(wait)}`, "Write 'enqueued' or 'completed'.")
  if (!Number.isInteger(pollMs) || pollMs < 1 || pollMs > POLL_LONGEST_MS)
    throw invalid(target, 'pollMs', 'must be an integer from 1 to 3,600,000', 'Write milliseconds, such as 1_000.')
}

export function invalid(target: string, option: string, problem: string, hint: string): QueueError {
  return new QueueError('QUEUE_OPTION_INVALID', `The option ${option} of ${target}() ${problem}.`, { hint })
}
