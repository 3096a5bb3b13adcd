import { CronceError } from '../errors.ts'
import type { Json } from '../model/json.ts'
import { LIMITS } from '../model/limits.ts'
import { withArticle } from '../words.ts'
import { isRecord, show } from './read-option.ts'

/**
 * A copy of the value, if JSON can represent it exactly. A value that JSON would drop or change is refused, since the handler
 * would get something else. `undefined` becomes `null`.
 */
export function readInput(value: unknown, { what = 'input', max = LIMITS.input as number } = {}): Json {
  if (value === undefined) return null
  demandJson(what, value, [])
  const text = JSON.stringify(value)
  const size = Buffer.byteLength(text)
  if (size > max) {
    throw new CronceError('INPUT_TOO_LARGE', `The ${what} has ${size} bytes as JSON, more than ${max}.`, {
      hint: 'Store the data elsewhere and give its key.',
    })
  }
  return JSON.parse(text) as Json
}

/** `around`: the objects that this one is in, for cycles and depth. */
function demandJson(path: string, value: unknown, around: readonly object[]): void {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return
  if (typeof value === 'object') {
    demandJsonObject(path, value, around)
    return
  }
  if (typeof value !== 'number') throw notJson(path, value, HINTS[typeof value])
  if (!Number.isFinite(value)) throw notJson(path, value, 'Use null for a number that is not there.')
}

function demandJsonObject(path: string, value: object, around: readonly object[]): void {
  if (value instanceof Date) throw notJson(path, value, 'Use date.toISOString(), or date.getTime().')
  if (around.includes(value)) throw notJson(path, value, 'It contains itself: give the parts that the job needs.')
  if (around.length >= LIMITS.depth) {
    throw notJson(path, value, `Nest at most ${LIMITS.depth} levels.`)
  }
  const within = [...around, value]
  if (Array.isArray(value)) {
    // By index: a hole is undefined, and forEach would pass over it.
    for (let index = 0; index < value.length; index++) demandJson(`${path}[${index}]`, value[index], within)
    return
  }
  if (!isRecord(value) || Object.getOwnPropertySymbols(value).length > 0) {
    throw notJson(path, value, 'Use plain objects and arrays: { ...value }, [...set], Object.fromEntries(map).')
  }
  for (const [name, field] of Object.entries(value)) demandJson(`${path}.${name}`, field, within)
}

const HINTS: Readonly<Record<string, string>> = {
  undefined: 'Leave it out, or use null.',
  function: 'Give data; the code is the job.',
  bigint: 'Use a text: String(value).',
  symbol: 'Use a text.',
}

function notJson(path: string, value: unknown, hint: string | undefined): CronceError {
  const found = typeof value === 'object' && !Array.isArray(value) ? className(value) : show(value)
  const where = path.length > 200 ? `${path.slice(0, 200)}…` : path
  return new CronceError('INPUT_INVALID', `${where} is ${found}, which JSON can't hold as it is.`, { hint })
}

function className(value: object | null): string {
  const name: unknown = value?.constructor?.name
  return typeof name === 'string' && name !== 'Object' ? withArticle(name.slice(0, 60)) : 'an object'
}
