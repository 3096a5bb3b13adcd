import { CronceError } from 'cronce/cron'
import { didYouMean } from 'cronce/internal'

/** The command line itself makes no sense: exit code 2, message and hint, no stack. */
export class UsageError extends CronceError {
  override readonly name = 'UsageError'

  constructor(message: string, hint?: string) {
    super('USAGE', message, { hint })
  }
}

/** ` Did you mean explain?` for a slip of the fingers or an abbreviation, or nothing. */
export function suggestion(typed: string, candidates: readonly string[]): string {
  const meant = didYouMean(typed, candidates) ?? candidates.find((name) => typed !== '' && name.startsWith(typed))
  return meant === undefined ? '' : ` Did you mean ${meant}?`
}
