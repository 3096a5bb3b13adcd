import type { Args } from './args.ts'
import { formatCount } from './format.ts'
import { UsageError } from './usage-error.ts'

/** The one operand of a command, such as the name of a schedule. */
export function oneOperand(args: Args, command: string, what: string): string {
  const [operand] = atMost(args, 1, command)
  if (operand === undefined || operand === '') {
    throw new UsageError(
      `Which ${what}?`,
      `Write cronce ${command} ${what.toUpperCase()}; see cronce ${command} --help.`,
    )
  }
  return operand
}

/** The operands of a command that takes up to `most`. */
export function atMost(args: Args, most: number, command: string): readonly string[] {
  const { positionals } = args
  if (positionals.length <= most) return positionals
  throw new UsageError(
    `cronce ${command} takes ${most === 0 ? 'no operands' : `at most ${most}`}, got "${positionals[most]}" as well.`,
    `Put names with blanks in quotes; see cronce ${command} --help.`,
  )
}

/** A flag that takes a whole number. */
export function wholeNumber<T>(
  args: Args,
  flag: string,
  range: { min: number; max: number; otherwise: T },
): number | T {
  const text = args.text(flag)
  if (text === undefined) return range.otherwise
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (value >= range.min && value <= range.max) return value
  throw new UsageError(
    `--${flag} cannot be "${text}".`,
    `Use a whole number from ${range.min} to ${formatCount(range.max)}.`,
  )
}
