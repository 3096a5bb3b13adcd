import { OUTCOMES } from 'cronce'
import { about, type Schema, TEXT } from '../openapi/schema.ts'
import type { QueryParameter } from './route.ts'

/** Parameters and fields that several routes share. */

export const PAGE: Readonly<Record<string, QueryParameter>> = {
  limit: { kind: 'integer', about: 'Items of a page.', min: 1, max: 1_000 },
  after: { kind: 'text', about: '`next` of the page before.' },
}

export const OUTCOME: QueryParameter = { kind: 'text', about: 'How it ended, or open.', choices: [...OUTCOMES, 'open'] }

export const NONCE: Readonly<Record<string, QueryParameter>> = {
  nonce: { kind: 'text', about: 'Of a manual fire: its dedupe key or id.' },
}

export const AUTHORED: Readonly<Record<string, Schema>> = {
  author: about(TEXT, 'Who wants it, for the record.'),
  note: about(TEXT, 'Why, for the record: up to 1,000 characters.'),
}

/** The same in the query, where the body is about something else. */
export const AUTHORED_QUERY: Readonly<Record<string, QueryParameter>> = {
  author: { kind: 'text', about: 'Who wants it, for the record.' },
  note: { kind: 'text', about: 'Why, for the record: up to 1,000 characters.' },
}

export const FORCE: Readonly<Record<string, Schema>> = { force: { type: 'boolean' } }
