import { ERROR_CODES, type ErrorCode } from 'cronce/cron'

/** The HTTP status of an error's code. `null`: not a code that is meant for the client of the API. */
export function statusOf(code: string): number | null {
  if (Object.hasOwn(ERROR_CODES, code)) return ERROR_CODES[code as ErrorCode].status
  // A code of a newer version of the library, or of a store of the application's own.
  return code.startsWith('STORE_') ? 503 : null
}
