import type { ErrorCode } from './error-codes.ts'

export type { ErrorCode }

/**
 * The errors we throw on purpose, but for plain RangeErrors about numbers. Code branches on `code`; people read the rest.
 *
 * @example
 * try {
 *   await app.schedules.create('report:ada', { job: 'report', cron: '0 8 * * MON' })
 * } catch (error) {
 *   if (!(error instanceof CronceError) || error.code !== 'SCHEDULE_EXISTS') throw error
 * }
 */
export class CronceError extends Error {
  override readonly name: string = 'CronceError'
  /** What happened, for programs. */
  readonly code: ErrorCode
  /** One imperative: what to do about it. */
  readonly hint: string | undefined

  constructor(code: ErrorCode, message: string, details: { hint?: string | undefined; cause?: unknown } = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined)
    this.code = code
    this.hint = details.hint
  }
}
