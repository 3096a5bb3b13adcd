import type { Client } from '../client/client.ts'
import { CronceError } from '../errors.ts'
import type { Json } from '../model/json.ts'
import { verifyCallback } from '../signature/completion.ts'
import type { Secret } from '../signature/secrets.ts'
import { answerError, answerJson, methodRefused } from './handle-fire-answer.ts'
import { BODY_BYTES, listOf } from './handle-fire-auth.ts'

export interface HandleCallbackOptions {
  /** The run, as the path names it. */
  readonly schedule: string
  readonly token: string
  /** What the target was signed with; of several targets, all of them. @default CRONCE_CALLBACK_SECRET */
  readonly secret?: Secret | undefined
}

/** An endpoint that answered 202 says how its run ended. The same said again is answered alike. */
export async function handleCallback(
  client: Client,
  request: Request,
  { schedule, token, secret }: HandleCallbackOptions,
): Promise<Response> {
  try {
    if (request.method !== 'POST') throw methodRefused(request, 'POST')
    const { CRONCE_CALLBACK_SECRET } = process.env
    const known = secret ?? listOf(CRONCE_CALLBACK_SECRET)
    if (known === undefined) throw authMissing()
    const completion = await verifyCallback(request, { schedule, token }, { secret: known, maxBytes: BODY_BYTES })
    const { outcome, result, error, retryable } = completion
    const run = await client.runs.complete(schedule, token, { outcome, result: result as Json, error, retryable })
    return answerJson(200, { run })
  } catch (error) {
    return answerError(error)
  }
}

function authMissing(): CronceError {
  return new CronceError('CALLBACK_AUTH_MISSING', 'Nobody may complete runs here: no secret is set.', {
    hint: 'Set CRONCE_CALLBACK_SECRET to the secret of the HTTP target, or give handleCallback a secret.',
  })
}
