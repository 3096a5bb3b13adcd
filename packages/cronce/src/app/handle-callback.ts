import type { Client } from '../client/client.ts'
import { CronceError } from '../errors.ts'
import type { Json } from '../model/json.ts'
import { verifyCallback } from '../signature/completion.ts'
import type { Secret } from '../signature/secrets.ts'
import { SIGNATURE_HEADER } from '../signature/signed-text.ts'
import { answerError, answerJson, methodRefused } from './handle-fire-answer.ts'
import { BODY_BYTES, listOf } from './handle-fire-auth.ts'
import type { Logger } from './logger.ts'

/** Options of `app.handleCallback()`. */
export interface HandleCallbackOptions {
  /** The run, as named by the path. */
  readonly schedule: string
  readonly token: string
  /**
   * What the target was signed with, or who says that of a schedule.
   * @default that of the job's own target, and where this process declares none, CRONCE_CALLBACK_SECRET
   */
  readonly secret?: Secret | SecretOfSchedule | undefined
}

export type SecretOfSchedule = (schedule: string) => Secret | undefined | Promise<Secret | undefined>

/** What the app itself adds to the options. */
export interface CallbackContext {
  readonly namespace?: string | undefined
  /** The secret of the target of a job that is declared here. */
  readonly secretOf?: ((job: string) => Secret | undefined) | undefined
  /** Gets the details that the response must not reveal. @default stderr */
  readonly logger?: Logger | undefined
}

/** An endpoint that answered 202 reports the outcome of its run. A repeated report gets the same answer. */
export async function handleCallback(
  client: Client,
  request: Request,
  options: HandleCallbackOptions,
  context: CallbackContext = {},
): Promise<Response> {
  const { namespace, logger } = context
  const { schedule, token } = options
  let isKnown = false
  try {
    if (request.method !== 'POST') throw methodRefused(request, 'POST')
    const secret = await secretFor(client, options, context)
    const completion = await verifyCallback(request, { namespace, schedule, token }, { secret, maxBytes: BODY_BYTES })
    isKnown = true
    const { outcome, result, error, retryable } = completion
    const run = await client.runs.complete(schedule, token, { outcome, result: result as Json, error, retryable })
    return answerJson(200, { run })
  } catch (error) {
    return answerError(error, { isKnown, logger })
  }
}

/** What the headers of a call-back prove: without a signature the request is refused, so its body is not read. */
export function callbackProof(headers: Headers): 'unproved' | 'none' {
  return headers.has(SIGNATURE_HEADER) ? 'unproved' : 'none'
}

/** The secret of each target, where it is known: the endpoint of one target must not complete the runs of another. */
async function secretFor(client: Client, options: HandleCallbackOptions, context: CallbackContext): Promise<Secret> {
  const { schedule, secret } = options
  const given = typeof secret === 'function' ? await secret(schedule) : secret
  const { CRONCE_CALLBACK_SECRET } = process.env
  const known = given ?? (await ownSecret(client, options, context)) ?? listOf(CRONCE_CALLBACK_SECRET)
  if (known === undefined) throw authMissing()
  return known
}

async function ownSecret(
  client: Client,
  { schedule, token }: HandleCallbackOptions,
  { secretOf }: CallbackContext,
): Promise<Secret | undefined> {
  if (secretOf === undefined) return undefined
  try {
    const { job } = await client.runs.get(schedule, token)
    return secretOf(job)
  } catch (error) {
    if (!(error instanceof CronceError) || !UNKNOWN.has(error.code)) throw error
    // Only a caller with the secret of the job of that name may learn that the run does not exist.
    return secretOf(schedule)
  }
}

const UNKNOWN: ReadonlySet<string> = new Set(['RUN_NOT_FOUND', 'SCHEDULE_NOT_FOUND', 'NAME_INVALID', 'OPTION_INVALID'])

function authMissing(): CronceError {
  return new CronceError(
    'CALLBACK_AUTH_MISSING',
    'Every call-back for this run is refused here: this process knows no secret for it.',
    {
      hint: 'Declare the HTTP target in this process, set CRONCE_CALLBACK_SECRET to its secret, or give handleCallback a secret.',
    },
  )
}
