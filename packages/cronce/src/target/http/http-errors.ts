import type { ErrorCode } from '../../errors.ts'
import { CronceError } from '../../errors.ts'

/** An error of a run, and what the retry policy has to know about it. */
export interface Retrying {
  readonly retryable: boolean
  /** What the endpoint asked for. */
  readonly retryAfterMs?: number | undefined
}

export type HttpError = CronceError & Retrying

/** Only the host: paths and queries of webhooks contain secrets. */
export function describeRequest(request: { readonly method: string; readonly url: URL }): string {
  return `${request.method} to ${request.url.host}`
}

export function httpError(
  code: ErrorCode,
  message: string,
  { hint, cause, ...retrying }: Retrying & { readonly hint: string; readonly cause?: unknown },
): HttpError {
  const error = new CronceError(code, message, cause === undefined ? { hint } : { hint, cause })
  return Object.assign(error, retrying)
}

export function addressRefused(url: URL, addresses: readonly string[]): HttpError {
  const [first] = addresses
  const leads = first === undefined || url.hostname.includes(first) ? '' : `, which is ${first},`
  return httpError('TARGET_ADDRESS_REFUSED', `${url.host}${leads} is not a public address.`, {
    hint: `If this is meant, write allowPrivate: ['${url.host}'].`,
    retryable: false,
  })
}
