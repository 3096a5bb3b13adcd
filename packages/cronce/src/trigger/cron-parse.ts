import { YEAR_COUNT } from './calendar.ts'
import { complain, miscounted, refused, unexpected } from './cron-complaints.ts'
import { COMMA, type CronSource, charHere, cursor, isBlank, PLUS, QUESTION, STAR } from './cron-cursor.ts'
import { DAY, FIELDS, HOUR, MINUTE, MONTH, SECOND, WEEKDAY, YEAR } from './cron-fields.ts'
import { readItem } from './cron-items.ts'
import { type CronSet, DAYS_AND, DAYS_OPEN, WEEKDAYS_AT, WEEKDAYS_OPEN } from './cron-set.ts'
import type { SpecialDay } from './trigger.ts'

export interface ParsedCron extends CronSet {
  /** Written with a `*`, a range or a step of at least two values in the second, minute or hour field. */
  readonly isInterval: boolean
}

/** One more than there can be, so that one too many is noticed. */
const FIELD_LIMIT = 8
const starts = new Int32Array(FIELD_LIMIT)
const ends = new Int32Array(FIELD_LIMIT)

/** Text to set, in one pass over the characters. Throws a CronError that points at the first thing it can't accept. */
export function parseCron(source: CronSource): ParsedCron {
  cursor.source = source
  cursor.text = source.text
  const count = splitFields(source)
  // The slot in the text of the field with index i is i - first.
  const first = firstField(source, count)
  if (source.dialect.question === 'required') demandQuestion(DAY - first, WEEKDAY - first)

  let isInterval = false
  let secondsLow = 1
  let secondsHigh = 0
  if (first === SECOND) {
    isInterval = readField(SECOND, 0)
    secondsLow = cursor.low
    secondsHigh = cursor.high
  }
  isInterval = readField(MINUTE, MINUTE - first) || isInterval
  const minutesLow = cursor.low
  const minutesHigh = cursor.high
  isInterval = readField(HOUR, HOUR - first) || isInterval
  const hours = cursor.low

  readField(DAY, DAY - first)
  const days = cursor.low | ((cursor.high & 1) << 30)
  const daySpecials = cursor.specials
  let rules = cursor.isOpen ? DAYS_OPEN : 0
  readField(MONTH, MONTH - first)
  rules |= cursor.low

  const hasPlus = source.text.charCodeAt(starts[WEEKDAY - first]!) === PLUS
  if (hasPlus) skipPlus(WEEKDAY - first)
  readField(WEEKDAY, WEEKDAY - first)
  const weekdaySpecials = cursor.specials
  rules |= (cursor.low << WEEKDAYS_AT) | (cursor.isOpen ? WEEKDAYS_OPEN : 0)
  if (hasPlus || combinesByAnd(source, DAY - first, WEEKDAY - first)) rules |= DAYS_AND

  const years = count + first === 7 ? readYears(YEAR - first) : null
  const rare = rareOf(daySpecials, weekdaySpecials, years)
  return { secondsLow, secondsHigh, minutesLow, minutesHigh, hours, days, rules, rare, isInterval }
}

/** The index of the first field of an expression that has `count` fields. */
function firstField({ dialect, start }: CronSource, count: number): number {
  const first = dialect.layouts[count]
  if (first === undefined) throw miscounted(count, count > 0 ? starts[0]! : start)
  return first
}

/** Find where fields begin and end; returns how many there are, up to the limit. */
function splitFields({ text, start, end }: CronSource): number {
  let count = 0
  let at = start
  while (count < FIELD_LIMIT) {
    while (at < end && isBlank(text.charCodeAt(at))) at++
    if (at >= end) break
    starts[count] = at
    while (at < end && !isBlank(text.charCodeAt(at))) at++
    ends[count++] = at
  }
  return count
}

/** Read one field into the cursor. True if it is repeating: ranged, with two values or more. */
function readField(index: number, slot: number): boolean {
  cursor.field = FIELDS[index]!
  cursor.pos = starts[slot]!
  cursor.stop = ends[slot]!
  cursor.low = 0
  cursor.high = 0
  cursor.specials = null
  cursor.isRanged = false
  cursor.isOpen = false

  readItem()
  while (cursor.pos < cursor.stop) {
    if (charHere() !== COMMA) throw unexpected()
    cursor.pos++
    readItem()
    cursor.isOpen = false
  }
  const { low, high } = cursor
  return cursor.isRanged && ((low & (low - 1)) !== 0 || (high & (high - 1)) !== 0 || (low !== 0 && high !== 0))
}

type Specials = Map<string, SpecialDay> | null

/** What most expressions do not have. */
function rareOf(days: Specials, weekdays: Specials, years: string | null): CronSet['rare'] {
  if (years === null && days === null && weekdays === null) return null
  return { days: listOf(days), weekdays: listOf(weekdays), years, daysIn: null }
}

function listOf(specials: Specials): readonly SpecialDay[] {
  return Object.freeze([...(specials?.values() ?? [])])
}

/** The years named, or `null` if that is all of them. */
function readYears(slot: number): string | null {
  const named = new Uint8Array(YEAR_COUNT)
  cursor.years = named
  readField(YEAR, slot)
  return named.includes(0) ? named.join('') : null
}

function skipPlus(slot: number): void {
  cursor.field = FIELDS[WEEKDAY]!
  if (!cursor.source.dialect.plus) throw refused('+', starts[slot]!)
  starts[slot]!++
}

/** Vixie's rule: a day field that begins with a star, even with a step behind it, makes the two a conjunction. */
function combinesByAnd({ text, days }: CronSource, daySlot: number, weekdaySlot: number): boolean {
  if (days !== 'vixie') return days === 'and'
  return text.charCodeAt(starts[daySlot]!) === STAR || text.charCodeAt(starts[weekdaySlot]!) === STAR
}

/** Quartz and EventBridge: one of the day fields must be `?`, the other must not. */
function demandQuestion(daySlot: number, weekdaySlot: number): void {
  if (isQuestion(daySlot) !== isQuestion(weekdaySlot)) return
  cursor.field = FIELDS[DAY]!
  throw complain('SYNTAX_UNSUPPORTED', starts[daySlot]!, ends[daySlot]! - starts[daySlot]!, {
    message: `The ${cursor.source.dialect.name} dialect wants ? in exactly one of the two day fields`,
    expected: '? in day of month or in day of week',
    hint: 'Put ? into the day field that does not matter.',
  })
}

function isQuestion(slot: number): boolean {
  return ends[slot]! - starts[slot]! === 1 && cursor.text.charCodeAt(starts[slot]!) === QUESTION
}
