import { cut } from '../model/limits.ts'
import type { Settlement } from '../policy/settle.ts'
import { describeError } from './describe-error.ts'

/** What is known of an end that could not be written. */
export interface Suspect {
  readonly settlement: Settlement
  /** It is written with so many others at most: fewer each time that they could not be written together. */
  most: number
  /** How often it could not be written although it was alone. */
  refusals: number
  /** What is written instead of it: all but what others have made up. */
  bare: Settlement | null
}

/** Refused so often although it is alone, it is written bare. Once may have been the end of a failure of the store. */
const REFUSALS = 2

/**
 * These could not be written. If that is not for the store it never passes by itself, and whatever it is must not keep the others
 * from being written: fewer at a time, until it is alone; then it comes last, and is written without its result and error. If that
 * can't be written either, so be it: all of it is tried again, like everything that the store fails at.
 */
export function setApart(left: readonly Suspect[], error: unknown): 'again' | 'at once' | 'last' {
  const wasBare = left.some(({ bare }) => bare !== null)
  for (const suspect of left) suspect.bare = null
  if (isOfStore(error)) return 'again'
  for (const suspect of left) suspect.most = Math.max(1, Math.floor(left.length / 2))
  const [only, another] = left
  if (only === undefined || another !== undefined) return 'again'
  if (wasBare || ++only.refusals < REFUSALS) return 'last'
  only.bare = bareOf(only.settlement, describeError(error).message)
  return 'at once'
}

/** Its errors have a code. One of them says that the server refuses what it was sent; those of the language, that nothing was sent. */
function isOfStore(error: unknown): boolean {
  if (error instanceof RangeError || error instanceof TypeError) return false
  const { code } = describeError(error)
  return code !== null && code !== 'STORE_FAILED'
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
