import type { Core } from './core.ts'
import { describeError } from './describe-error.ts'
import { pauseAfter } from './store-calls.ts'

type Looping = Pick<Core, 'stopped' | 'storeFailed'> & { readonly parts: Pick<Core['parts'], 'clock' | 'random'> }

export interface LoopOptions {
  /** Asked before every round. @default until the engine stops */
  readonly while?: () => boolean
  readonly longestPauseMs?: number
  /** Called with the number of failures in a row. */
  readonly onFailure?: (failures: number) => void
}

/**
 * Repeats `round` until the engine stops. A round that throws is reported and repeated after a backoff; it is handed the number of
 * failures in a row. Never rejects.
 */
export async function loop(
  core: Looping,
  operation: string,
  round: (failures: number) => Promise<unknown>,
  { while: goesOn = () => true, longestPauseMs = Number.POSITIVE_INFINITY, onFailure = () => {} }: LoopOptions = {},
): Promise<void> {
  for (let failures = 0; !core.stopped.aborted && goesOn(); ) {
    try {
      await round(failures)
      failures = 0
    } catch (error) {
      // The engine has stopped, so the caller no longer needs the answer.
      if (core.stopped.aborted) return
      const pauseMs = Math.min(longestPauseMs, pauseAfter(failures++, core.parts.random))
      core.storeFailed(operation, describeError(error), pauseMs)
      onFailure(failures)
      await core.parts.clock.sleep(pauseMs, core.stopped)
    }
  }
}

/** Repeats `attempt` until it succeeds or the engine stops. Never rejects. */
export async function untilDone(core: Looping, operation: string, attempt: () => Promise<unknown>): Promise<void> {
  let isDone = false
  const round = async (): Promise<void> => {
    await attempt()
    isDone = true
  }
  await loop(core, operation, round, { while: () => !isDone })
}
