import { at } from 'cronce'
import { didYouMean, nameHint } from 'cronce/internal'
import { refuse } from './answer.ts'
import type { QueryParameter, Route } from './routes/route.ts'

/** What the query says, read as the route says. Nothing in it that the route does not know. */
export function readParameters(
  { query: parameters = {} }: Route,
  given: ReadonlyMap<string, string>,
): Readonly<Record<string, unknown>> {
  const read: Record<string, unknown> = {}
  for (const [name, text] of given) {
    if (!Object.hasOwn(parameters, name)) throw unknown('parameter', name, Object.keys(parameters))
    read[name] = readParameter(name, text, parameters[name]!)
  }
  return read
}

/** The fields of the body that the route knows; the route judges their values. */
export function readFields(
  { body: fields = {}, required = [] }: Route,
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(fields, name)) throw unknown('field', name, Object.keys(fields), value)
  }
  const missing = required.find((name) => given[name] === undefined)
  if (missing === undefined) return given
  throw refuse('OPTION_INVALID', `The field "${missing}" is missing.`, `Send {"${missing}": …} in the body.`)
}

function readParameter(name: string, text: string, parameter: QueryParameter): unknown {
  switch (parameter.kind) {
    case 'text':
      // No name has any, and some databases don't take them.
      if (/\p{Cc}/u.test(text)) throw invalid(name, text, 'a text without control characters', 'TEXT')
      return readChoice(name, text, parameter.choices)
    case 'integer':
      return readInteger(name, text, parameter)
    case 'instant':
      return readInstant(name, text)
    case 'boolean':
      if (text === 'true' || text === '') return true
      if (text === 'false') return false
      throw invalid(name, text, 'true or false', 'true')
  }
}

function readChoice(name: string, text: string, choices: readonly string[] | undefined): string {
  if (choices === undefined || choices.includes(text)) return text
  const near = choices.find((choice) => text.length > 2 && choice.startsWith(text.toLowerCase()))
  throw invalid(name, text, `one of ${choices.join(', ')}`, near ?? didYouMean(text, choices) ?? choices.join('|'))
}

function readInteger(name: string, text: string, { min = 0, max = Number.MAX_SAFE_INTEGER }: QueryParameter): number {
  const value = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  const nearest = Number.isNaN(value) ? min : Math.min(max, Math.max(min, value))
  throw invalid(name, text, `a whole number from ${min} to ${max}`, String(nearest))
}

/** Epoch milliseconds, or an ISO text. */
export function readInstant(name: string, text: string): number {
  try {
    return at(/^-?\d{1,16}$/.test(text) ? Number(text) : text).at
  } catch {
    throw invalid(name, text, 'epoch milliseconds, or an ISO text with Z or an offset', '2027-01-01T00:00:00Z')
  }
}

function invalid(name: string, text: string, expected: string, sample: string): Error {
  const message = `${name} can't be ${JSON.stringify(text.slice(0, 60))}: expected ${expected}.`
  return refuse('OPTION_INVALID', message, `Write ${name}=${sample}.`)
}

function unknown(what: string, name: string, known: readonly string[], value?: unknown): Error {
  const foreign = what === 'field' ? nameHint('', name, value, known) : undefined
  if (foreign !== undefined) {
    return refuse('OPTION_UNKNOWN', `There is no field ${JSON.stringify(name.slice(0, 60))}.`, foreign)
  }
  const meant = didYouMean(name, known)
  const all = known.length === 0 ? `There are no ${what}s here.` : `The ${what}s here are ${known.join(', ')}.`
  const message = `There is no ${what} ${JSON.stringify(name.slice(0, 60))}.`
  return refuse('OPTION_UNKNOWN', message, meant === undefined ? all : `Did you mean ${meant}?`)
}
