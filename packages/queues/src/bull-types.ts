/** What cronce calls of a `Queue` of BullMQ, or of Bull. */
export interface BullQueue {
  readonly name: string
  add(name: string, data: unknown, options?: object): Promise<unknown>
  getJob(id: string): Promise<BullJobLike | null | undefined>
  getJobLogs(
    id: string,
    start?: number,
    end?: number,
  ): Promise<{ readonly logs: readonly string[]; readonly count: number }>
}

export interface BullJobLike {
  /** In Bull a method. */
  readonly progress: unknown
  readonly returnvalue?: unknown
  readonly failedReason?: string | null | undefined
  readonly stacktrace?: readonly string[] | null | undefined
  readonly finishedOn?: number | null | undefined
  readonly attemptsMade: number
  /** Not in Bull. */
  readonly attemptsStarted?: number | undefined
  readonly stalledCounter?: number | undefined
  getState(): Promise<string>
  remove(): Promise<void>
}

/** A `QueueEventsProducer`. */
export interface CancelProducer {
  publishEvent(event: { readonly eventName: string; readonly jobId: string; readonly reason: string }): Promise<void>
}

/** A `Worker`. */
export interface CancelingWorker {
  cancelJob(jobId: string, reason?: string): boolean
}

/** A `QueueEvents`. */
export interface CancelEvents {
  on(event: never, listener: never): unknown
}
