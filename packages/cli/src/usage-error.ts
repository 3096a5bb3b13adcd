import { CronceError } from 'cronce/cron'

/** The command line itself makes no sense: exit code 2, message and hint, no stack. */
export class UsageError extends CronceError {
  override readonly name = 'UsageError'

  constructor(message: string, hint?: string) {
    super('USAGE', message, { hint })
  }
}
