import { CronError, cron } from 'cronce/cron'
import { cronOfWords } from 'cronce/internal'
import { parseDurationText } from './duration-text.ts'

/** The longest text that may be a time in words. */
const LONGEST = 64

/** With the expression that was meant by words such as `daily at 3am` as the hint, unless the arguments name a dialect. */
export function inFields(error: CronError, argv: readonly string[]): CronError {
  const { code, message, expression, field, position, length, expected } = error
  if (expression.length > LONGEST || argv.some((arg) => arg.startsWith('--dialect'))) return error
  const hint = intervalHint(expression, argv) ?? expressionHint(expression)
  if (hint === null) return error
  return new CronError(code, message, { expression, field, position, length, expected, hint })
}

/** `--cron 5m`, where the command takes intervals, too. */
function intervalHint(expression: string, argv: readonly string[]): string | null {
  if (argv[0] !== 'schedule' || parseDurationText(expression) === null) return null
  return `Write --every ${expression}.`
}

function expressionHint(expression: string): string | null {
  const meant = cronOfWords(expression)
  return meant === null || !isValid(meant) ? null : `Write "${meant}".`
}

function isValid(expression: string): boolean {
  try {
    cron(expression)
    return true
  } catch {
    return false
  }
}
