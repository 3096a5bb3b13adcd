import type { Run } from 'cronce'
import { asHandler, type QueueHandler } from './as-handler.ts'
import { BullJob } from './bull-job.ts'
import type { BullQueue, CancelEvents, CancelingWorker, CancelProducer } from './bull-types.ts'
import { type HeldQueue, holdJob } from './hold-job.ts'
import { invalid, type QueueTargetOptions, readOptions } from './queue-options.ts'

export type { QueueHandler } from './as-handler.ts'
export type { BullJobLike, BullQueue, CancelEvents, CancelingWorker, CancelProducer } from './bull-types.ts'
export type { FireMessage } from './fire-message.ts'
export type { HeldResult } from './hold-job.ts'
export { QueueError, type QueueErrorCode } from './queue-error.ts'
export type { QueueTargetOptions } from './queue-options.ts'

export interface BullmqOptions<Input = unknown> extends QueueTargetOptions<Input> {
  /** Options of the job, such as `attempts`. `jobId` is cronce's; `removeOnComplete` and `removeOnFail` are a day unless set. */
  readonly options?: object | undefined
  /**
   * With `wait: 'completed'`: a `QueueEventsProducer` of the queue. When the run is cancelled while a worker has the job, it publishes
   * the event that `abortCancelled` hears in the worker's process.
   */
  readonly cancel?: CancelProducer | undefined
}

/** Until then the job's id is known to the queue, and enqueueing the same fire again adds nothing. */
const KEEP = { age: 86_400 }
const CANCEL_EVENT = 'cronce:cancel'

/** A handler that has a queue of BullMQ, or of Bull, do the work. */
export function bullmq<Input = unknown>(queue: BullQueue, options: BullmqOptions<Input> = {}): QueueHandler<Input> {
  const { isHeld, pollMs, nameOf, dataOf } = readOptions('bullmq', options, {
    more: ['cancel'],
    own: ['jobId', 'repeat', 'deduplication', 'debounce'],
  })
  const jobOptions = { removeOnComplete: KEEP, removeOnFail: KEEP, ...options.options }
  if (isHeld) demandKept(jobOptions)
  const { cancel } = options
  const add = async (run: Run<Input>, jobId: string): Promise<string> => {
    await queue.add(nameOf(run), await dataOf(run), { ...jobOptions, jobId })
    return jobId
  }
  const ask = async (jobId: string, reason: string): Promise<string> => {
    if (cancel === undefined) return 'A worker has the job and is not told to end it: there is no option cancel.'
    await cancel.publishEvent({ eventName: CANCEL_EVENT, jobId, reason })
    return 'The worker that has the job was asked to end it.'
  }
  return asHandler(isHeld, async (run) => {
    if (!isHeld) return { jobId: await add(run, run.idempotencyKey()) }
    const held: HeldQueue = {
      name: `queue ${queue.name}`,
      add: (key) => add(run, key),
      watch: (id) => new BullJob(queue, id, run, ask),
    }
    return holdJob(run, held, pollMs)
  })
}

/**
 * In the process of a worker: aborts the `signal` of a job (the third argument of the processor) when its run is cancelled.
 * `events`: a `QueueEvents` of the queue.
 */
export function abortCancelled(worker: CancelingWorker, events: CancelEvents): void {
  const on = events.on.bind(events) as (event: string, listener: (about: CancelAbout) => void) => unknown
  on(CANCEL_EVENT, ({ jobId, reason }) => worker.cancelJob(jobId, reason))
}

interface CancelAbout {
  readonly jobId: string
  readonly reason: string
}

/** A job that is removed at its end leaves nothing by which a run could tell how it ended. */
function demandKept(options: Readonly<Record<string, unknown>>): void {
  for (const name of ['removeOnComplete', 'removeOnFail']) {
    if (options[name] === true || options[name] === 0)
      throw invalid(
        'bullmq',
        `options.${name}`,
        "can't remove jobs at once",
        "Write { age: 3_600 }, or wait: 'enqueued'.",
      )
  }
}
