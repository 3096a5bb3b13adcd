import type { ErrorRecord } from '../model/record.ts'

const MESSAGE_LIMIT = 4_096
const STACK_LIMIT = 16_384
const CAUSE_LIMIT = 5

/** Anything thrown, as plain data: it may be no Error at all, or one whose properties throw. */
export function describeError(error: unknown): ErrorRecord {
  try {
    if (!(error instanceof Error)) {
      return { name: 'Error', message: cutText(printed(error), MESSAGE_LIMIT), code: null, stack: null }
    }
    const { code } = error as { code?: unknown }
    return {
      name: cutText(String(error.name), 200),
      message: cutText(String(error.message), MESSAGE_LIMIT),
      code: typeof code === 'string' || typeof code === 'number' ? cutText(String(code), 200) : null,
      stack: cutText(stackOf(error), STACK_LIMIT),
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

export function cutText(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 6)} [cut]`
}
