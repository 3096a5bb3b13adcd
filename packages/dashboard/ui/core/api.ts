import { signal } from '@preact/signals'

/** What the API refused, or why it could not be reached. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly hint: string | null

  constructor(status: number, code: string, message: string, hint: string | null = null) {
    super(message)
    this.status = status
    this.code = code
    this.hint = hint
  }
}

const TOKEN_KEY = 'cronce-token'
const TIMEOUT_MS = 20_000

/** A bearer token, for servers that want one. It is forgotten with the tab. */
export const token = signal<string | null>(takeToken())

/** `#token=…` signs in. What is behind the `#` is never sent to a server; it is removed from the address at once. */
function takeToken(): string | null {
  const [, given] = /[#&]token=([\w.~+/=-]+)/.exec(location.hash) ?? []
  if (given === undefined) return sessionStorage.getItem(TOKEN_KEY)
  sessionStorage.setItem(TOKEN_KEY, given)
  history.replaceState(null, '', `${location.pathname}${location.search}#/`)
  return given
}

export function signIn(given: string): void {
  sessionStorage.setItem(TOKEN_KEY, given)
  token.value = given
}

export function signOut(): void {
  sessionStorage.removeItem(TOKEN_KEY)
  token.value = null
}

/** A name as one part of a path. */
export function part(name: string): string {
  return name === '.' || name === '..' ? `=${name}` : encodeURIComponent(name)
}

export type Query = Readonly<Record<string, string | number | undefined | null>>

/** Relative to the page, wherever that is shown. */
export function apiUrl(path: string, query: Query = {}): URL {
  const url = new URL(`api/v1/${path}`, document.baseURI)
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') url.searchParams.set(name, String(value))
  }
  return url
}

/** The operator log says where a change came from. */
const CLIENT = { 'x-cronce-client': 'dashboard' }

export function headers(): Record<string, string> {
  return token.value === null ? {} : { authorization: `Bearer ${token.value}` }
}

export function get<Answer>(path: string, query: Query = {}, signal?: AbortSignal): Promise<Answer> {
  return send(apiUrl(path, query), { headers: headers() }, signal)
}

/** A change. Its key makes it safe to send again. */
export function post<Answer>(path: string, body: object, query: Query = {}): Promise<Answer> {
  return send(apiUrl(path, query), {
    method: 'POST',
    headers: { ...headers(), ...CLIENT, 'content-type': 'application/json', 'idempotency-key': newKey() },
    body: JSON.stringify(body),
  })
}

/** Replaces what is there, and creates nothing. */
export function replace<Answer>(path: string, body: object, query: Query = {}): Promise<Answer> {
  return send(apiUrl(path, query), {
    method: 'PUT',
    headers: { ...headers(), ...CLIENT, 'content-type': 'application/json', 'if-match': '*' },
    body: JSON.stringify(body),
  })
}

export function remove(path: string, query: Query = {}): Promise<null> {
  return send(apiUrl(path, query), { method: 'DELETE', headers: { ...headers(), ...CLIENT } })
}

async function send<Answer>(url: URL, init: RequestInit, signal?: AbortSignal): Promise<Answer> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  let response: Response
  try {
    response = await fetch(url, {
      ...init,
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    })
  } catch (error) {
    if (signal?.aborted === true) throw error
    throw timeout.aborted
      ? new ApiError(0, 'TIMEOUT', 'The server did not answer within 20 seconds.', 'Ask for less, or try again.')
      : new ApiError(0, 'UNREACHABLE', 'The server cannot be reached.', 'It is tried again in a moment.')
  }
  return readAnswer(response)
}

async function readAnswer<Answer>(response: Response): Promise<Answer> {
  const text = await response.text()
  const body: unknown = text === '' ? null : parse(text)
  if (response.ok) return body as Answer
  const { error } = (body ?? {}) as { error?: { code: string; message: string; hint: string | null } }
  const { code = `HTTP_${response.status}`, message = `The server answered ${response.status}.`, hint } = error ?? {}
  throw new ApiError(response.status, code, message, hint ?? null)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** `crypto.randomUUID` is missing on pages without TLS. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
