/** The errors we throw on purpose, but for plain RangeErrors about numbers. Code branches on `code`; people read the rest. */
export class CronceError extends Error {
  override readonly name: string = 'CronceError'
  readonly code: string
  /** One imperative: what to do about it. */
  readonly hint: string | undefined

  constructor(code: string, message: string, details: { hint?: string | undefined; cause?: unknown } = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined)
    this.code = code
    this.hint = details.hint
  }
}
