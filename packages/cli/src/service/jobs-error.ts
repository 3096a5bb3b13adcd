import { CronceError } from 'cronce'
import { sanitize } from '../terminal.ts'
import { trimStack } from './trim-stack.ts'

/** The user's own file threw: what it threw, and where in it, belongs above our own words. */
export class JobsError extends CronceError {
  override readonly name = 'JobsError'
  /** Several lines: the stack, or the place of a syntax error. */
  readonly detail: string

  constructor(what: string, error: unknown, { detail, hint }: { detail?: string | null; hint?: string } = {}) {
    super('JOBS_FAILED', `${what}: ${firstLine(error)}`, {
      hint: hint ?? 'Put the file right, then start again.',
      cause: error,
    })
    this.detail = detail ?? trimStack(error)
  }
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return text.split('\n')[0]!
}

/** The detail for a terminal. */
export function detailLines(error: unknown): string {
  if (!(error instanceof JobsError)) return ''
  return error.detail
    .split('\n')
    .map((line) => `${sanitize(line)}\n`)
    .join('')
}
