import { describeError } from '../../engine/describe-error.ts'
import type { ErrorData } from './messages.ts'

/** Anything thrown, as plain data, with what the engine asks of an error. */
export function toErrorData(error: unknown): ErrorData {
  const { name, message, stack } = describeError(error)
  return { name, message, stack: stack ?? undefined, ...detailsOf(error) }
}

export function fromErrorData({ name, message, stack, ...details }: ErrorData): Error {
  const error = new Error(message)
  const given = Object.entries(details).filter(([, value]) => value !== undefined)
  Object.assign(error, Object.fromEntries(given))
  // Not by assignment: a name that is listed beside the message would be printed twice.
  Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true })
  if (stack !== undefined) Object.defineProperty(error, 'stack', { value: stack, configurable: true, writable: true })
  return error
}

function detailsOf(error: unknown): Omit<ErrorData, 'name' | 'message' | 'stack'> {
  try {
    const { code, hint, retryable, retryAfterMs } = Object(error) as Record<string, unknown>
    return {
      code: typeof code === 'string' || typeof code === 'number' ? code : undefined,
      hint: typeof hint === 'string' ? hint : undefined,
      retryable: typeof retryable === 'boolean' ? retryable : undefined,
      retryAfterMs: typeof retryAfterMs === 'number' ? retryAfterMs : undefined,
    }
  } catch {
    // Its properties throw: then that they are there is all that is known of them.
    return {}
  }
}
