import { decodeHeader, encodeHeader } from './headers.ts'
import { demandPurpose, PURPOSE_HEADER, type Purpose } from './purpose.ts'
import {
  type SignedRequest,
  signatureInvalid,
  type VerifiedRequest,
  type VerifyOptions,
  verifySignature,
} from './verify-signature.ts'

/** A run that an endpoint is asked to do. */
export interface Delivery {
  /** The same for all runs of the fire: `nightly@2027-01-01T03:00:00.000Z`. */
  readonly fireId: string
  /** Schedules of the same name in other namespaces are others. */
  readonly namespace: string
  readonly schedule: string
  readonly job: string
  /** The instant it stands for, in epoch milliseconds. */
  readonly dueAt: number
  /** 1 for the first run of the fire. */
  readonly attempt: number
  /** The fencing token, as a decimal text: as a BigInt it is higher than that of every earlier run of the schedule. */
  readonly token: string
  /** The same for all runs of the fire, and short enough for any gateway. */
  readonly idempotencyKey: string
  /** Where to say how it ended, after an answer of 202, and by when. `null`: the answer itself says it. */
  readonly callback: { readonly url: string; readonly byAt: number } | null
  /** As it came. */
  readonly body: string
}

const DELIVERY: Purpose = 'delivery'

export function deliveryHeaders(delivery: Omit<Delivery, 'body'>): Record<string, string> {
  const { callback } = delivery
  return {
    [PURPOSE_HEADER]: DELIVERY,
    'cronce-fire-id': encodeHeader(delivery.fireId),
    'cronce-namespace': encodeHeader(delivery.namespace),
    'cronce-schedule': encodeHeader(delivery.schedule),
    'cronce-job': encodeHeader(delivery.job),
    'cronce-due': new Date(delivery.dueAt).toISOString(),
    'cronce-attempt': String(delivery.attempt),
    'cronce-token': delivery.token,
    'idempotency-key': delivery.idempotencyKey,
    ...(callback === null
      ? {}
      : { 'cronce-callback': callback.url, 'cronce-callback-deadline': new Date(callback.byAt).toISOString() }),
  }
}

/** On the receiving side of an HTTP target: what is to be done, if it was signed with this secret. */
export async function verify(request: SignedRequest, options: VerifyOptions): Promise<Delivery> {
  const verified = await verifySignature(request, options)
  demandPurpose(verified.headers, DELIVERY)
  return readDelivery(verified)
}

function readDelivery({ headers, body }: VerifiedRequest): Delivery {
  const text = (name: string): string => {
    const value = headers.get(name)
    const decoded = value === undefined || value === '' ? null : decodeHeader(value)
    if (decoded === null)
      throw signatureInvalid(`It was signed with the secret, but is not a delivery: ${name} is missing.`)
    return decoded
  }
  const instant = (name: string): number => {
    const at = Date.parse(text(name))
    if (Number.isNaN(at)) throw signatureInvalid(`It was signed with the secret, but ${name} is not an instant.`)
    return at
  }
  return {
    fireId: text('cronce-fire-id'),
    namespace: text('cronce-namespace'),
    schedule: text('cronce-schedule'),
    job: text('cronce-job'),
    dueAt: instant('cronce-due'),
    attempt: Number(text('cronce-attempt')),
    token: text('cronce-token'),
    idempotencyKey: text('idempotency-key'),
    // Its parts are encoded already, and must stay so.
    callback: headers.has('cronce-callback')
      ? { url: headers.get('cronce-callback')!, byAt: instant('cronce-callback-deadline') }
      : null,
    body: new TextDecoder().decode(body),
  }
}
