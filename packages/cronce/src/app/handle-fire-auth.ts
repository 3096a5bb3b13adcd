import { CronceError } from '../errors.ts'
import { nodeCrypto } from '../node-crypto.ts'
import { plainHeaders } from '../signature/headers.ts'
import { demandPurpose } from '../signature/purpose.ts'
import { readBody } from '../signature/read-body.ts'
import { readSecrets, type Secret } from '../signature/secrets.ts'
import { SIGNATURE_HEADER } from '../signature/signed-text.ts'
import { verifySignature } from '../signature/verify-signature.ts'

export interface FireAuth {
  /** The bearer token that callers must send, at least 16 characters. @default CRONCE_FIRE_TOKEN */
  readonly token?: Secret | undefined
  /** The secret with which callers may sign requests instead, at least 16 characters. @default CRONCE_FIRE_SECRET */
  readonly secret?: Secret | undefined
}

export interface Authenticated {
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: Uint8Array
  /** True: only the body and cronce's own headers are proven. */
  readonly isSigned: boolean
}

/** Enough for an input of the largest size that a schedule may have. */
export const BODY_BYTES = 65_536

/**
 * What the headers prove by themselves. `unproved`: there is a signature over the body. `none`: the body need not be read, since
 * `authenticate` refuses the request without it.
 */
export function fireProof(headers: Headers, auth: FireAuth): 'proved' | 'unproved' | 'none' {
  const { tokens, secret } = credentialsOf(auth)
  if (secret !== undefined && headers.has(SIGNATURE_HEADER)) return 'unproved'
  return tokens !== undefined && isBearer(headers.get('authorization'), readSecrets(tokens)) ? 'proved' : 'none'
}

function credentialsOf(auth: FireAuth): { readonly tokens: Secret | undefined; readonly secret: Secret | undefined } {
  const { CRONCE_FIRE_TOKEN, CRONCE_FIRE_SECRET } = process.env
  return { tokens: auth.token ?? listOf(CRONCE_FIRE_TOKEN), secret: auth.secret ?? listOf(CRONCE_FIRE_SECRET) }
}

/** Without a token and a secret every request is refused. */
export async function authenticate(request: Request, auth: FireAuth): Promise<Authenticated> {
  const { tokens, secret } = credentialsOf(auth)
  if (tokens === undefined && secret === undefined) throw authMissing()
  if (secret !== undefined && (tokens === undefined || request.headers.has(SIGNATURE_HEADER))) {
    const verified = await verifySignature(request, { secret, maxBytes: BODY_BYTES })
    // Signatures of cronce's own requests and of call-backs must not pass as deliveries.
    demandPurpose(verified.headers, undefined)
    return { ...verified, isSigned: true }
  }
  if (!isBearer(request.headers.get('authorization'), readSecrets(tokens))) throw authInvalid()
  // Read only after the headers passed: strangers can't make us read a body.
  const body = await readBody(request, BODY_BYTES)
  return { headers: plainHeaders(request.headers), body, isSigned: false }
}

/** Several values in one variable, while one replaces another. */
export function listOf(variable: string | undefined): readonly string[] | undefined {
  const list = variable?.split(',').map((one) => one.trim())
  return list?.some((one) => one !== '') ? list.filter((one) => one !== '') : undefined
}

/** Compares hashes, and all of them: the time reveals neither the length nor which one matches. */
function isBearer(header: string | null, tokens: readonly string[]): boolean {
  const given = hash(/^Bearer +(\S+) *$/i.exec(header ?? '')?.[1] ?? '')
  let isKnown = false
  for (const token of tokens) isKnown = nodeCrypto().timingSafeEqual(given, hash(token)) || isKnown
  return isKnown
}

function hash(text: string): Buffer {
  return nodeCrypto().createHash('sha256').update(text).digest()
}

function authMissing(): CronceError {
  return new CronceError('FIRE_AUTH_MISSING', 'Every delivery is refused here: neither a token nor a secret is set.', {
    hint: 'Set CRONCE_FIRE_TOKEN or CRONCE_FIRE_SECRET where cronce runs, or give handleFire a token or a secret.',
  })
}

function authInvalid(): CronceError {
  return new CronceError('FIRE_AUTH_INVALID', 'The request has no bearer token that is known here.', {
    hint: 'Send the header Authorization: Bearer TOKEN.',
  })
}
