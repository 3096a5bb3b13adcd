/** What survives being stored. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/**
 * A value after it was stored as JSON and read back. What JSON would change is `never` (a Date, a Map, an Error, a function, a
 * bigint), since `once` refuses it; properties that are undefined are left out.
 */
export type InJson<Value> = unknown extends Value
  ? Value
  : Value extends Json | undefined
    ? Value
    : Value extends bigint | symbol | ((...args: never[]) => unknown) | { toJSON(...args: never[]): unknown }
      ? never
      : Value extends readonly unknown[]
        ? InJsonArray<Value>
        : IsError<Value> extends true
          ? never
          : Value extends object
            ? { [Key in keyof Value]: InJson<Value[Key]> }
            : Value

/** JSON turns an Error into `{}`. Plain data may have a name and a message, too, but not all keys of an Error. */
type IsError<Value> = Value extends Error ? (keyof Error extends keyof Value ? true : false) : false

/** JSON turns an item that is undefined into `null`, so `once` refuses it. */
type InJsonArray<Values extends readonly unknown[]> = { [Index in keyof Values]: InJsonItem<Values[Index]> }

// biome-ignore lint/suspicious/noConfusingVoidType: an array of what functions without a result return is void[]
type InJsonItem<Item> = unknown extends Item ? Item : InJson<Exclude<Item, undefined | void>>

/** What `once` returns for a function that returns this: nothing becomes `null`. */
export type Jsonified<Value> = unknown extends Value ? Value : Value extends void ? null : InJson<Value>

/**
 * Does not compile with a function whose result JSON would change. The compiler cannot decide it for a type parameter: in a generic
 * function, return `unknown` and assert the result, as in `once(key, (): unknown => row) as Promise<Row>`. The value is still checked
 * when the function returns.
 */
export type ReturnsJson<Value> = [Value] extends [InJson<Value>] ? unknown : JsonWouldChangeTheResult<Value>

/** The function must return plain data: a date as `date.toISOString()`, a map as `Object.fromEntries(map)`. */
export interface JsonWouldChangeTheResult<Value> {
  readonly 'return plain data instead, such as date.toISOString()': Value
}

/** A deep copy of plain data. What crosses to or from user code is copied: user code may change it, the record must not change. */
export function copyJson<Value>(value: Value): Value {
  return copied(value) as Value
}

function copied(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copied)
  // Not by assignment: an input may have the key `__proto__`.
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copied(item)]))
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const BRACKETS = { open: 0x5b, close: 0x5d }
const BRACES = { open: 0x7b, close: 0x7d }

/** Whether a JSON text is nested deeper than `levels`. Reads the text: walking a deep value could overflow the stack. */
export function isDeeper(text: string, levels: number): boolean {
  // Each level is opened and closed.
  if (text.length < 2 * (levels + 1)) return false
  let depth = 0
  let isText = false
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === QUOTE) isText = !isText
    else if (isText) {
      if (character === BACKSLASH) at++
    } else if (character === BRACKETS.open || character === BRACES.open) {
      if (++depth > levels) return true
    } else if (character === BRACKETS.close || character === BRACES.close) depth--
  }
  return false
}
