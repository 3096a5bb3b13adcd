import type { Run } from 'cronce'

/** What is enqueued unless `data` says otherwise. It depends on the fire alone, so every run of the fire enqueues the same. */
export interface FireMessage<Input = unknown> {
  readonly schedule: string
  readonly job: string
  /** The due time, in epoch milliseconds. */
  readonly dueAt: number
  /** `nightly@2027-01-01T03:00:00.000Z`; a triggered fire adds `#` and its id. */
  readonly fireId: string
  /** The same for all runs of the fire: for whatever the worker calls. */
  readonly idempotencyKey: string
  readonly input: Input
}

export function fireMessage<Input>(run: Run<Input>): FireMessage<Input> {
  const { schedule, job, dueAt, nonce, input } = run.fire
  const due = `${schedule}@${new Date(dueAt).toISOString()}`
  const fireId = nonce === '' ? due : `${due}#${nonce}`
  return { schedule, job, dueAt, fireId, idempotencyKey: run.idempotencyKey(), input }
}
