import { ORIGINS, type Origin } from '../model/activity.ts'
import { LIMITS } from '../model/limits.ts'
import type { FireKey } from '../model/record.ts'
import type { Author } from '../policy/operate/pause.ts'
import { readName } from './read-name.ts'
import { invalid, readChoice, readFields, readInstant, readText } from './read-option.ts'
import type { When } from './schedule-options.ts'

/** Who did it and why, for the record. */
export interface Authored {
  /** @default none */
  readonly author?: string | undefined
  /** Up to 1,000 characters. @default none */
  readonly note?: string | undefined
  /** Where the command came from, for the operator log. @default 'code' */
  readonly origin?: Origin | undefined
}

/** Who acts, why and from where. */
export interface Operator extends Author {
  readonly origin: Origin
}

export const AUTHORED = ['author', 'note', 'origin'] as const

/** Which fire is meant. */
export interface FireRef {
  readonly schedule: string
  readonly dueAt: When
  /** Of a manual fire: its dedupe key or id. @default '' */
  readonly nonce?: string | undefined
}

export function readFireKey(ref: FireRef): FireKey {
  const sample = "{ schedule: 'nightly', dueAt: '2027-01-01T03:00:00Z' }"
  // A view of a fire is a fine way to say which: what else it says is of no matter here.
  const given = typeof ref === 'object' && ref !== null ? ref : undefined
  if (given === undefined) throw invalid('fire', ref, 'which fire is meant', sample)
  const { schedule, dueAt, nonce = '' } = given
  if (nonce !== '') readName('nonce', nonce, LIMITS.dedupeKey)
  return { schedule: readName('schedule', schedule), dueAt: readInstant('dueAt', dueAt), nonce }
}

export function readAuthored({ author, note }: { author?: unknown; note?: unknown }): {
  readonly author: string | null
  readonly note: string | null
} {
  return {
    author: author === undefined ? null : readText('author', author, LIMITS.name),
    note: note === undefined ? null : readText('note', note, LIMITS.note),
  }
}

/** What is kept with the schedule: who and why. */
export function authorOf({ author, note }: Operator): Author {
  return { author, note }
}

export function readOperator(fields: { author?: unknown; note?: unknown; origin?: unknown }): Operator {
  const { origin = 'code' } = fields
  return { ...readAuthored(fields), origin: readChoice('origin', origin, ORIGINS) }
}

/** Options of a command; none are as good as an empty object. */
export function readCommand<Name extends string>(
  options: unknown,
  names: readonly Name[],
): Partial<Record<Name, unknown>> {
  return readFields('', options ?? {}, names, '{}')
}

export function optionalInstant(path: string, value: unknown): number | undefined {
  return value === undefined ? undefined : readInstant(path, value)
}

/** A filter by name: not checked as strictly, since nothing is made by it. */
export function optionalText(path: string, value: unknown): string | undefined {
  return value === undefined ? undefined : readText(path, value, LIMITS.name)
}
