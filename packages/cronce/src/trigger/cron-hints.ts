import { didYouMean } from '../did-you-mean.ts'
import { FIRST_YEAR, LAST_YEAR } from './calendar.ts'
import { COMMA, DASH, HASH, SLASH } from './cron-cursor.ts'
import type { Dialect } from './cron-dialect.ts'
import { DAY, FIELDS, type Field, HOUR, MINUTE, MONTH, SECOND, WEEKDAY } from './cron-fields.ts'

/** What a field accepts, in a few words. */
export function expectedIn(field: Field, dialect: Dialect): string {
  const isWeekday = field.index === WEEKDAY
  const min = isWeekday ? dialect.sunday : field.min
  const max = isWeekday ? dialect.weekdayMax : field.max
  const names = field.names.length > 0 ? ` or ${field.names[0]} to ${field.names.at(-1)}` : ''
  return `* or ${min} to ${max}${names}`
}

export function name(field: Field, written: string): string {
  if (field.names.length === 0) return `The ${field.name} field takes numbers only.`
  const short = field.names.find((candidate) => written.toUpperCase().startsWith(candidate))
  const meant = short ?? didYouMean(written, field.names)
  return meant === undefined ? `Use ${field.names.join(', ')}.` : `Did you mean ${meant}?`
}

interface BadStep {
  readonly field: Field
  readonly written: string
  readonly value: number
  /** Whether the dialect has `@every`. */
  readonly hasEvery: boolean
}

export function step({ field, written, value, hasEvery }: BadStep): string {
  if (value === 0) return 'The smallest step is 1.'
  const unit = { [SECOND]: ['minute', 's'], [MINUTE]: ['hour', 'm'], [HOUR]: ['day', 'h'] }[field.index]
  if (unit === undefined || value > 10_000)
    return `Steps count values of the ${field.name} field, of which there are ${field.size}.`
  const instead = hasEvery ? `: use @every ${written}${unit[1]}` : ''
  return `Steps start again every ${unit[0]}, so */${written} never repeats${instead}.`
}

export function openStep(field: Field, first: number): string {
  return `Write ${first}-${field.max}/n.`
}

export function hash(field: Field): string {
  return field.index > WEEKDAY ? 'Name the years.' : 'Use the default dialect for H.'
}

/** The field ended too early; `before` is the character it ended with. */
export function missing(before: number): string | undefined {
  if (before === COMMA) return 'Remove the comma, or add a value behind it.'
  if (before === SLASH) return 'Add the step, such as */5.'
  if (before === DASH) return 'Add the end of the range, such as 1-5.'
  if (before === HASH) return 'Add which one of the month: 1 to 5, or L.'
  return undefined
}

/** A character that does not belong; `written` is the whole field. */
export function character(char: string, written: string): string | undefined {
  const misplaced = MISPLACED[char.toUpperCase()]
  if (char === '*' && /^\d+\*/.test(written)) return `Did you mean */${Number.parseInt(written, 10)}?`
  if (misplaced !== undefined) return misplaced
  return char > '~' ? 'Only ASCII characters are part of the grammar.' : undefined
}

const MISPLACED: Readonly<Record<string, string>> = {
  '?': '? stands only in a day field; write *.',
  '~': 'For a value spread by name write H, which is the same on every instance.',
  '-': 'Values are plain numbers without a sign.',
  '+': 'Values are plain numbers without a sign; + stands only in front of the day of week.',
  '.': 'Values are whole numbers; for other intervals use @every.',
  '\n': 'One expression a line; separate fields by spaces.',
  '\r': 'One expression a line; separate fields by spaces.',
  W: 'W goes behind a day of the month, such as 15W, or behind L: LW.',
  L: 'L stands in day of month, or behind a weekday, such as 5L.',
  '#': '# goes behind one weekday, such as 5#2 for the second Friday.',
}

export function value(field: Field, written: number, dialect: Dialect): string | undefined {
  if (field.index === WEEKDAY && isYear(written) && dialect.layouts[7] !== undefined) {
    return 'Six fields begin with seconds. To name a year write 7 fields: second minute hour day month weekday year.'
  }
  if (field.index === HOUR && written === 24) return 'Midnight is hour 0.'
  const next = AFTER_59[field.index]
  if (written === 60 && next !== undefined) return `They go from 0 to 59; 0 begins the next ${next}.`
  if (written === 0 && (field.index === DAY || field.index === MONTH)) return `Counting begins at 1.`
  return field.index === WEEKDAY ? weekdayNumbers(dialect) : undefined
}

const AFTER_59: Readonly<Record<number, string>> = { [MINUTE]: 'hour', [SECOND]: 'minute' }

function isYear(written: number): boolean {
  return written >= FIRST_YEAR && written <= LAST_YEAR
}

function weekdayNumbers({ sunday }: Dialect): string {
  return sunday === 1 ? 'Sunday is 1, Saturday is 7.' : 'Sunday is 0, Saturday is 6.'
}

export function backward(field: Field, first: number, last: number, dialect: Dialect): string {
  const shown = (number: number): number => (field.index === WEEKDAY ? number + dialect.sunday : number)
  const from = first > field.max ? field.min : first
  if (from <= last) return `Write ${shown(from)}-${shown(last)}.`
  const range = (a: number, b: number): string => (a === b ? `${shown(a)}` : `${shown(a)}-${shown(b)}`)
  return `Write ${range(from, field.max)},${range(field.min, last)}, or ${WRAP}.`
}

/** Where `wrap` stands: not beside `cron`. */
export const WRAP = "set the option wrap: cron: { expression: '…', wrap: true }"

export function count(found: number, dialect: Dialect): string {
  if (dialect.name === 'eventbridge') return 'EventBridge writes minute hour day month weekday year.'
  if (dialect.name === 'quartz') return 'Quartz writes second minute hour day month weekday [year].'
  if (found > 5 && dialect.layouts[6] === undefined) {
    return `The ${dialect.name} dialect has no seconds and no years: minute hour day month weekday.`
  }
  return found > 7
    ? 'Write at most second minute hour day month weekday year, separated by spaces.'
    : 'Write minute hour day month weekday; put seconds in front for 6 fields, and a year behind for 7.'
}

/** A line of a crontab: five fields, and then a program or a user's name. */
export function pastedCommand(text: string): string | undefined {
  const [, fields, word] =
    /^\s*((?:[\d*/,?#A-Z-]{1,30}[ \t]+){4}[\d*/,?#A-Z-]{1,30})[ \t]+(\S+)/i.exec(clip(text)) ?? []
  if (word === undefined || WEEKDAY_NAMES.some((weekday) => word.toUpperCase().startsWith(weekday))) return undefined
  const isCommand = /^[./~]*[a-z_][\w.-]*\/|^[./~]+[a-z_]|^[a-z_][\w.-]{3,}/i.test(word)
  return isCommand ? `A command does not belong in the expression, which is ${quote(fields!)}.` : undefined
}

const WEEKDAY_NAMES = FIELDS[WEEKDAY]!.names

/** The longest piece of the user's text that a message repeats. */
const CLIP = 60

export function clip(text: string): string {
  return text.length > CLIP ? `${text.slice(0, CLIP)}…` : text
}

export function quote(text: string): string {
  return JSON.stringify(clip(text))
}

/** An error about the whole of a text. */
export function pointAt(text: string): { expression: string; position: number; length: number } {
  return { expression: text, position: 0, length: Math.max(1, text.length) }
}
