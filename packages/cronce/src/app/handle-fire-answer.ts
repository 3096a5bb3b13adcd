import { CronceError } from '../errors.ts'
import { type Logger, stderrLogger } from './logger.ts'

/** The HTTP status of each error code. External schedulers retry on 425, 429 and 5xx only. */
const STATUS: Readonly<Record<string, number>> = {
  FIRE_AUTH_MISSING: 401,
  FIRE_AUTH_INVALID: 401,
  CALLBACK_AUTH_MISSING: 401,
  SIGNATURE_MISSING: 401,
  SIGNATURE_INVALID: 401,
  SIGNATURE_EXPIRED: 401,
  SCHEDULE_NOT_FOUND: 404,
  FIRE_NOT_FOUND: 404,
  RUN_NOT_FOUND: 404,
  METHOD_REFUSED: 405,
  DUE_UNKNOWN: 409,
  INSTANT_UNKNOWN: 409,
  FIRE_TOO_OLD: 409,
  SCHEDULE_RETIRED: 409,
  RUN_NOT_OPEN: 409,
  BODY_TOO_LARGE: 413,
  INPUT_TOO_LARGE: 413,
  BODY_TYPE_REFUSED: 415,
  FIRE_EARLY: 425,
  RUN_NOT_PARKED: 425,
  QUEUE_FULL: 429,
  CONTENTION: 503,
  // The app is starting, stopping, or running what is due.
  ALREADY_STARTED: 503,
  // The operator must fix the configuration. External schedulers retry on 503, so no fire is lost meanwhile.
  SECRET_INVALID: 503,
  BODY_NOT_RAW: 503,
  BODY_INVALID: 400,
  COMPLETION_INVALID: 400,
  FIRE_UNNAMED: 400,
  INPUT_INVALID: 400,
  NAME_INVALID: 400,
  OPTION_CONFLICT: 400,
  OPTION_INVALID: 400,
  OPTION_UNKNOWN: 400,
}

/** Seconds until the caller should try again. */
const RETRY_AFTER: Readonly<Record<number, string>> = { 425: '5', 429: '30', 503: '5' }

export function answerJson(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
  })
}

export interface Asker {
  /** The caller sent a valid token or signature. Other callers get no details of a problem. */
  readonly isKnown: boolean
  readonly logger: Logger | undefined
}

/** Answers a `CronceError`; throws any other error to the caller. */
export function answerError(error: unknown, { isKnown, logger = stderrLogger }: Asker): Response {
  if (!(error instanceof CronceError)) throw error
  const { code, message, hint = null } = error
  const status = STATUS[code] ?? (code.startsWith('STORE_') ? 503 : 500)
  const after = RETRY_AFTER[status]
  const isOurs = status >= 500 && !isKnown
  if (isOurs) tellOnce(logger, `${message} ${hint ?? ''} (${code})`)
  return answerJson(
    status,
    { error: isOurs ? { code, ...UNTOLD } : { code, message, hint } },
    {
      ...(after === undefined ? {} : { 'retry-after': after }),
      ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    },
  )
}

const UNTOLD = {
  message: 'Requests cannot be accepted right now.',
  hint: 'Try again later; the log of this process says why.',
}

/** Messages that each logger already got: callers without a token can repeat a request as often as they like. */
const told = new WeakMap<Logger, Set<string>>()
const MOST_TOLD = 100

function tellOnce(logger: Logger, message: string): void {
  const before = told.get(logger) ?? new Set()
  told.set(logger, before)
  if (before.has(message) || before.size >= MOST_TOLD) return
  before.add(message)
  logger.error(message)
}

export function methodRefused(request: Request, allowed: string): CronceError {
  return new CronceError('METHOD_REFUSED', `The method ${request.method.slice(0, 20)} is not allowed here.`, {
    hint: `Use ${allowed}.`,
  })
}
