import { CronceError } from '../errors.ts'
import type { Delivery } from './delivery.ts'
import { decodeHeader, encodeHeader } from './headers.ts'
import { demandPurpose, PURPOSE_HEADER, type Purpose } from './purpose.ts'
import type { Secret } from './secrets.ts'
import { sign } from './sign.ts'
import { type SignedRequest, signatureInvalid, type VerifyOptions, verifySignature } from './verify-signature.ts'

/** How a run ended whose endpoint answered 202. */
export interface Completion {
  readonly outcome: 'succeeded' | 'failed'
  /** Kept as the run's result: JSON up to 16 KB. @default null */
  readonly result?: unknown
  /** What went wrong. */
  readonly error?: string | undefined
  /** Of a failed one: whether another run is worth it. @default true */
  readonly retryable?: boolean | undefined
}

/** What to hand to `fetch` as its second argument. */
export interface SignedCallback {
  readonly method: 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const COMPLETION: Purpose = 'completion'

/** For the receiving side: tell how the run of a delivery ended. Sign anew for every try, since signatures expire. */
export async function signCallback(
  delivery: Pick<Delivery, 'namespace' | 'schedule' | 'token'>,
  completion: Completion,
  options: { readonly secret: Secret; readonly now?: number | undefined },
): Promise<SignedCallback> {
  const { outcome, result, error, retryable } = completion
  const body = JSON.stringify({ outcome, result, error, retryable })
  const headers = {
    'content-type': 'application/json',
    [PURPOSE_HEADER]: COMPLETION,
    'cronce-namespace': encodeHeader(delivery.namespace),
    'cronce-schedule': encodeHeader(delivery.schedule),
    'cronce-token': delivery.token,
  }
  return { method: 'POST', headers: await sign({ headers, body }, options), body }
}

/** For our side of it. The run that is named in the path must be the one that was signed for, of this namespace if that is known. */
export async function verifyCallback(
  request: SignedRequest,
  run: { readonly namespace?: string | undefined; readonly schedule: string; readonly token: string },
  options: VerifyOptions,
): Promise<Completion> {
  const { headers, body } = await verifySignature(request, options)
  demandPurpose(headers, COMPLETION)
  const schedule = decodeHeader(headers.get('cronce-schedule') ?? '')
  const namespace = decodeHeader(headers.get('cronce-namespace') ?? '')
  if (schedule !== run.schedule || headers.get('cronce-token') !== run.token) {
    throw signatureInvalid('It was made for another run.')
  }
  if (namespace !== (run.namespace ?? namespace)) throw signatureInvalid('It was made for a run of another namespace.')
  return readCompletion(new TextDecoder().decode(body))
}

function readCompletion(text: string): Completion {
  const { outcome, result = null, error, retryable, ...others } = readObject(text)
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw invalid(`There is no field ${JSON.stringify(unknown.slice(0, 60))}.`)
  if (outcome !== 'succeeded' && outcome !== 'failed') throw invalid('The outcome must be succeeded or failed.')
  if (error !== undefined && typeof error !== 'string') throw invalid('The error must be a text.')
  if (retryable !== undefined && typeof retryable !== 'boolean')
    throw invalid('The field retryable must be true or false.')
  if (outcome === 'succeeded' && (error !== undefined || retryable !== undefined)) {
    throw invalid('What has succeeded has no error, and is not to be run again.')
  }
  return { outcome, result, error, retryable }
}

function readObject(text: string): Readonly<Record<string, unknown>> {
  let read: unknown
  try {
    read = JSON.parse(text)
  } catch {
    throw invalid('The body is not JSON.')
  }
  if (typeof read !== 'object' || read === null || Array.isArray(read)) throw invalid('The body is not an object.')
  return read as Readonly<Record<string, unknown>>
}

function invalid(what: string): CronceError {
  return new CronceError('COMPLETION_INVALID', `This does not say how a run ended. ${what}`, {
    hint: "Send { outcome: 'succeeded', result } or { outcome: 'failed', error }, as signCallback does.",
  })
}
