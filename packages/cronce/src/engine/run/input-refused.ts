import { CronceError } from '../../errors.ts'
import { isOutranked } from '../claim/buckets.ts'
import type { Core } from '../core.ts'

/** A job throws this before it calls the handler: the input does not fit its schema. */
export class InputRefused extends CronceError {
  readonly #isRefusal = true

  /** Unlike `instanceof`, this reads no property of the error: a handler may throw a proxy whose traps throw. */
  static is(error: unknown): boolean {
    return typeof error === 'object' && error !== null && #isRefusal in error && error.#isRefusal
  }

  constructor(job: string, problem: string) {
    super('INPUT_INVALID', `The input does not fit the schema of job ${job}: ${problem}`, {
      hint: "Replace the schedule's input, or widen the schema.",
    })
  }
}

/** Pause before a refused run may be claimed again; doubles with every attempt. The instances that can run it may be busy for long. */
const PAUSE_MS = 500
const PAUSE_LONGEST_MS = 60_000

/**
 * How long the fire waits before it is claimed again, because an instance of a newer deployment can run it: its schema may be the one
 * that the input was written for. `null`: no such instance lives, so the input is invalid.
 */
export function handBackPauseMs(core: Core, job: string, attempt: number, error: unknown): number | null {
  if (!InputRefused.is(error) || !isOutranked(core, job)) return null
  return Math.min(PAUSE_LONGEST_MS, PAUSE_MS * 2 ** attempt)
}
