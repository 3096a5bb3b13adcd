import { type CronceError, CronError, cron } from 'cronce/cron'

/** The longest text that may be a time in words. */
const LONGEST = 64

/** With the expression that was meant by words such as `daily at 3am` as the hint, unless the arguments name a dialect. */
export async function inFields<Any extends CronceError>(error: Any, argv: readonly string[]): Promise<Any | CronError> {
  if (!(error instanceof CronError) || error.expression.length > LONGEST) return error
  if (argv.some((arg) => arg.startsWith('--dialect'))) return error
  const { code, message, expression, field, position, length, expected } = error
  const { cronOfWords } = await import('cronce/internal')
  const meant = cronOfWords(expression)
  if (meant === null || !isValid(meant)) return error
  return new CronError(code, message, { expression, field, position, length, expected, hint: `Write "${meant}".` })
}

function isValid(expression: string): boolean {
  try {
    cron(expression)
    return true
  } catch {
    return false
  }
}
