import { isDeeper, type Json } from '../../model/json.ts'
import { LIMITS } from '../../model/limits.ts'
import { describeError } from '../describe-error.ts'

export type JsonResult =
  | { readonly kind: 'json'; readonly json: Json }
  | { readonly kind: 'problem'; readonly problem: string }

/** Like `toJson`, but refuses a value that JSON would change: a reader would get a different value. */
export function toExactJson(value: unknown, limit: number): JsonResult {
  const result = toJson(value, limit)
  if (result.kind === 'problem') return result
  // After `toJson`, which bounds size and depth and reads every property once.
  const change = value === undefined ? null : changeIn(value, 'the result')
  return change === null ? result : { kind: 'problem', problem: `JSON would change it: ${change}` }
}

/** The first thing that JSON changes, in words. Undefined properties are left out, which readers do not notice. */
function changeIn(value: unknown, path: string): string | null {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return null
  if (typeof value === 'number') return changeInNumber(value, path)
  if (value === undefined) return `${path} is undefined`
  if (typeof value !== 'object') return `${path} is a ${typeof value}`
  if (!Array.isArray(value) && !isPlain(value)) {
    return `${path} is an instance of ${value.constructor?.name || 'a class'}`
  }
  const dropped = droppedKey(value)
  if (dropped !== undefined) return `${path} has the key ${String(dropped)}`
  if (Array.isArray(value)) return firstOf(value.keys(), (index) => changeIn(value[index], `${path}[${index}]`))
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return firstOf(fields, ([key, field]) => changeIn(field, `${path}.${key}`))
}

function changeInNumber(value: number, path: string): string | null {
  if (Object.is(value, -0)) return `${path} is -0`
  return Number.isFinite(value) ? null : `${path} is ${value}`
}

/** A property that JSON drops silently: one with a symbol as key, or an extra property of an array. */
function droppedKey(value: object): string | symbol | undefined {
  const isEnumerable = (key: string | symbol): boolean => Object.prototype.propertyIsEnumerable.call(value, key)
  const symbol = Object.getOwnPropertySymbols(value).find(isEnumerable)
  if (symbol !== undefined || !Array.isArray(value)) return symbol
  return Object.keys(value).find((key) => String(Number(key) >>> 0) !== key)
}

/** A plain object of any realm: its prototype is the root of a chain. */
function isPlain(value: object): boolean {
  if ('toJSON' in value && typeof value.toJSON === 'function') return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function firstOf<Item>(items: Iterable<Item>, find: (item: Item) => string | null): string | null {
  for (const item of items) {
    const found = find(item)
    if (found !== null) return found
  }
  return null
}

/** A value as it will be read back from JSON, within a size and a depth. `undefined` becomes `null`. */
export function toJson(value: unknown, limit: number): JsonResult {
  if (value === undefined || value === null) return { kind: 'json', json: null }
  try {
    const text = JSON.stringify(value)
    if (text === undefined) return { kind: 'problem', problem: `a ${typeof value} is not JSON` }
    if (text.length > limit)
      return { kind: 'problem', problem: `it has ${text.length} characters, at most ${limit} are kept` }
    if (isDeeper(text, LIMITS.depth))
      return { kind: 'problem', problem: `it is nested deeper than ${LIMITS.depth} levels` }
    return { kind: 'json', json: JSON.parse(text) as Json }
  } catch (error) {
    return { kind: 'problem', problem: describeError(error).message }
  }
}
