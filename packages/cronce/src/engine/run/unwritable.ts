import { cut } from '../../model/limits.ts'
import type { Settlement } from '../../policy/end/settle.ts'
import { describeError } from '../describe-error.ts'

/** What is known about a settlement that could not be written. */
export interface Suspect {
  readonly settlement: Settlement
  /** The largest batch it may be part of: smaller after each batch that failed. */
  most: number
  /** How often it was refused on its own. */
  refusals: number
  /** The replacement: everything except content from user code. */
  bare: Settlement | null
}

/** After this number of refusals on its own, a settlement is written without its result and error. */
const REFUSALS = 2

/**
 * A batch could not be written. One settlement may be the cause and must not block the rest: smaller batches until it is alone,
 * then it comes last. Only if its content is refused is it written without result and error: dropping those cannot be undone.
 */
export function setApart(left: readonly Suspect[], error: unknown): 'again' | 'at once' | 'last' {
  const wasBare = left.some(({ bare }) => bare !== null)
  for (const suspect of left) suspect.bare = null
  if (isOfStore(error)) return 'again'
  for (const suspect of left) suspect.most = Math.max(1, Math.floor(left.length / 2))
  const [only, another] = left
  if (only === undefined || another !== undefined) return 'again'
  if (wasBare || !isRefusal(error) || ++only.refusals < REFUSALS) return 'last'
  only.bare = bareOf(only.settlement, describeError(error).message)
  return 'at once'
}

/** Whether any other write would fail the same way. Errors of stores have a code, and all but two say so. */
function isOfStore(error: unknown): boolean {
  if (isOfLanguage(error)) return false
  const { code } = describeError(error)
  return code !== null && code !== 'STORE_FAILED' && code !== 'STORE_REFUSED'
}

/** Whether the error says that this content can never be written. */
function isRefusal(error: unknown): boolean {
  return isOfLanguage(error) || describeError(error).code === 'STORE_REFUSED'
}

/**
 * Thrown before anything was sent. Errors with a cause wrap another problem: fetch throws a TypeError when there is no server.
 */
function isOfLanguage(error: unknown): boolean {
  return (error instanceof RangeError || error instanceof TypeError) && error.cause === undefined
}

function bareOf(settlement: Settlement, problem: string): Settlement {
  const mark = `[cut: ${cut(problem, 200)}]`
  const { ending, error, result } = settlement
  return {
    ...settlement,
    ending: ending.detail === null ? ending : { ...ending, detail: mark },
    error: error === null ? null : { name: 'Error', message: mark, code: null, stack: null },
    result: result === null ? null : mark,
  }
}
