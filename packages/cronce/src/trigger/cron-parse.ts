import { FIRST_YEAR, YEAR_COUNT } from './calendar.ts'
import type { SpecialDay } from './cron-days.ts'
import type { Dialect } from './cron-dialect.ts'
import { CronError, type CronErrorCode } from './cron-error.ts'
import { DAY, FIELDS, type Field, HOUR, MINUTE, MONTH, SECOND, WEEKDAY, YEAR } from './cron-fields.ts'
import { hashOf } from './cron-hash.ts'
import * as hints from './cron-hints.ts'
import { type CronSet, DAYS_AND, DAYS_OPEN, WEEKDAYS_AT, WEEKDAYS_OPEN } from './cron-set.ts'

export interface CronSource {
  readonly text: string
  /** Where the fields begin and end in the text. */
  readonly start: number
  readonly end: number
  readonly dialect: Dialect
  readonly wrap: boolean
  readonly days: 'or' | 'and' | 'vixie'
  readonly seed: string | undefined
}

export interface ParsedCron extends CronSet {
  /** Written with a `*`, a range or a step of at least two values in the second, minute or hour field. */
  readonly isInterval: boolean
}

const TAB = 9
const SPACE = 32
const HASH = 35
const OPEN = 40
const CLOSE = 41
const STAR = 42
const PLUS = 43
const COMMA = 44
const DASH = 45
const SLASH = 47
const QUESTION = 63
const UPPER_H = 72
const UPPER_L = 76
const UPPER_W = 87
const LOWER = 32

// The cursor. Parsing is synchronous and never re-entered, so it lives in the module: one pass over the characters, no
// garbage on the way.
let source: CronSource
let text = ''
let pos = 0
let stop = 0
let field: Field = FIELDS[MINUTE]!

// What the field being read has named so far. A value's bit is its distance from the field's minimum.
let low = 0
let high = 0
let isRanged = false
let isOpen = false
const NO_SPECIALS: readonly SpecialDay[] = []
let specials: readonly SpecialDay[] = NO_SPECIALS
let years: Uint8Array | null = null

const fieldStarts = new Int32Array(8)
const fieldEnds = new Int32Array(8)

/** Text to set. Throws a CronError that points at the first thing it can't accept. */
export function parseCron(from: CronSource): ParsedCron {
  source = from
  text = from.text
  const count = splitFields()
  const first = from.dialect.layouts[count]
  if (first === undefined) throw miscounted(count)
  if (from.dialect.question === 'required') demandQuestion(first)

  let isInterval = false
  let secondsLow = 1
  let secondsHigh = 0
  if (first === SECOND) {
    isInterval = readField(SECOND, SECOND)
    secondsLow = low
    secondsHigh = high
  }
  isInterval = readField(MINUTE, MINUTE - first) || isInterval
  const minutesLow = low
  const minutesHigh = high
  isInterval = readField(HOUR, HOUR - first) || isInterval
  const hours = low

  readField(DAY, DAY - first)
  const days = low | ((high & 1) << 30)
  const dayField = pack(isOpen, text.charCodeAt(fieldStarts[DAY - first]!) === STAR)
  const daySpecials = specials

  readField(MONTH, MONTH - first)
  const months = low

  const at = fieldStarts[WEEKDAY - first]!
  const hasPlus = from.dialect.plus && text.charCodeAt(at) === PLUS
  if (hasPlus) fieldStarts[WEEKDAY - first]!++
  readField(WEEKDAY, WEEKDAY - first)
  const weekdays = low
  const weekdayField = pack(isOpen, text.charCodeAt(at) === STAR)
  const weekdaySpecials = specials

  years = null
  if (count === (first === SECOND ? 7 : 6)) readField(YEAR, YEAR - first)

  const rules =
    months |
    (weekdays << WEEKDAYS_AT) |
    (dayField & IS_OPEN ? DAYS_OPEN : 0) |
    (weekdayField & IS_OPEN ? WEEKDAYS_OPEN : 0) |
    (hasPlus || combinesByAnd(from.days, dayField | weekdayField) ? DAYS_AND : 0)
  const isRare = years !== null || daySpecials.length > 0 || weekdaySpecials.length > 0
  const rare = isRare ? { days: daySpecials, weekdays: weekdaySpecials, years } : null
  return { secondsLow, secondsHigh, minutesLow, minutesHigh, hours, days, rules, rare, isInterval }
}

const IS_OPEN = 1
const HAS_STAR = 2

function pack(open: boolean, star: boolean): number {
  return (open ? IS_OPEN : 0) | (star ? HAS_STAR : 0)
}

/** Vixie's rule: a field that begins with a star, even `*\/2`, makes the two day fields a conjunction. */
function combinesByAnd(days: CronSource['days'], either: number): boolean {
  return days === 'and' || (days === 'vixie' && (either & HAS_STAR) !== 0)
}

/** Find where fields begin and end; returns how many there are, at most 8 being looked at. */
function splitFields(): number {
  let count = 0
  let at = source.start
  for (;;) {
    while (at < source.end && isBlank(text.charCodeAt(at))) at++
    if (at >= source.end) return count
    if (count === 8) return count
    fieldStarts[count] = at
    while (at < source.end && !isBlank(text.charCodeAt(at))) at++
    fieldEnds[count++] = at
  }
}

function isBlank(char: number): boolean {
  return char === SPACE || char === TAB
}

/** Read one field into `low`, `high` and the flags. True if it is repeating: ranged, with two values or more. */
function readField(index: number, slot: number): boolean {
  field = FIELDS[index]!
  pos = fieldStarts[slot]!
  stop = fieldEnds[slot]!
  low = 0
  high = 0
  isRanged = false
  isOpen = false
  specials = NO_SPECIALS

  readItem()
  while (pos < stop) {
    if (text.charCodeAt(pos) !== COMMA) throw unexpected()
    pos++
    isOpen = false
    readItem()
    isOpen = false
  }
  return isRanged && ((low & (low - 1)) !== 0 || (high & (high - 1)) !== 0 || (low !== 0 && high !== 0))
}

function readItem(): void {
  const start = pos
  const char = charHere()
  if (char === STAR || (char === QUESTION && acceptsQuestion())) {
    pos++
    isRanged = true
    const step = readStep()
    isOpen = step === 1
    addRange(field.min, field.max, step)
    return
  }
  if (isLetter(char) && readLetters(char)) return

  const first = readValue()
  switch (charHere()) {
    case DASH: {
      pos++
      const last = readRangeEnd()
      isRanged = true
      if (first <= last) addRange(first, last, readStep())
      else addWrapped(first, last, start)
      return
    }
    case SLASH: {
      if (!source.dialect.stepFromValue) throw refused('a/n', pos, hints.openStep(field, first))
      isRanged = true
      // 7 is Sunday; a step from it goes through the week like one from 0.
      addRange(first > field.max ? field.min : first, field.max, readStep())
      return
    }
    case HASH:
    case UPPER_L:
    case UPPER_L + LOWER:
    case UPPER_W:
    case UPPER_W + LOWER:
      if (readSuffix(first, start)) return
  }
  addValue(first)
}

function charHere(): number {
  return pos < stop ? text.charCodeAt(pos) : -1
}

function isDigit(char: number): boolean {
  return char >= 48 && char <= 57
}

function isLetter(char: number): boolean {
  const upper = char & ~LOWER
  return upper >= 65 && upper <= 90
}

/** A number or a name, checked against the field; weekdays come back as 0 (or 7) for Sunday whatever the dialect. */
function readValue(): number {
  const start = pos
  const char = charHere()
  if (isLetter(char)) return readName()
  if (!isDigit(char)) throw unexpected()
  let value = 0
  while (isDigit(charHere())) {
    // Far out of any range, and stays an exact integer however long the digits go on.
    if (value < 100_000) value = value * 10 + (text.charCodeAt(pos) - 48)
    pos++
  }
  if (field.index === WEEKDAY) {
    const { sunday, weekdayMax } = source.dialect
    if (value < sunday || value > weekdayMax) throw outOfRange(start, sunday, weekdayMax)
    return value - sunday
  }
  if (value < field.min || value > field.max) throw outOfRange(start, field.min, field.max)
  return value
}

function readRangeEnd(): number {
  const isName = isLetter(charHere())
  const value = readValue()
  // FRI-SUN: a week that is written with names ends on Sunday. Dialects whose week begins at 1 wrap instead.
  return isName && field.index === WEEKDAY && value === 0 && source.dialect.sunday === 0 ? 7 : value
}

function readName(): number {
  const start = pos
  if (pos + 3 <= stop) {
    const name = text.slice(pos, pos + 3).toUpperCase()
    const index = field.names.indexOf(name)
    const isLonger = isLetter(text.charCodeAt(pos + 3)) && pos + 3 < stop && !isSuffixL(pos + 3)
    if (index >= 0 && !isLonger) {
      pos += 3
      return field.min + index
    }
  }
  while (isLetter(charHere())) pos++
  throw fail('NAME_UNKNOWN', start, pos - start, {
    message: `The ${field.name} field does not know ${JSON.stringify(text.slice(start, pos))}`,
    expected: hints.expectedIn(field, source.dialect),
    hint: hints.name(field, text.slice(start, pos)),
  })
}

/** FRIL: an L right behind a weekday's name. */
function isSuffixL(at: number): boolean {
  if (field.index !== WEEKDAY || (text.charCodeAt(at) & ~LOWER) !== UPPER_L) return false
  return at + 1 >= stop || !isLetter(text.charCodeAt(at + 1))
}

function readStep(): number {
  if (charHere() !== SLASH) return 1
  const start = ++pos
  let step = 0
  while (isDigit(charHere())) {
    if (step < 100_000) step = step * 10 + (text.charCodeAt(pos) - 48)
    pos++
  }
  if (pos === start) throw unexpected()
  if (step >= 1 && step <= field.size) return step
  throw fail('STEP_OUT_OF_RANGE', start, pos - start, {
    message: `Step ${text.slice(start, pos)} does not fit the ${field.name} field`,
    expected: `a step from 1 to ${field.size}`,
    hint: hints.step(field, step),
  })
}

/** Items that begin with a letter and are not a name: L…, H…. False if it is a name after all. */
function readLetters(char: number): boolean {
  const isAlone = pos + 1 >= stop || !isLetter(text.charCodeAt(pos + 1))
  const upper = char & ~LOWER
  if (upper === UPPER_H && isAlone) {
    readHash()
    return true
  }
  if (upper !== UPPER_L) return false
  if (field.index === DAY) {
    readLast()
    return true
  }
  if (field.index !== WEEKDAY || !isAlone) return false
  demandSpecials('L', pos)
  if (source.dialect.sunday === 0) {
    throw fail('VALUE_MISSING', pos, 1, {
      message: 'L in the day of week field needs a weekday before it',
      expected: 'a weekday and L, such as 5L',
      hint: 'Write 5L or FRIL for the last Friday of the month, 6 for every Saturday, or L in the day of month field for its last day.',
    })
  }
  pos++
  addValue(6)
  return true
}

/** `L`, `L-3`, `LW`, `L-3W` in the day of month field. */
function readLast(): void {
  demandSpecials('L', pos)
  pos++
  let before = 0
  if (charHere() === DASH) {
    const start = ++pos
    while (isDigit(charHere())) {
      if (before < 100_000) before = before * 10 + (text.charCodeAt(pos) - 48)
      pos++
    }
    if (pos === start) throw unexpected()
    if (before > 30) {
      throw fail('VALUE_OUT_OF_RANGE', start, pos - start, {
        message: `L-${text.slice(start, pos)} is before any month begins`,
        expected: 'L-0 to L-30',
        hint: 'Count back from the last day of the month: L-1 is the day before it.',
      })
    }
  }
  const isNearest = (charHere() & ~LOWER) === UPPER_W && charHere() > 0
  if (isNearest) {
    demandSpecials('W', pos)
    pos++
  }
  addSpecial({ kind: isNearest ? 'lastNearest' : 'last', before })
}

/** What may follow a value: `15W`, `5L`, `5#2`, `5#L`. False if it belongs to nothing here. */
function readSuffix(value: number, start: number): boolean {
  const char = charHere()
  const upper = char === HASH ? HASH : char & ~LOWER
  if (upper === UPPER_W && field.index === DAY) {
    demandSpecials('W', pos)
    pos++
    addSpecial({ kind: 'nearest', day: value })
  } else if (upper === UPPER_L && field.index === WEEKDAY) {
    demandSpecials('L', pos)
    pos++
    addSpecial({ kind: 'lastWeekday', weekday: value % 7 })
  } else if (upper === HASH && field.index === WEEKDAY) {
    demandSpecials('#', pos)
    pos++
    addSpecial(readNth(value % 7))
  } else {
    return false
  }
  const next = charHere()
  if (next === DASH || next === SLASH) {
    throw fail('SYNTAX_UNSUPPORTED', start, pos - start, {
      message: `${JSON.stringify(text.slice(start, pos))} can't be part of a range or have a step`,
      expected: 'a comma or the end of the field',
      hint: 'Write a list instead, such as 1W,15W or 1#1,1#3.',
    })
  }
  return true
}

function readNth(weekday: number): SpecialDay {
  const char = charHere()
  if (char > 0 && (char & ~LOWER) === UPPER_L) {
    demandSpecials('L', pos)
    pos++
    return { kind: 'lastWeekday', weekday }
  }
  const start = pos
  while (isDigit(charHere())) pos++
  if (pos === start) throw unexpected()
  const nth = Number(text.slice(start, pos))
  if (nth < 1 || nth > 5) {
    throw fail('VALUE_OUT_OF_RANGE', start, pos - start, {
      message: `No month has a weekday number ${text.slice(start, pos)}`,
      expected: '#1 to #5, or #L for the last',
      hint: 'Write 5#L for the last Friday of the month.',
    })
  }
  return { kind: 'nthWeekday', weekday, nth }
}

/** `H`, `H/n`, `H(a-b)`, `H(a-b)/n`: values chosen by the seed. */
function readHash(): void {
  const start = pos
  if (!source.dialect.hash || field.index === YEAR) throw refused('H', pos, hints.hash(field))
  pos++
  let first = field.min
  // Days 29 to 31 are left out, or a job would be skipped in short months.
  let last = field.index === DAY ? 28 : field.max
  if (charHere() === OPEN) {
    pos++
    first = readValue()
    if (charHere() !== DASH) throw unexpected()
    pos++
    last = readRangeEnd()
    if (charHere() !== CLOSE) throw unexpected()
    pos++
    if (first > last) throw backward(start, first, last)
  }
  const size = last - first + 1
  const hasStep = charHere() === SLASH
  const step = readStep()
  if (source.seed === undefined) {
    throw fail('SEED_MISSING', start, pos - start, {
      message: 'H needs something to be hashed from',
      expected: 'the option seed',
      hint: "Pass { seed: 'the name of the schedule' }: the same seed always gives the same time.",
    })
  }
  const hash = hashOf(source.seed, field.index)
  if (!hasStep) return addValue(first + (hash % size))
  isRanged = true
  addRange(first + (hash % Math.min(step, size)), last, step)
}

function addValue(value: number): void {
  if (field.index === WEEKDAY) low |= 1 << (value % 7)
  else if (field.index === YEAR) addYear(value)
  else {
    const bit = value - field.min
    if (bit < 30) low |= 1 << bit
    else high |= 1 << (bit - 30)
  }
}

function addSpecial(special: SpecialDay): void {
  specials = [...specials, special]
}

function addYear(year: number): void {
  years ??= new Uint8Array(YEAR_COUNT)
  years[year - FIRST_YEAR] = 1
}

function addRange(first: number, last: number, step: number): void {
  if (step !== 1 || field.index >= WEEKDAY) {
    for (let value = first; value <= last; value += step) addValue(value)
    return
  }
  const from = first - field.min
  const to = last - field.min
  const thirty = 0x3fffffff
  if (from < 30) low |= (thirty << from) & (thirty >>> Math.max(29 - to, 0)) & thirty
  if (to >= 30) high |= (thirty << Math.max(from - 30, 0)) & (thirty >>> (59 - to))
}

/** `22-2`, `NOV-FEB`, `FRI-MON`: on past the end of the field and in again at its beginning. */
function addWrapped(first: number, last: number, start: number): void {
  if (!source.wrap && !source.dialect.wrap) throw backward(start, first, last)
  const step = readStep()
  // Sunday written as 7 is where the week begins again.
  const from = first > field.max ? field.min : first
  const to = from > last ? last + field.size : last
  for (let value = from; value <= to; value += step) addValue(value > field.max ? value - field.size : value)
}

function acceptsQuestion(): boolean {
  return (field.index === DAY || field.index === WEEKDAY) && source.dialect.question !== 'refused'
}

/** Quartz and EventBridge: one of the day fields must be `?`, the other must not. */
function demandQuestion(first: number): void {
  const isQuestion = (slot: number): boolean =>
    fieldEnds[slot]! - fieldStarts[slot]! === 1 && text.charCodeAt(fieldStarts[slot]!) === QUESTION
  const day = DAY - first
  if (isQuestion(day) !== isQuestion(WEEKDAY - first)) return
  field = FIELDS[DAY]!
  throw fail('SYNTAX_UNSUPPORTED', fieldStarts[day]!, fieldEnds[day]! - fieldStarts[day]!, {
    message: `The ${source.dialect.name} dialect wants ? in exactly one of the two day fields`,
    expected: '? in day of month or in day of week',
    hint: 'Put ? into the day field that does not matter.',
  })
}

function demandSpecials(what: string, at: number): void {
  const { specials: accepts, caseSensitive } = source.dialect
  if (!accepts || (caseSensitive && text[at] !== what)) throw refused(what, at, undefined)
}

interface Complaint {
  readonly message: string
  readonly expected?: string | undefined
  readonly hint?: string | undefined
}

/** The longest piece of an expression that an error message repeats. */
const QUOTE_LIMIT = 60

function fail(code: CronErrorCode, position: number, length: number, complaint: Complaint): CronError {
  const { expected, hint } = complaint
  const quoted = text.length > QUOTE_LIMIT ? `${text.slice(0, QUOTE_LIMIT)}…` : text
  const message = `${complaint.message}, in ${JSON.stringify(quoted)}.`
  return new CronError(code, message, { expression: text, field: field.name, position, length, expected, hint })
}

function unexpected(): CronError {
  const expected = hints.expectedIn(field, source.dialect)
  if (pos >= stop) {
    const message = `The ${field.name} field ends where a value was expected`
    return fail('VALUE_MISSING', pos, 1, { message, expected, hint: hints.missing(text.charCodeAt(pos - 1)) })
  }
  const point = String.fromCodePoint(text.codePointAt(pos)!)
  const message = `Unexpected ${JSON.stringify(point)} in the ${field.name} field`
  const hint = hints.character(field, point, text.slice(fieldStart(), stop))
  return fail('CHARACTER_UNEXPECTED', pos, point.length, { message, expected, hint })
}

function fieldStart(): number {
  let start = pos
  while (start > source.start && !isBlank(text.charCodeAt(start - 1))) start--
  return start
}

function outOfRange(start: number, min: number, max: number): CronError {
  const written = text.slice(start, pos)
  return fail('VALUE_OUT_OF_RANGE', start, pos - start, {
    message: `${hints.capital(field.name)} ${written} is out of range`,
    expected: `${min} to ${max}`,
    hint: hints.value(field, Number(written), source.dialect),
  })
}

function backward(start: number, first: number, last: number): CronError {
  return fail('RANGE_BACKWARD', start, pos - start, {
    message: `The range ${text.slice(start, pos)} runs backward in the ${field.name} field`,
    expected: 'a range that goes up',
    hint: hints.backward(field, first, last, source.dialect),
  })
}

function refused(what: string, at: number, hint: string | undefined): CronError {
  const { name, caseSensitive } = source.dialect
  const isCase = caseSensitive && text[at] === what.toLowerCase() && text[at] !== what
  const message = isCase
    ? `The ${name} dialect spells ${what} with a capital letter`
    : `${what} is not part of the ${name} dialect${field.index === YEAR && what === 'H' ? "'s year field" : ''}`
  return fail('SYNTAX_UNSUPPORTED', at, 1, { message, expected: hints.expectedIn(field, source.dialect), hint })
}

function miscounted(count: number): CronError {
  const wanted = Object.keys(source.dialect.layouts)
    .join(', ')
    .replace(/, (\d)$/, ' or $1')
  const from = count > 0 ? fieldStarts[0]! : source.start
  const shown = count >= 8 ? 'more than 7' : String(count)
  const complaint = hints.count(count, source.dialect)
  const quoted = text.length > QUOTE_LIMIT ? `${text.slice(0, QUOTE_LIMIT)}…` : text
  return new CronError(
    'FIELDS_MISCOUNTED',
    `Expected ${wanted} fields, found ${shown}, in ${JSON.stringify(quoted)}.`,
    {
      expression: text,
      position: from,
      length: Math.max(1, source.end - from),
      expected: `${wanted} fields`,
      hint: complaint,
    },
  )
}
