import { describeError } from '../engine/describe-error.ts'

/** The thrown value as text; it may be impossible to convert. */
export function textOf(error: unknown): string {
  const { name, message } = describeError(error)
  return `${name}: ${message}`
}
