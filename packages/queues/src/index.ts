/** The published entry `@cronce/queues`. The entries of the queues are beside it. */
export type { QueueHandler } from './as-handler.ts'
export { enqueue, type SendMessage } from './enqueue.ts'
export type { FireMessage } from './fire-message.ts'
export type { HeldResult } from './hold-job.ts'
export { QueueError, type QueueErrorCode } from './queue-error.ts'
export type { QueueTargetOptions } from './queue-options.ts'
