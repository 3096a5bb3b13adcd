import { CronceError } from '../errors.ts'
import type { Change } from '../model/change.ts'
import type { Applied, ApplyOptions } from '../store/store.ts'
import type { Core } from './core.ts'
import { describeError } from './describe-error.ts'
import { WAIT_ENDED } from './wait-ended.ts'

/** Any type of transaction. */
type Caller = Pick<Core, 'settings' | 'stopped' | 'storeAnswered' | 'storeFailed'> & {
  readonly parts: Pick<Core['parts'], 'clock' | 'random' | 'meters'>
}

/**
 * A call to the store with a deadline. If it throws or gets no answer in time, its outcome is unknown, and the caller finds out by
 * reading. A late answer is ignored.
 */
export async function callStore<Answer>(
  core: Caller,
  operation: string,
  call: () => Promise<Answer>,
  deadlineMs = core.settings.storeDeadlineMs,
): Promise<Answer> {
  const { clock, meters } = core.parts
  const isMeasured = meters.length > 0
  const sentAt = isMeasured ? clock.mono() : 0
  let isFailed = true
  const answer = call()
  const deadline = storeDeadline(core, operation, deadlineMs)
  try {
    const answered = await Promise.race([answer, deadline.passed])
    isFailed = false
    return answered
  } finally {
    deadline.end()
    if (isMeasured) for (const meter of meters) meter.storeCalled(operation, clock.mono() - sentAt, isFailed)
    // The caller already treats the outcome as unknown; ignore a late answer.
    answer.catch(() => {})
  }
}

/** Writes changes, with a deadline. Throws when the store does. */
export async function applyChanges(
  core: Core,
  operation: string,
  changes: readonly Change[],
  options?: ApplyOptions<unknown>,
): Promise<Applied> {
  const applied = await callStore(core, operation, () => core.parts.store.apply(changes, options))
  const { meters } = core.parts
  if (meters.length === 0) return applied
  const count = applied.results.filter(({ kind }) => kind === 'conflict').length
  if (count > 0) for (const meter of meters) meter.conflicted(operation, count)
  return applied
}

/** Longest wait for an answer; does not count while paused. */
export interface Deadline {
  /** Rejects when the time has passed. Never resolves. */
  readonly passed: Promise<never>
  readonly pause: () => void
  readonly resume: () => void
  readonly end: () => void
}

export function storeDeadline(core: Caller, operation: string, deadlineMs = core.settings.storeDeadlineMs): Deadline {
  const { promise, reject } = Promise.withResolvers<never>()
  let waiting = new AbortController()
  const resume = (): void => {
    const { signal } = waiting
    void core.parts.clock.sleep(deadlineMs, signal).then(() => {
      if (!signal.aborted) reject(storeSilent(operation))
    })
  }
  const pause = (): void => {
    waiting.abort(WAIT_ENDED)
    waiting = new AbortController()
  }
  resume()
  return { passed: promise, pause, resume, end: pause }
}

function storeSilent(operation: string): CronceError {
  return new CronceError('STORE_SILENT', `The store did not answer ${operation} in time.`, {
    hint: 'Check that the store is reachable and not overloaded; cronce goes on when it answers.',
  })
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000

/** Repeats the call until it succeeds or `giveUp` returns true, and reports each failure. Pauses grow to five seconds, with jitter. */
export async function persist<Answer>(
  core: Caller,
  operation: string,
  call: () => Promise<Answer>,
  giveUp: () => boolean,
): Promise<Answer> {
  for (let failures = 0; ; failures++) {
    try {
      const answer = await callStore(core, operation, call)
      core.storeAnswered()
      return answer
    } catch (error) {
      if (giveUp()) throw error
      const pauseMs = pauseAfter(failures, core.parts.random)
      core.storeFailed(operation, describeError(error), pauseMs)
      await core.parts.clock.sleep(pauseMs, core.stopped)
      // An instance that was stopped meanwhile must not, for example, join again.
      if (giveUp()) throw error
    }
  }
}

export function pauseAfter(failures: number, random: () => number): number {
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures, 10))
  return Math.ceil(longest * (0.5 + random() / 2))
}
