import { cut, LIMITS } from '../model/limits.ts'
import type { ErrorRecord } from '../model/record.ts'

const CAUSE_LIMIT = 5

/** Anything thrown, as plain data: it may be no Error at all, or one whose properties throw. */
export function describeError(error: unknown): ErrorRecord {
  try {
    if (!(error instanceof Error)) {
      return { name: 'Error', message: cut(printed(error), LIMITS.errorMessage), code: null, stack: null }
    }
    const { code } = error as { code?: unknown }
    return {
      name: cut(String(error.name), LIMITS.name),
      message: cut(String(error.message), LIMITS.errorMessage),
      code: typeof code === 'string' || typeof code === 'number' ? cut(String(code), LIMITS.name) : null,
      stack: cut(stackOf(error), LIMITS.stack),
    }
  } catch {
    return { name: 'Error', message: 'An error that can not be read.', code: null, stack: null }
  }
}

function stackOf(error: Error): string {
  let text = String(error.stack ?? '')
  let cause = error.cause
  for (let depth = 0; depth < CAUSE_LIMIT && cause instanceof Error; depth++) {
    text += `\ncaused by ${String(cause.stack ?? cause.message)}`
    cause = cause.cause
  }
  return text
}

function printed(value: unknown): string {
  return typeof value === 'object' && value !== null ? (JSON.stringify(value) ?? 'object') : String(value)
}
