import { randomUUID } from 'node:crypto'
import { CronceError, CronError, type ErrorCode } from 'cronce'
import { jsonHint, jsonMessage } from './json-hints.ts'
import type { ApiLogger } from './options.ts'
import { statusOf } from './status-of.ts'

/** Nothing that the API says is a page: no script of it runs, it can't be framed, and it is not cached. */
const HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

const JSON_TYPE = 'application/json; charset=utf-8'
/** Seconds after which it is worth to try again. */
const RETRY_AFTER: Readonly<Record<number, string>> = { 425: '5', 429: '30', 503: '1' }

/** An answer before it is a Response, so that it can be kept and given again. */
export interface Answer {
  readonly status: number
  /** JSON, or `null` for none. */
  readonly text: string | null
  readonly headers: Readonly<Record<string, string>>
}

export function answerJson(value: unknown, status = 200): Answer {
  return { status, text: JSON.stringify(value), headers: {} }
}

export const NOTHING: Answer = { status: 204, text: null, headers: {} }

export function toResponse({ status, text, headers }: Answer): Response {
  const type = text === null ? {} : { 'content-type': JSON_TYPE }
  return new Response(text, { status, headers: { ...HEADERS, ...type, ...headers } })
}

/** For what brings its own Response: a stream, a delivery. */
export function withOurHeaders(response: Response): Response {
  const headers = new Headers(response.headers)
  for (const [name, value] of Object.entries(HEADERS)) if (!headers.has(name)) headers.set(name, value)
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers })
}

/** Whatever was thrown, as an answer: what was meant to be told is, everything else is a number in the log. */
export function answerError(error: unknown, logger: ApiLogger): Answer {
  const told = tell(error)
  if (told !== null) return told
  const id = randomUUID()
  logger.error(`A request failed (${id}): ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
  const hint = 'Look for this id in the log of the server.'
  return answerJson({ error: { code: 'INTERNAL', message: 'The server failed to answer.', hint, id } }, 500)
}

function tell(error: unknown): Answer | null {
  const code = codeOf(error)
  if (code === null) return null
  // An invalid expression is always a mistake of the client.
  const status = error instanceof CronError ? 400 : statusOf(code)
  if (status === null) return null
  const { message, hint, notApplied, headers } = error as Error & Told
  const said = OF_OPTIONS.has(code)
    ? { message: jsonMessage(message), hint: jsonHint(hint ?? '') || null }
    : { message, hint: hint ?? null }
  const body = { error: { code, ...said, ...(notApplied === undefined ? {} : { notApplied }) } }
  const after = RETRY_AFTER[status]
  const later: Record<string, string> = after === undefined ? {} : { 'retry-after': after }
  return { ...answerJson(body, status), headers: { ...later, ...headers } }
}

/** Codes of errors whose hints say what to write. */
const OF_OPTIONS: ReadonlySet<string> = new Set(['OPTION_INVALID', 'OPTION_UNKNOWN', 'OPTION_CONFLICT'])

interface Told {
  readonly hint?: string | undefined
  /** Of a store: nothing was written. */
  readonly notApplied?: boolean | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

function codeOf(error: unknown): string | null {
  const isOurs = error instanceof CronceError || error instanceof RangeError
  return isOurs && 'code' in error && typeof error.code === 'string' ? error.code : null
}

/** A refusal of the API itself, with headers where the status wants some. */
export function refuse(
  code: ErrorCode,
  message: string,
  hint: string,
  headers: Readonly<Record<string, string>> = {},
): CronceError {
  return Object.assign(new CronceError(code, message, { hint }), { headers })
}
