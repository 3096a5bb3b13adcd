import { refuse } from './answer.ts'

const READING = new Set(['GET', 'HEAD'])

/**
 * A page of another site must neither change anything in the name of the person who looks at it, nor use up what the server has.
 * Browsers say where a request comes from; a client that says nothing is not a browser, and JSON in the body keeps plain forms out.
 * A link that a person follows may lead to an answer, but not to a stream.
 */
export function demandOwnOrigin(request: Request, allowed: ReadonlySet<string>, isStream: boolean): void {
  const origin = request.headers.get('origin')
  if (origin !== null && allowed.has(origin)) return
  const site = request.headers.get('sec-fetch-site')
  const isOwn =
    site === null ? origin === null || isSameHost(origin, request) : site === 'same-origin' || site === 'none'
  if (isOwn || (READING.has(request.method) && !isStream && isLink(request))) return
  throw refuse(
    'ORIGIN_REFUSED',
    `A page of ${origin === null ? 'another site' : JSON.stringify(origin.slice(0, 200))} must not use this.`,
    'Name the origin in allowedOrigins, if it is one of yours.',
  )
}

function isLink({ headers }: Request): boolean {
  return headers.get('sec-fetch-mode') === 'navigate' && headers.get('sec-fetch-dest') === 'document'
}

/** By host, not by scheme: where TLS ends before us, we can't know it. */
function isSameHost(origin: string, request: Request): boolean {
  if (!URL.canParse(origin)) return false
  const own = request.headers.get('host') ?? new URL(request.url).host
  return withoutPort(new URL(origin).host) === withoutPort(own.toLowerCase())
}

function withoutPort(host: string): string {
  return host.replace(/:(80|443)$/, '')
}

/** Headers by which a browser lets a page of an allowed origin see the answer; none for other origins. */
export function corsHeaders(request: Request, allowed: ReadonlySet<string>): Readonly<Record<string, string>> {
  const origin = request.headers.get('origin')
  if (origin === null || !allowed.has(origin)) return {}
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'retry-after, idempotency-replayed',
    vary: 'origin',
    'cross-origin-resource-policy': 'cross-origin',
  }
}

/** The question that a browser asks beforehand, from an allowed origin. */
export function isPreflight(request: Request, allowed: ReadonlySet<string>): boolean {
  const { headers } = request
  return (
    request.method === 'OPTIONS' &&
    headers.has('access-control-request-method') &&
    allowed.has(headers.get('origin') ?? '')
  )
}

/** `dashboard`: the request is from the dashboard, for the operator log. */
export const CLIENT_HEADER = 'x-cronce-client'

export const PREFLIGHT_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-methods': 'GET, PUT, POST, DELETE',
  'access-control-allow-headers': `authorization, content-type, idempotency-key, if-match, if-none-match, last-event-id, ${CLIENT_HEADER}`,
  'access-control-max-age': '600',
}
