import type { Run } from 'cronce'

/** What `app.job` takes as its handler. */
export interface QueueHandler<Input = unknown> {
  (run: Run<Input>): Promise<unknown>
  /** It only waits for work elsewhere: a stop hands its runs back at once, instead of waiting for them, unless the job is `at-most-once`. */
  readonly waits: boolean
}

export function asHandler<Input>(waits: boolean, handle: (run: Run<Input>) => Promise<unknown>): QueueHandler<Input> {
  return Object.assign(handle, { waits })
}
