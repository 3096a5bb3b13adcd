import { type HeaderSource, type PlainHeaders, plainHeaders } from './headers.ts'
import { type RawBody, readBody } from './read-body.ts'
import { readSecrets, type Secret } from './secrets.ts'
import { importKey, SIGNATURE_HEADER, signedText } from './signed-text.ts'

/** Options of `sign()`. */
export interface SignOptions {
  /** Of at least 16 characters. Several, while one replaces another: the receiver needs to know one of them. */
  readonly secret: Secret
  /** Epoch milliseconds. @default now */
  readonly now?: number | undefined
}

/** A request to sign. */
export interface Unsigned {
  readonly headers?: HeaderSource | undefined
  readonly body?: RawBody
}

/** The headers of a request, by lower-case name, with `cronce-signature`. */
export async function sign(request: Unsigned, { secret, now = Date.now() }: SignOptions): Promise<PlainHeaders> {
  const secrets = readSecrets(secret)
  const headers = plainHeaders(request.headers ?? {})
  const body = await readBody({ body: request.body }, Number.POSITIVE_INFINITY)
  const timestamp = Math.floor(now / 1_000)
  const text = signedText(timestamp, headers, body)
  const signatures = await Promise.all(secrets.map((one) => hmac(one, text)))
  const value = [`t=${timestamp}`, ...signatures.map((hex) => `v1=${hex}`)].join(',')
  return Object.fromEntries([...headers, [SIGNATURE_HEADER, value]])
}

async function hmac(secret: string, text: Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.sign('HMAC', await importKey(secret), text))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
