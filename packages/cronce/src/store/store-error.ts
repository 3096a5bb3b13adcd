import type { ErrorCode } from '../errors.ts'
import { CronceError } from '../errors.ts'

/** An error of a store. `notApplied`: nothing was written, for certain. Otherwise the outcome is unknown, and the caller finds out by reading. */
export class StoreError extends CronceError {
  readonly notApplied: boolean

  constructor(
    code: ErrorCode,
    message: string,
    details: { hint?: string | undefined; cause?: unknown; notApplied?: boolean } = {},
  ) {
    const { notApplied = true, ...rest } = details
    super(code, message, rest)
    this.notApplied = notApplied
  }
}

/** The error of a later write of a call whose earlier writes are committed: it must not say that nothing was written. */
export function partlyApplied(error: unknown): unknown {
  if (!(error instanceof StoreError)) return error
  const { code, message, hint } = error
  return new StoreError(code, message, { hint, cause: error, notApplied: false })
}
