import { CronError, cron } from 'cronce/cron'
import { cronOfWords } from 'cronce/internal'

/** The longest text that may be a time in words. */
const LONGEST = 64

/** With the expression that was meant by words such as `daily at 3am` as the hint, unless the arguments name a dialect. */
export function inFields(error: CronError, argv: readonly string[]): CronError {
  const { code, message, expression, field, position, length, expected } = error
  if (expression.length > LONGEST || argv.some((arg) => arg.startsWith('--dialect'))) return error
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
