import { CronceError } from '../../errors.ts'

/** An error that says of itself that nothing was written: the caller need not find out by reading. */
export function notApplied(code: string, message: string, details: { readonly hint: string }): CronceError {
  return Object.assign(new CronceError(code, message, details), { notApplied: true })
}
