import { FIRST_YEAR, LAST_YEAR, YEAR_COUNT } from './calendar.ts'
import type { FieldName } from './cron-error.ts'

export interface Field {
  readonly name: FieldName
  readonly index: number
  readonly min: number
  readonly max: number
  /** How many values there are, and so the largest step. */
  readonly size: number
  /** Three-letter names in order of value, from `min` on. */
  readonly names: readonly string[]
}

export const SECOND = 0
export const MINUTE = 1
export const HOUR = 2
export const DAY = 3
export const MONTH = 4
export const WEEKDAY = 5
export const YEAR = 6

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

export const FIELDS: readonly Field[] = [
  { name: 'second', index: SECOND, min: 0, max: 59, size: 60, names: [] },
  { name: 'minute', index: MINUTE, min: 0, max: 59, size: 60, names: [] },
  { name: 'hour', index: HOUR, min: 0, max: 23, size: 24, names: [] },
  { name: 'day of month', index: DAY, min: 1, max: 31, size: 31, names: [] },
  { name: 'month', index: MONTH, min: 1, max: 12, size: 12, names: MONTHS },
  // 7 is Sunday too where a dialect says so, but `*` and open steps end at Saturday.
  { name: 'day of week', index: WEEKDAY, min: 0, max: 6, size: 7, names: WEEKDAYS },
  { name: 'year', index: YEAR, min: FIRST_YEAR, max: LAST_YEAR, size: YEAR_COUNT, names: [] },
]

/** What a macro is short for; `@reboot` and `@every` are handled apart. */
export const MACROS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}
