import { didYouMean } from '../did-you-mean.ts'
import { CronceError } from '../errors.ts'
import { kindOf } from '../words.ts'

/** What other libraries call an option, and its name here. */
export type ForeignNames = Readonly<Record<string, string>>

/** Refuses options that the store does not have. Values are not shown: they may be passwords. */
export function demandOptions(
  store: string,
  options: unknown,
  names: readonly string[],
  foreign: ForeignNames = {},
): asserts options is object {
  const all = `Use ${names.join(', ')}.`
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw optionsInvalid(`The options of ${store} can't be ${shown(options)}: expected an object.`, all)
  }
  const unknown = Object.keys(options).find((name) => !names.includes(name))
  if (unknown === undefined) return
  const near = didYouMean(unknown, [...names, ...Object.keys(foreign)])
  const hint = near === undefined ? all : `Did you mean ${foreign[near] ?? near}?`
  throw optionsInvalid(`"${unknown}" is not an option of ${store}.`, hint)
}

export function isUrlOrOptions(target: unknown): boolean {
  return typeof target === 'object' ? target !== null : typeof target === 'string' && target !== ''
}

/** What to write for a store that was called with something else, often with a variable that is not set. */
export function targetHint(value: unknown, write: string): string {
  const isUnset = value === undefined || value === null || value === ''
  return isUnset ? `Check the variable that it comes from. ${write}` : write
}

/** A value in a message. The text of a URL is not shown. */
export function shown(value: unknown): string {
  if (value === '') return 'an empty text'
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const name: unknown = typeof value === 'object' && value !== null ? value.constructor?.name : undefined
  const isPlain = name === undefined || name === '' || name === 'Object' || name === 'Array'
  return isPlain ? kindOf(value) : `an object of the class ${name}`
}

export function optionsInvalid(message: string, hint: string): CronceError {
  return new CronceError('STORE_OPTIONS_INVALID', message, { hint })
}
