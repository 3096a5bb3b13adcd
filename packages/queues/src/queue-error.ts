export type QueueErrorCode =
  | 'QUEUE_DATABASE_DIFFERENT'
  | 'QUEUE_JOB_FAILED'
  | 'QUEUE_JOB_MISSING'
  | 'QUEUE_JOB_REFUSED'
  | 'QUEUE_OPTION_INVALID'

export interface QueueErrorOptions {
  readonly hint: string
  /** `false`: cronce does not run the fire again, whatever the job's `retry` says. */
  readonly retryable?: false
  /** Of the error in the worker. */
  readonly stack?: string | undefined
}

/** A queue refused a job, lost it, or ended it as failed. */
export class QueueError extends Error {
  readonly code: QueueErrorCode
  readonly hint: string
  readonly retryable?: false

  constructor(code: QueueErrorCode, message: string, { hint, retryable, stack }: QueueErrorOptions) {
    super(message)
    this.name = 'QueueError'
    this.code = code
    this.hint = hint
    if (retryable !== undefined) this.retryable = retryable
    if (stack !== undefined) this.stack = stack
  }
}
