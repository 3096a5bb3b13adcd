import { idempotencyKey } from '../../run/idempotency-key.ts'
import { fireIdOf } from '../../signature/fire-id.ts'
import type { TargetRun } from '../target-run.ts'
import type { CommandSpec } from './supervise.ts'

/** Which fire is run, for programs: what `run` is for functions. */
export function runEnvironment(run: TargetRun): Record<string, string> {
  const { schedule, job, dueAt, input } = run.fire
  return {
    CRONCE_SCHEDULE: schedule,
    CRONCE_JOB: job,
    CRONCE_FIRE_ID: fireIdOf(run.fire),
    CRONCE_DUE: new Date(dueAt).toISOString(),
    CRONCE_ATTEMPT: String(run.attempt),
    CRONCE_TOKEN: String(run.token),
    CRONCE_IDEMPOTENCY_KEY: run.idempotencyKey(),
    CRONCE_SCHEDULE_KEY: idempotencyKey([run.namespace, schedule]),
    CRONCE_INPUT: JSON.stringify(input ?? null),
  }
}

/**
 * Who must have ended on this machine before the program of this run starts: those of earlier runs of the fire; and where the
 * schedule runs one fire at a time, those of other fires whose scheduler has died, and which are a moment from their end.
 */
export function earlierRuns(run: TargetRun): Pick<CommandSpec, 'after' | 'afterOrphans'> {
  const { CRONCE_SCHEDULE_KEY, CRONCE_IDEMPOTENCY_KEY } = runEnvironment(run)
  return {
    after: run.attempt > 1 ? `CRONCE_IDEMPOTENCY_KEY=${CRONCE_IDEMPOTENCY_KEY}` : undefined,
    afterOrphans: run.isSingle ? `CRONCE_SCHEDULE_KEY=${CRONCE_SCHEDULE_KEY}` : undefined,
  }
}

/** What lets its holder at the store or speak for the scheduler: no business of what it runs. */
const SECRET = /^CRONCE_(STORE|(\w+_)?(TOKEN|SECRET))$/

/** As changes to an environment: takes the scheduler's secrets out of it. */
export function withoutSecrets(env: NodeJS.ProcessEnv = process.env): Record<string, null> {
  const names = Object.keys(env).filter((name) => SECRET.test(name))
  return Object.fromEntries(names.map((name) => [name, null]))
}

/** The scheduler's environment, what was added to it or taken out of it, and which fire it is. */
export function environmentFor(
  run: TargetRun,
  changes: Readonly<Record<string, string | null>> = {},
): Record<string, string> {
  const all: Record<string, string | null | undefined> = { ...process.env, ...changes, ...runEnvironment(run) }
  return Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}
