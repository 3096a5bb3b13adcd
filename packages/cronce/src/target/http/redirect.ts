import { describeRequest, type HttpError, httpError } from './http-errors.ts'
import type { Answer, Outgoing } from './send.ts'

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
/** With these the same request is made again; with the others a POST would become a GET that does nothing and answers 200. */
const KEEPS_METHOD: ReadonlySet<number> = new Set([307, 308])
/** Of the headers that the user gave, those that another origin may see. */
const HARMLESS: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'content-type',
  'content-length',
  'user-agent',
])
/** Of ours, what it may not: proof, and where to report. */
const PROOF: ReadonlySet<string> = new Set(['cronce-signature', 'cronce-callback', 'cronce-callback-deadline'])

/** The request that an answer sends us on to; `null` if it does not. */
export function redirected(from: Outgoing, { status, headers }: Pick<Answer, 'status' | 'headers'>): Outgoing | null {
  const { location } = headers
  if (!REDIRECTS.has(status) || location === undefined) return null
  if (!URL.canParse(location, from.url.href)) throw refused(from, 'an address that is not a URL')
  const url = new URL(location, from.url)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw refused(from, `the protocol ${url.protocol}`)
  if (from.url.protocol === 'https:' && url.protocol === 'http:') throw refused(from, 'an address without TLS')
  if (!KEEPS_METHOD.has(status) && from.method !== 'GET' && from.method !== 'HEAD') {
    throw refused(from, `another address by ${status}, which would make it a GET`)
  }
  url.username = ''
  url.password = ''
  return { ...from, url, headers: isSameOrigin(from.url, url) ? from.headers : withoutSecrets(from.headers) }
}

/** A redirect from http to https of the same host stays with the same owner. */
function isSameOrigin(from: URL, to: URL): boolean {
  const isUpgrade = from.protocol === 'http:' && to.protocol === 'https:' && from.port === '' && to.port === ''
  return from.hostname === to.hostname && (isUpgrade || from.origin === to.origin)
}

function withoutSecrets(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) =>
        HARMLESS.has(name) || ((name.startsWith('cronce-') || name === 'idempotency-key') && !PROOF.has(name)),
    ),
  )
}

function refused(from: Outgoing, where: string): HttpError {
  return httpError('HTTP_REDIRECT_REFUSED', `${describeRequest(from)} was redirected to ${where}.`, {
    hint: 'Write the address that it leads to as the url of the target.',
    retryable: false,
  })
}
