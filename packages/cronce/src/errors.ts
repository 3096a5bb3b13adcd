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
    const printed = printedStack(this)
    if (printed !== null) this.stack = printed
  }
}

/** A line of a stack trace that is in this library. */
export const OWN_FRAME = /^ {4}at .*[\\/]cronce[\\/](?:dist|src)[\\/]/

/** More than the frames between a caller and the check that refuses its options. */
const FRAMES = 50

/**
 * What Node.js prints: the code, the message and the hint, then the caller's own frames. The library's frames on top of them are cut:
 * the first line of a stack trace must be the line to change.
 */
function printedStack(error: CronceError): string | null {
  const { name, code, message, hint } = error
  const frames = framesOf(error)
  if (frames === null) return null
  const isTheirs = (frame: string): boolean =>
    !OWN_FRAME.test(frame) && !/\bnode:|\(<anonymous>\)$|\(index \d+\)$/.test(frame)
  const theirs = frames.findIndex(isTheirs)
  const fix = hint === undefined ? '' : `${message.includes('\n') ? '\n' : ' '}${hint}`
  const from = Math.max(0, theirs)
  return [`${name} [${code}]: ${message}${fix}`, ...frames.slice(from, from + Error.stackTraceLimit)].join('\n')
}

/** `null`: this engine writes stack traces in another way, or the application does. */
function framesOf(error: CronceError): readonly string[] | null {
  if (typeof Error.captureStackTrace !== 'function') return null
  const limit = Error.stackTraceLimit
  const holder: { stack?: unknown } = {}
  // Without effect where Error is frozen.
  Reflect.set(Error, 'stackTraceLimit', Math.max(limit, FRAMES))
  Error.captureStackTrace(holder, error.constructor)
  Reflect.set(Error, 'stackTraceLimit', limit)
  return typeof holder.stack === 'string' ? holder.stack.split('\n').slice(1) : null
}
