import { parkUntil } from '../../engine/run/parked.ts'
import { isDeeper, type Json } from '../../model/json.ts'
import { cut, LIMITS } from '../../model/limits.ts'
import { deliveryHeaders } from '../../signature/delivery.ts'
import { fireIdOf } from '../../signature/fire-id.ts'
import { pathPart } from '../../signature/path-part.ts'
import { sign } from '../../signature/sign.ts'
import { VERSION } from '../../version.ts'
import { counted } from '../../words.ts'
import type { TargetRun } from '../target-run.ts'
import { describeRequest, type HttpError, httpError } from './http-errors.ts'
import type { ResolvedHttp } from './http-options.ts'
import { redirected } from './redirect.ts'
import { retryAfterMs } from './retry-after.ts'
import { type Answer, type Outgoing, send } from './send.ts'

/** What an endpoint answered, as the result of the run. */
export interface HttpResult {
  readonly status: number
  readonly body: Json
}

/** One run: a request, its redirects and the answer. */
export async function callEndpoint(target: ResolvedHttp, run: TargetRun): Promise<unknown> {
  const { answer, answered } = await sendOn(target, await outgoingOf(target, run), run)
  // An endpoint that was not told where to call back can only mean that the work is done.
  const isTold = 'cronce-callback' in answered.headers
  if (answer.status === 202 && target.callback !== null && isTold) return parkUntil(target.callback.withinMs)
  return resultOf(answer)
}

/** Which run it is goes into the headers, whatever the body is; the signature covers both. */
async function outgoingOf(target: ResolvedHttp, run: TargetRun): Promise<Outgoing> {
  const { schedule, job, dueAt, input } = run.fire
  const { callback } = target
  const delivery = {
    namespace: run.namespace,
    schedule,
    job,
    dueAt,
    fireId: fireIdOf(run.fire),
    attempt: run.attempt,
    token: String(run.token),
    idempotencyKey: run.idempotencyKey(),
  }
  const body = bodyOf(target, { ...delivery, input })
  const headers = {
    ...(body === null ? {} : { 'content-type': body.type, 'content-length': String(body.bytes.length) }),
    accept: '*/*',
    ...target.headers,
    'user-agent': `cronce/${VERSION}`,
    ...deliveryHeaders({
      ...delivery,
      callback:
        callback === null
          ? null
          : {
              url: `${callback.url}/callbacks/${pathPart(schedule)}/${delivery.token}`,
              byAt: Date.now() + callback.withinMs,
            },
    }),
  }
  return {
    url: target.url,
    method: target.method,
    headers: target.secrets === null ? headers : await sign({ headers, body: body?.bytes }, { secret: target.secrets }),
    body: body?.bytes ?? null,
  }
}

function bodyOf(target: ResolvedHttp, envelope: unknown): { readonly type: string; readonly bytes: Buffer } | null {
  const { body, method } = target
  if (body === null || method === 'GET' || method === 'HEAD') return null
  if (typeof body === 'string') return { type: 'text/plain; charset=utf-8', bytes: Buffer.from(body) }
  return { type: 'application/json', bytes: Buffer.from(JSON.stringify(body === undefined ? envelope : body)) }
}

interface Answered {
  readonly answer: Answer
  /** The request that it is to. */
  readonly answered: Outgoing
}

/** The answer that counts, behind all redirects that may be followed. */
async function sendOn(target: ResolvedHttp, first: Outgoing, run: TargetRun): Promise<Answered> {
  const { exceptions, maxResponse, redirects } = target
  let outgoing = first
  for (let followed = 0; ; followed++) {
    const answer = await send(outgoing, { exceptions, maxResponse, signal: run.signal })
    if (answer.status >= 200 && answer.status < 300) return { answer, answered: outgoing }
    const next = redirects === 0 ? null : redirected(outgoing, answer)
    if (next === null) {
      if (answer.text !== '') run.log.warn(cut(answer.text, LIMITS.logLine))
      throw statusError(outgoing, answer)
    }
    if (followed === redirects) throw tooManyRedirects(outgoing, redirects)
    outgoing = next
  }
}

/** Those of 4xx that say "not now" rather than "not so". */
const NOT_NOW: ReadonlySet<number> = new Set([408, 425, 429])

function statusError(outgoing: Outgoing, { status, headers }: Answer): HttpError {
  const retryable = NOT_NOW.has(status) || status >= 500
  return httpError('HTTP_STATUS', `${describeRequest(outgoing)} answered ${status}.`, {
    hint: hintFor(status, retryable),
    retryable,
    retryAfterMs: retryable ? retryAfterMs(headers['retry-after'], Date.now()) : undefined,
  })
}

function hintFor(status: number, retryable: boolean): string {
  if (status >= 300 && status < 400) return 'Write the address that it leads to, or allow it by http: { redirects: 1 }.'
  if (retryable) return "Look at the log of the endpoint, and at the run's log for what it answered."
  return 'Change the request or the endpoint: the same request would be refused again.'
}

function tooManyRedirects(outgoing: Outgoing, redirects: number): HttpError {
  return httpError(
    'HTTP_REDIRECT_REFUSED',
    `${describeRequest(outgoing)} was redirected more than ${counted(redirects, 'time')}.`,
    {
      hint: 'Write the address that it leads to as the url of the target.',
      retryable: false,
    },
  )
}

function resultOf({ status, headers, text, isCut }: Answer): HttpResult {
  const whole = { status, body: isCut ? cut(`${text} `, text.length) : readBody(headers['content-type'], text) }
  if (fits(whole)) return whole
  // Cut here, so that the status stays.
  for (let max = LIMITS.result / 2; ; max /= 2) {
    const part = { status, body: cut(text, max) }
    if (max < 2 || fits(part)) return part
  }
}

function fits(result: HttpResult): boolean {
  return Buffer.byteLength(JSON.stringify(result)) <= LIMITS.result
}

function readBody(type: string | undefined, text: string): Json {
  if (text === '') return null
  if (!/^application\/([\w.+-]+\+)?json\b/i.test(type ?? '')) return text
  // Work that was done has not failed because of how it was told. The result around it is one level, too.
  if (isDeeper(text, LIMITS.depth - 1)) return text
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}
