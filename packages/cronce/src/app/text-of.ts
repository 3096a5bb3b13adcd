import { describeError } from '../engine/describe-error.ts'

/** Whatever was thrown: it may be nothing that can be made a text of. */
export function textOf(error: unknown): string {
  const { name, message } = describeError(error)
  return `${name}: ${message}`
}
