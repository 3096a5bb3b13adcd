import { CronceError } from '../errors.ts'

/** The fields of a cron expression. */
export type FieldName = 'second' | 'minute' | 'hour' | 'day of month' | 'month' | 'day of week' | 'year'

/** The codes of errors about expressions. */
export type CronErrorCode =
  | 'EXPRESSION_INVALID'
  | 'EXPRESSION_EMPTY'
  | 'EXPRESSION_TOO_LONG'
  | 'CHARACTER_UNEXPECTED'
  | 'FIELDS_MISCOUNTED'
  | 'VALUE_MISSING'
  | 'VALUE_OUT_OF_RANGE'
  | 'RANGE_BACKWARD'
  | 'STEP_OUT_OF_RANGE'
  | 'NAME_UNKNOWN'
  | 'SYNTAX_UNSUPPORTED'
  | 'SEED_MISSING'
  | 'MACRO_UNKNOWN'
  | 'DURATION_INVALID'
  | 'ZONE_UNKNOWN'
  | 'OPTION_INVALID'
  | 'OPTION_UNKNOWN'

export interface CronErrorDetails {
  readonly expression: string
  /** Where in the text the trouble starts. */
  readonly position: number
  readonly length: number
  readonly field?: FieldName | undefined
  readonly expected?: string | undefined
  readonly hint?: string | undefined
  readonly cause?: unknown
}

/** A trigger that makes no sense: what was wrong, where in the text, and what to write instead. */
export class CronError extends CronceError {
  override readonly name = 'CronError'
  declare readonly code: CronErrorCode
  readonly expression: string
  readonly field: FieldName | undefined
  readonly position: number
  readonly length: number
  readonly expected: string | undefined

  constructor(code: CronErrorCode, message: string, details: CronErrorDetails) {
    super(code, message, details)
    if (this.stack !== undefined) this.stack = this.stack.replace(/^CronceError/, 'CronError')
    this.expression = details.expression
    this.field = details.field
    this.position = details.position
    this.length = details.length
    this.expected = details.expected
  }
}
