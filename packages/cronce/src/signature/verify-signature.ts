import { CronceError } from '../errors.ts'
import { type HeaderSource, plainHeaders } from './headers.ts'
import { type RawBody, readBody } from './read-body.ts'
import { readSecrets, type Secret } from './secrets.ts'
import { importKey, SIGNATURE_HEADER, signedText } from './signed-text.ts'

/** Options of `verifySignature()`. */
export interface VerifyOptions {
  /** Of at least 16 characters. Several, while one replaces another. */
  readonly secret: Secret
  /** How far the sender's clock, and the way here, may be from this machine's. @default 5 minutes */
  readonly toleranceMs?: number | undefined
  /** Epoch milliseconds. @default now */
  readonly now?: number | undefined
  /** Longer bodies are refused with BODY_TOO_LARGE. @default 1 MB */
  readonly maxBytes?: number | undefined
}

/** A `Request`, an unread incoming message of `node:http`, or headers and the raw body. */
export type SignedRequest =
  | Request
  | { readonly headers: HeaderSource; readonly body?: RawBody }
  | ({ readonly headers: HeaderSource } & AsyncIterable<Uint8Array>)

/** What a valid signature proves about a request. */
export interface VerifiedRequest {
  /** By lower-case name. Only those that the signature covers are proven. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: Uint8Array
}

const TOLERANCE_MS = 5 * 60_000
const MAX_BYTES = 1_048_576
/** As many as secrets can be. */
const MOST_SIGNATURES = 8

/** Whether this was sent just now, unchanged, by a sender that knows the secret. SIGNATURE_MISSING, SIGNATURE_INVALID, SIGNATURE_EXPIRED. */
export async function verifySignature(request: SignedRequest, options: VerifyOptions): Promise<VerifiedRequest> {
  const { secret, toleranceMs = TOLERANCE_MS, now = Date.now(), maxBytes = MAX_BYTES } = options
  const secrets = readSecrets(secret)
  const headers = plainHeaders(request.headers)
  const { timestamp, signatures } = readHeader(headers.get(SIGNATURE_HEADER))
  const body = await readBody(request, maxBytes)
  const text = signedText(timestamp, headers, body)
  let isValid = false
  // All of them, whichever fits: how long it takes tells nothing.
  for (const one of secrets) {
    const key = await importKey(one)
    for (const signature of signatures) isValid = (await crypto.subtle.verify('HMAC', key, signature, text)) || isValid
  }
  if (!isValid) throw signatureInvalid('It fits neither the secret, the covered headers nor the body.')
  // After that, so that only a sender that knows the secret learns about clocks.
  if (Math.abs(now - timestamp * 1_000) > toleranceMs) throw expired(timestamp, now)
  return { headers, body }
}

function readHeader(value: string | undefined): {
  readonly timestamp: number
  readonly signatures: readonly Uint8Array<ArrayBuffer>[]
} {
  if (value === undefined) {
    throw new CronceError('SIGNATURE_MISSING', `The request has no header ${SIGNATURE_HEADER}.`, {
      hint: 'Set a secret where the request comes from, and let proxies pass the header on.',
    })
  }
  const parts = value.split(',', MOST_SIGNATURES + 2).map((part) => part.trim())
  const times = parts.filter((part) => /^t=\d{1,11}$/.test(part))
  const signatures = parts.filter((part) => /^v1=[0-9a-f]{64}$/.test(part)).slice(0, MOST_SIGNATURES)
  if (times.length !== 1 || signatures.length === 0) {
    throw signatureInvalid('It must be t=<seconds>,v1=<64 hexadecimal digits>.')
  }
  return { timestamp: Number(times[0]!.slice(2)), signatures: signatures.map((part) => fromHex(part.slice(3))) }
}

function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(hex.length / 2)
  for (let index = 0; index < bytes.length; index++)
    bytes[index] = Number.parseInt(hex.slice(index * 2, index * 2 + 2), 16)
  return bytes
}

export function signatureInvalid(why: string): CronceError {
  return new CronceError('SIGNATURE_INVALID', `The signature of the request is not valid. ${why}`, {
    hint: 'Use the same secret on both sides, and verify the bytes of the body as they came, before anything parses them.',
  })
}

function expired(timestamp: number, now: number): CronceError {
  const seconds = Math.round(now / 1_000 - timestamp)
  const when = seconds >= 0 ? `${seconds} s ago` : `${-seconds} s in the future`
  return new CronceError('SIGNATURE_EXPIRED', `The request was signed ${when}.`, {
    hint: 'Refuse it: it may be a replay. If it is not, set the clocks of both machines by NTP.',
  })
}
