import { FIRST_YEAR } from './calendar.ts'
import {
  backward,
  badStep,
  complain,
  notAlone,
  outOfRange,
  refused,
  unexpected,
  unknownName,
} from './cron-complaints.ts'
import {
  CLOSE,
  charHere,
  cursor,
  DASH,
  HASH,
  isLetter,
  OPEN,
  QUESTION,
  readDigits,
  SLASH,
  STAR,
  UPPER_H,
  UPPER_L,
  UPPER_W,
  upper,
} from './cron-cursor.ts'
import { DAY, WEEKDAY, YEAR } from './cron-fields.ts'
import { hashOf } from './cron-hash.ts'
import * as hints from './cron-hints.ts'
import { readBareLast, readLast, readSuffix } from './cron-specials.ts'

/** Read one item of a list and add what it names. */
export function readItem(): void {
  const { pos: start } = cursor
  const char = charHere()
  if (char === STAR || (char === QUESTION && isDayField())) {
    readAll(char)
    return
  }
  if (isLetter(char) && readLetter(upper(char))) return
  readFromValue(start)
}

/** A value, or what begins with one: a range, a step, or a value with a suffix. */
function readFromValue(start: number): void {
  const first = readValue()
  switch (charHere()) {
    case DASH:
      cursor.pos++
      cursor.isRanged = true
      readRange(first, start)
      return
    case SLASH:
      readOpenStep(first)
      return
    case HASH:
    case UPPER_L:
    case UPPER_L + 32:
    case UPPER_W:
    case UPPER_W + 32:
      if (readSuffix(first, start)) return
  }
  addValue(first)
}

/** A star, with or without a step, or a `?` by itself. */
function readAll(char: number): void {
  const { field, pos: start } = cursor
  if (char === QUESTION && cursor.source.dialect.question === 'refused') throw refused('?', start)
  cursor.pos++
  if (char === QUESTION && (cursor.text[start - 1] === ',' || cursor.pos < cursor.stop)) throw notAlone(start)
  cursor.isRanged = true
  const step = readStep()
  cursor.isOpen = step === 1
  addRange(field.min, field.max, step)
}

/** `a/n`: from a value to the end of the field. */
function readOpenStep(value: number): void {
  const { field } = cursor
  // Sunday may be written 7; a step from it goes through the week like one from 0.
  const first = value > field.max ? field.min : value
  if (!cursor.source.dialect.stepFromValue) throw refused('a/n', cursor.pos, hints.openStep(field, first))
  cursor.isRanged = true
  addRange(first, field.max, readStep())
}

/** Items that begin with a letter and are no name: `H…`, `L…`. False if it is a name after all. */
function readLetter(letter: number): boolean {
  const { field, text, pos, stop } = cursor
  const isAlone = pos + 1 >= stop || !isLetter(text.charCodeAt(pos + 1))
  if (letter === UPPER_H && isAlone) readHash()
  else if (letter === UPPER_L && field.index === DAY) readLast()
  else if (letter === UPPER_L && field.index === WEEKDAY && isAlone) addValue(readBareLast())
  else return false
  return true
}

/** A number or a name, checked against the field; weekdays come back as 0 (or 7) for Sunday whatever the dialect. */
function readValue(): number {
  const { field, pos: start } = cursor
  const value = readDigits()
  if (value < 0) {
    if (isLetter(charHere())) return readName()
    throw unexpected()
  }
  const isWeekday = field.index === WEEKDAY
  const first = isWeekday ? cursor.source.dialect.sunday : 0
  const min = isWeekday ? first : field.min
  const max = isWeekday ? cursor.source.dialect.weekdayMax : field.max
  if (value < min || value > max) throw outOfRange(start, min, max)
  return value - first
}

function readName(): number {
  const { field, text, pos: start, stop } = cursor
  const isThree = start + 3 <= stop && isLetter(text.charCodeAt(start + 1)) && isLetter(text.charCodeAt(start + 2))
  const index = isThree ? field.names.indexOf(text.slice(start, start + 3).toUpperCase()) : -1
  if (index >= 0 && (start + 3 === stop || !isLetter(text.charCodeAt(start + 3)) || isSuffixL(start + 3))) {
    cursor.pos += 3
    return field.min + index
  }
  while (isLetter(charHere())) cursor.pos++
  throw unknownName(start)
}

/** FRIL: an L right behind a weekday's name, and nothing behind that. */
function isSuffixL(at: number): boolean {
  const { field, text, stop } = cursor
  if (field.index !== WEEKDAY || upper(text.charCodeAt(at)) !== UPPER_L) return false
  return at + 1 === stop || !isLetter(text.charCodeAt(at + 1))
}

function readRangeEnd(): number {
  const isName = isLetter(charHere())
  const value = readValue()
  // FRI-SUN: a range of names ends with Sunday as the seventh day, where there is a 7 for Sunday.
  const { sunday, weekdayMax } = cursor.source.dialect
  const isLastSunday = isName && value === 0 && cursor.field.index === WEEKDAY && weekdayMax - sunday === 7
  return isLastSunday ? 7 : value
}

function readRange(first: number, start: number): void {
  const { field, source } = cursor
  const last = readRangeEnd()
  if (first <= last) {
    addRange(first, last, readStep())
    return
  }
  if (!source.wrap && !source.dialect.wrap) {
    const hint = charHere() === SLASH ? `S${hints.WRAP.slice(1)}.` : hints.backward(field, first, last, source.dialect)
    throw backward(start, hint)
  }
  // On past the end of the field and in again at its beginning.
  const to = last + field.size
  const step = readStep()
  for (let value = first; value <= to; value += step) addValue(value > field.max ? value - field.size : value)
}

function readStep(): number {
  if (charHere() !== SLASH) return 1
  const start = ++cursor.pos
  const step = readDigits()
  if (step < 0) throw unexpected()
  if (step < 1 || step > cursor.field.size) throw badStep(start, step)
  return step
}

/** `H`, `H/n`, `H(a-b)`, `H(a-b)/n`: values chosen by the seed. */
function readHash(): void {
  const { field, source, pos: start } = cursor
  if (!source.dialect.hash || field.index === YEAR) throw refused('H', start, hints.hash(field))
  cursor.pos++
  let first = field.min
  // Days 29 to 31 are left out: a job must not be skipped in short months because of its name.
  let last = field.index === DAY ? 28 : field.max
  if (charHere() === OPEN) {
    cursor.pos++
    first = readValue()
    if (charHere() !== DASH) throw unexpected()
    cursor.pos++
    last = readRangeEnd()
    if (charHere() !== CLOSE) throw unexpected()
    cursor.pos++
    if (first > last) throw backward(start, 'Write the smaller value first.')
  }
  const hasStep = charHere() === SLASH
  const step = readStep()
  if (source.seed === undefined) {
    throw complain('SEED_MISSING', start, cursor.pos - start, {
      message: 'H needs something to be hashed from',
      expected: 'the option seed',
      hint: "Pass { seed: 'the name of the schedule' }: the same seed always gives the same time.",
    })
  }
  const size = last - first + 1
  const hash = hashOf(source.seed, field.index)
  if (hasStep) {
    cursor.isRanged = true
    addRange(first + (hash % Math.min(step, size)), last, step)
  } else {
    addValue(first + (hash % size))
  }
}

function addValue(value: number): void {
  const { field } = cursor
  if (field.index === YEAR) {
    cursor.years[value - FIRST_YEAR] = 1
    return
  }
  const bit = field.index === WEEKDAY ? value % 7 : value - field.min
  if (bit < 30) cursor.low |= 1 << bit
  else cursor.high |= 1 << (bit - 30)
}

const THIRTY = 0x3fffffff

function addRange(first: number, last: number, step: number): void {
  const { field } = cursor
  if (step !== 1 || field.index >= WEEKDAY) {
    for (let value = first; value <= last; value += step) addValue(value)
    return
  }
  const from = first - field.min
  const to = last - field.min
  if (from < 30) cursor.low |= (THIRTY << from) & (THIRTY >>> Math.max(29 - to, 0))
  if (to >= 30) cursor.high |= (THIRTY << Math.max(from - 30, 0)) & (THIRTY >>> (59 - to))
}

function isDayField(): boolean {
  return cursor.field.index === DAY || cursor.field.index === WEEKDAY
}
