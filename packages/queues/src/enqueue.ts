import type { Run } from 'cronce'
import { asHandler, type QueueHandler } from './as-handler.ts'
import { type FireMessage, fireMessage } from './fire-message.ts'

/** Sends the message to a queue. What it returns is the result of the run. */
export type SendMessage<Input> = (message: FireMessage<Input>, run: Run<Input>) => unknown

/**
 * A handler that sends one message per fire to any queue. A run whose answer was lost is repeated with the same message, if the job's
 * `retry` allows: the queue, or the receiver, must drop the second one by its `idempotencyKey`.
 */
export function enqueue<Input = unknown>(send: SendMessage<Input>): QueueHandler<Input> {
  return asHandler(false, async (run) => send(fireMessage(run), run))
}
