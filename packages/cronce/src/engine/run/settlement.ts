import type { Json } from '../../model/json.ts'
import { cut, LIMITS } from '../../model/limits.ts'
import { type Ending, ending } from '../../model/outcome.ts'
import type { ErrorRecord } from '../../model/record.ts'
import type { Settlement } from '../../policy/end/settle.ts'
import type { Core } from '../core.ts'
import { describeError } from '../describe-error.ts'
import { handBackPauseMs } from './input-refused.ts'
import type { ExecutedRun, GAVE_UP, NOT_STARTED } from './local-run.ts'
import type { LocalRun } from './run-table.ts'
import { toJson } from './to-json.ts'

/** How a handler ended. `gave-up`: it ignored its signal, and may still be working. */
export type Ended =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly error: unknown }
  | typeof GAVE_UP
  | typeof NOT_STARTED

/** What to record for a run whose handler ended this way. */
export function settlementOf(core: Core, run: ExecutedRun, ended: Ended): Settlement {
  return withStart(run, endOf(core, run, ended))
}

/** The state has the planned start of a run that was claimed ahead. */
export function withStart({ started, calledAt }: LocalRun, settlement: Settlement): Settlement {
  return started.isAhead === undefined || calledAt === undefined ? settlement : { ...settlement, startedAt: calledAt }
}

function endOf(core: Core, run: ExecutedRun, ended: Ended): Settlement {
  if (ended.kind === 'not-started') return handBack(run.started.record.token, 'not-started')
  if (ended.kind === 'returned') return returned(run, ended.value)
  const refused = ended.kind === 'threw' ? inputRefused(core, run, ended.error) : null
  if (refused !== null) return refused
  return failed(run, ended.kind === 'threw' ? ended.error : run.signal.reason)
}

/** The run goes back to the fleet. `not-started`: its handler was not called, so it costs no attempt. */
export function handBack(token: string, started: 'started' | 'not-started'): Settlement {
  return { token, ending: ending('handed-back'), error: null, result: null, retryable: false, handBack: started }
}

const COMPLETED = ending('completed')

function returned({ started, parkMs }: ExecutedRun, value: unknown): Settlement {
  const { token } = started.record
  const result = parkMs === null ? keptResult(value) : null
  const settlement = { token, ending: COMPLETED, error: null, result, retryable: false, handBack: null }
  return parkMs === null ? settlement : { ...settlement, parkMs }
}

/** A result that is too large is cut, not refused: the run has succeeded. */
function keptResult(value: unknown): Json {
  if (value === undefined) return null
  const result = toJson(value, LIMITS.result)
  return result.kind === 'json' ? result.json : `[cut: ${cut(result.problem, 200)}]`
}

function failed({ started, aborted, retryable }: ExecutedRun, thrown: unknown): Settlement {
  const { token } = started.record
  const error = describeError(thrown)
  const failure = { token, error, result: null, handBack: null }
  switch (aborted?.reason) {
    case 'stopping':
    case 'lease-lost':
    case 'fenced':
      return { ...handBack(token, 'started'), error }
    case 'timeout':
      return { ...failure, ending: ending('timeout', error.message), retryable: true }
    case 'cancelled-by-operator':
    case 'replaced':
      // The revocation is in the schedule's state, where the decision about the settlement finds it.
      return { ...failure, ending: ending('error', error.message), retryable: false }
    case undefined: {
      const end = endingOf(error)
      if (end.reason !== 'error' || !isRetryable(thrown, retryable))
        return { ...failure, ending: end, retryable: false }
      const retryAfterMs = retryAfterOf(thrown)
      return { ...failure, ending: end, retryable: true, ...(retryAfterMs === null ? {} : { retryAfterMs }) }
    }
  }
}

function endingOf({ code, message }: ErrorRecord): Ending {
  if (code === 'STEP_UNKNOWN') return ending('step-unknown', message)
  if (code === 'INPUT_INVALID') return ending('input-invalid', message)
  return ending('error', message)
}

/** Longest pause before a retry that an error can ask for. */
const LONGEST_RETRY_AFTER_MS = 86_400_000

function retryAfterOf(error: unknown): number | null {
  try {
    const { retryAfterMs } = (error ?? {}) as { readonly retryAfterMs?: unknown }
    if (typeof retryAfterMs !== 'number' || !(retryAfterMs > 0)) return null
    return Math.min(LONGEST_RETRY_AFTER_MS, Math.ceil(retryAfterMs))
  } catch {
    // A thrown proxy, or an object whose getters throw, has no readable pause.
    return null
  }
}

function isRetryable(error: unknown, retryable: (error: unknown) => boolean): boolean {
  try {
    return retryable(error)
  } catch {
    // A filter that throws has not refused the retry.
    return true
  }
}

/** The handler was not called, because an instance of a newer deployment can read the input. `null`: that is not so. */
function inputRefused(core: Core, { started }: ExecutedRun, error: unknown): Settlement | null {
  const { job, token, attempt } = started.record
  const retryAfterMs = handBackPauseMs(core, job, attempt, error)
  return retryAfterMs === null ? null : { ...handBack(token, 'not-started'), retryAfterMs }
}
