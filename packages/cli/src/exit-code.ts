import { ERROR_CODES, type ErrorCode } from 'cronce/cron'

/** What scripts branch on. `exec` ends with the code of its command instead. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  /** The command was valid and was refused: a precondition does not hold, or it was not confirmed. */
  refused: 4,
  unreachable: 5,
  /** `run --wait`: the run failed. */
  runFailed: 20,
  interrupted: 130,
} as const

/** One table for all commands, by the code of the error. The table of codes is the library's, and the HTTP API's too. */
export function exitCodeOf({ code }: { readonly code: string }): number {
  return Object.hasOwn(ERROR_CODES, code) ? ERROR_CODES[code as ErrorCode].exit : EXIT.failed
}
