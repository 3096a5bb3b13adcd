import { isDeeper, type Json } from '../model/json.ts'
import { LIMITS } from '../model/limits.ts'
import { describeError } from './describe-error.ts'

export type JsonResult =
  | { readonly kind: 'json'; readonly json: Json }
  | { readonly kind: 'problem'; readonly problem: string }

/** A value as it will be read back: what JSON makes of it, within a size and a depth. `undefined` is `null`. */
export function toJson(value: unknown, limit: number): JsonResult {
  if (value === undefined || value === null) return { kind: 'json', json: null }
  try {
    const text = JSON.stringify(value)
    if (text === undefined) return { kind: 'problem', problem: `a ${typeof value} is no JSON` }
    if (text.length > limit)
      return { kind: 'problem', problem: `it has ${text.length} characters, at most ${limit} are kept` }
    if (isDeeper(text, LIMITS.depth))
      return { kind: 'problem', problem: `it is nested deeper than ${LIMITS.depth} levels` }
    return { kind: 'json', json: JSON.parse(text) as Json }
  } catch (error) {
    return { kind: 'problem', problem: describeError(error).message }
  }
}
