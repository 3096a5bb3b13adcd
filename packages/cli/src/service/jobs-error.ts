import { CronceError } from 'cronce/cron'
import { sanitize } from '../terminal.ts'
import { trimStack } from './trim-stack.ts'

/** The user's own file threw: what it threw, and where in it, belongs above our own words. */
export interface JobsError extends CronceError {
  /** Several lines: the stack, or the place of a syntax error. */
  readonly detail: string
}

export function jobsError(
  what: string,
  error: unknown,
  { detail, hint }: { detail?: string | null; hint?: string } = {},
): JobsError {
  const failed = new CronceError('JOBS_FAILED', `${what}: ${firstLine(error)}`, {
    hint: hint ?? 'Put the file right, then start again.',
    cause: error,
  })
  return Object.assign(failed, { detail: detail ?? trimStack(error) })
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return text.split('\n')[0]!
}

/** What a user's file said, for a terminal; empty if the error is about something else. */
export function detailLines(error: unknown): string {
  if (!(error instanceof CronceError && 'detail' in error)) return ''
  return String(error.detail)
    .split('\n')
    .map((line) => `${sanitize(line)}\n`)
    .join('')
}
