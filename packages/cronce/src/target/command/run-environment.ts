import type { TargetRun } from '../target-run.ts'

/** Which fire is run, for programs: what `run` is for functions. */
export function runEnvironment(run: TargetRun): Record<string, string> {
  const { schedule, job, dueAt, nonce, input } = run.fire
  const due = new Date(dueAt).toISOString()
  return {
    CRONCE_SCHEDULE: schedule,
    CRONCE_JOB: job,
    CRONCE_FIRE_ID: `${schedule}@${due}${nonce === '' ? '' : `#${nonce}`}`,
    CRONCE_DUE: due,
    CRONCE_ATTEMPT: String(run.attempt),
    CRONCE_TOKEN: String(run.token),
    CRONCE_IDEMPOTENCY_KEY: run.idempotencyKey(),
    CRONCE_INPUT: JSON.stringify(input ?? null),
  }
}

/** An entry that all processes of the fire have, for those of a later run to wait for. The first run has nobody to wait for. */
export function earlierRuns({ CRONCE_IDEMPOTENCY_KEY }: Record<string, string>, attempt: number): string | undefined {
  return attempt > 1 ? `CRONCE_IDEMPOTENCY_KEY=${CRONCE_IDEMPOTENCY_KEY}` : undefined
}
