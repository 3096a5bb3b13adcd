import { didYouMean } from '../did-you-mean.ts'
import { parseDuration } from '../duration.ts'
import { CronceError } from '../errors.ts'
import { at } from '../trigger/at.ts'
import { hideUrls, isSecret, nest } from './as-code.ts'
import { choiceHint } from './choice-words.ts'
import { durationMeant, msMeant } from './duration-meant.ts'
import { instantHint } from './instant-meant.ts'
import { nameHint } from './option-hints.ts'
import { spellDuration } from './spell-duration.ts'

/** Readers of single options. A path such as `retry.backoff.base` says in every message which one is meant. */

export const MINUTE_MS = 60_000
export const DAY_MS = 86_400_000
export const YEAR_MS = 365 * DAY_MS

/** The longest piece of the caller's text that a message repeats. */
const SHOWN = 60

/** The fields of an object, each read once, nothing in it that we do not know; those that are undefined left out. */
export function readFields<Name extends string>(
  path: string,
  value: unknown,
  names: readonly Name[],
  sample: string,
): Partial<Record<Name, unknown>> {
  if (!isRecord(value)) throw invalid(path, value, 'an object', sample)
  const fields: Partial<Record<Name, unknown>> = {}
  for (const written of Object.keys(value)) {
    const name = names.find((known) => known === written)
    if (name === undefined) throw unknownOption(path, written, value[written], names)
    const field = value[written]
    if (field !== undefined) fields[name] = field
  }
  return fields
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  // An object of another realm (a vm, a test runner) has another Object: its prototype has none itself.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

export interface Bounds {
  readonly min: number
  readonly max: number
}

export function readInteger(path: string, value: unknown, { min, max }: Bounds): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
  throw optionInvalid(
    path,
    value,
    `a whole number from ${grouped(min)} to ${grouped(max)}`,
    `Write ${nest(path, integerMeant(value, { min, max }))}.`,
  )
}

/** `3` for `'3'` and `'3 times'`; the nearest that fits for a number that does not. */
function integerMeant(value: unknown, { min, max }: Bounds): string {
  const written = typeof value === 'string' ? /^\d{1,10}(?!\d)/.exec(value)?.[0] : undefined
  const given = written === undefined ? value : Number(written)
  const read = typeof given === 'number' ? Math.round(given) : Number(value !== false)
  const nearest = Math.min(max, Math.max(min, Number.isNaN(read) ? 1 : read))
  return String(nearest)
}

export function readNumber(path: string, value: unknown, { min, max }: Bounds): number {
  if (typeof value === 'number' && value >= min && value <= max) return value
  const given = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  const nearest = typeof given === 'number' && !Number.isNaN(given) ? Math.min(max, Math.max(min, given)) : min
  throw invalid(path, value, `a number from ${grouped(min)} to ${grouped(max)}`, String(nearest))
}

export interface DurationBounds extends Bounds {
  /** What most users have, as the example in the hint. @default the nearest duration that is allowed */
  readonly usual?: number | undefined
}

/** Milliseconds. Zero is a duration only where `min` is 0. */
export function readDuration(path: string, value: unknown, bounds: DurationBounds): number {
  const { min, max } = bounds
  const isZero = value === 0 || (typeof value === 'string' && /^0(ms|[smhdw])?$/.test(value))
  const isDuration = typeof value === 'string' || typeof value === 'number'
  const ms = isZero ? 0 : isDuration ? parseDuration(value) : null
  if (ms !== null && ms >= min && ms <= max) return ms
  const range = `from ${min === 0 ? '0' : spellDuration(min)} to ${spellDuration(max)}`
  throw optionInvalid(
    path,
    value,
    `a duration ${range}, in ms, s, m, h, d or w as in 1h30m, or whole milliseconds`,
    durationMeant(path, value, bounds) ?? `Write ${nest(path, sampleDuration(ms ?? msMeant(value), bounds))}.`,
  )
}

export function readChoice<const Choice extends string>(
  path: string,
  value: unknown,
  choices: readonly Choice[],
): Choice {
  const found = choices.find((choice) => choice === value)
  if (found !== undefined) return found
  const expected = choices.length === 1 ? choices[0]! : `one of ${choices.join(', ')}`
  const known = choiceHint(path, value, choices, (choice) => nest(path, `'${choice}'`))
  if (known !== undefined) throw optionInvalid(path, value, expected, known)
  const meant = typeof value === 'string' ? (didYouMean(value, choices) ?? completed(value, choices)) : undefined
  const written = choices.map((choice) => `'${choice}'`).join(', ')
  const some = choices.length === 1 ? nest(path, written) : `one of ${written}`
  const hint = meant === undefined ? `Write ${some}.` : `Did you mean '${meant}'?`
  throw optionInvalid(path, value, expected, hint)
}

/** `exactly-once` for `exactly`, if nothing else begins like that. */
function completed(text: string, choices: readonly string[]): string | undefined {
  const begun = choices.filter((choice) => text.length > 2 && choice.startsWith(text.toLowerCase()))
  return begun.length === 1 ? begun[0] : undefined
}

/** Epoch milliseconds of a Date, a number, or an ISO text that says its zone. */
export function readInstant(path: string, value: unknown): number {
  try {
    return at(value as Date | number | string).at
  } catch (cause) {
    const expected = 'a Date, epoch milliseconds, or an ISO text with Z or an offset'
    throw optionInvalid(path, value, expected, instantHint(path, value), cause)
  }
}

export function readBoolean(path: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  const isNo = value === 'false' || value === 0 || value === 'no' || value === 'off'
  throw invalid(path, value, 'true or false', String(!isNo))
}

/** A text for people, of bounded length. */
export function readText(path: string, value: unknown, max: number): string {
  if (typeof value === 'string' && value.length <= max && value.isWellFormed()) return value
  throw invalid(path, value, `a text of at most ${grouped(max)} characters`, "'…'")
}

/** `sample` is what could stand there, as code: the hint shows it in its place. */
export function invalid(path: string, value: unknown, expected: string, sample: string): CronceError {
  return optionInvalid(path, value, expected, `Write ${nest(path, sample)}.`)
}

export function optionInvalid(
  path: string,
  value: unknown,
  expected: string,
  hint: string,
  cause?: unknown,
): CronceError {
  const subject = path === '' ? 'The options' : `The option ${path}`
  const message = `${subject} can't be ${show(value)}: expected ${expected}.`
  // `null` is what people write for "none", which is said by leaving the option out.
  const fix = value === null && hint.startsWith('Write ') ? `Leave it out, or w${hint.slice(1)}` : hint
  return new CronceError('OPTION_INVALID', message, cause === undefined ? { hint: fix } : { hint: fix, cause })
}

export function optionConflict(message: string, hint: string): CronceError {
  return new CronceError('OPTION_CONFLICT', message, { hint })
}

function unknownOption(path: string, name: string, value: unknown, names: readonly string[]): CronceError {
  const given = value === undefined || (typeof value === 'string' && isSecret(value)) ? '' : ` (given ${show(value)})`
  const message = `There is no option ${show(join(path, name))}${given}.`
  return new CronceError('OPTION_UNKNOWN', message, { hint: unknownHint(path, name, value, names) })
}

function unknownHint(path: string, name: string, value: unknown, names: readonly string[]): string {
  const known = nameHint(path, name, value, names)
  if (known !== undefined) return known
  const meant = didYouMean(name, names)
  return meant === undefined ? `The options here are ${names.join(', ')}.` : `Did you mean ${meant}?`
}

/** The value in a few words: a message never repeats all of the caller's data. */
export function show(value: unknown): string {
  if (typeof value === 'string') {
    const text = hideUrls(value)
    return JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text)
  }
  if (value === null || ['undefined', 'number', 'boolean'].includes(typeof value)) return String(value)
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array'
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'an invalid Date' : 'a Date'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

/** The usual value of the option, or else the nearest that is allowed. */
function sampleDuration(ms: number | null, { min, max, usual }: DurationBounds): string {
  const common = [5 * MINUTE_MS, 10_000, DAY_MS].find((some) => some >= min && some <= max) ?? max
  const nearest = ms === null || ms <= 0 ? common : Math.min(max, Math.max(min, ms))
  return `'${spellDuration(usual ?? nearest)}'`
}

function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',')
}
