import type { Json } from './json.ts'

/** In place of a result that could not be stored. A step that has ended must not run again, so its record needs some result. */
const REFUSED = 'cronce:refused'

/** `problem`: why the result could not be stored. */
export function refusedResult(problem: string): Json {
  return { [REFUSED]: problem }
}

/** Why the result of this step could not be stored; `null` if it was. */
export function refusalIn(result: Json): string | null {
  if (typeof result !== 'object' || result === null || !(REFUSED in result)) return null
  const problem = result[REFUSED]
  return typeof problem === 'string' ? problem : null
}
