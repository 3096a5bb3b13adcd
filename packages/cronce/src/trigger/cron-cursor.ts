import type { Dialect } from './cron-dialect.ts'
import { DIALECTS } from './cron-dialect.ts'
import { FIELDS, type Field, MINUTE } from './cron-fields.ts'
import type { SpecialDay } from './trigger.ts'

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

interface Cursor {
  source: CronSource
  text: string
  /** The next character, and the end of the field being read. */
  pos: number
  stop: number
  field: Field
  /** What the field has named so far: a value's bit is its distance from the field's minimum, thirty bits a half. */
  low: number
  high: number
  /** By the way they are written, or `null` if there are none. */
  specials: Map<string, SpecialDay> | null
  years: Uint8Array
  /** Written with a `*`, a range or a step. */
  isRanged: boolean
  /** Literally `*`, `?` or `*` with step 1. */
  isOpen: boolean
}

/**
 * Where the parser is and what it has seen. There is one: parsing is synchronous and never re-entered, and a fresh object
 * for each expression would be most of the garbage that parsing makes.
 */
export const cursor: Cursor = {
  source: { text: '', start: 0, end: 0, dialect: DIALECTS.default, wrap: false, days: 'or', seed: undefined },
  text: '',
  pos: 0,
  stop: 0,
  field: FIELDS[MINUTE]!,
  low: 0,
  high: 0,
  specials: null,
  years: new Uint8Array(0),
  isRanged: false,
  isOpen: false,
}

const END = -1
export const HASH = 35
export const OPEN = 40
export const CLOSE = 41
export const STAR = 42
export const PLUS = 43
export const COMMA = 44
export const DASH = 45
export const SLASH = 47
export const QUESTION = 63
export const UPPER_H = 72
export const UPPER_L = 76
export const UPPER_W = 87
const CASE_BIT = 32

export function charHere(): number {
  return cursor.pos < cursor.stop ? cursor.text.charCodeAt(cursor.pos) : END
}

export function isBlank(char: number): boolean {
  return char === 32 || char === 9
}

function isDigit(char: number): boolean {
  return char >= 48 && char <= 57
}

/** An ASCII letter in upper case; anything else comes back as something that is none. */
export function upper(char: number): number {
  return char >= 97 && char <= 122 ? char - CASE_BIT : char
}

export function isLetter(char: number): boolean {
  const letter = upper(char)
  return letter >= 65 && letter <= 90
}

/** The digits at the cursor as a number, or -1 if there are none. Far out of range it stops counting, and stays exact. */
export function readDigits(): number {
  let char = charHere()
  if (!isDigit(char)) return -1
  let value = 0
  do {
    if (value < 100_000) value = value * 10 + (char - 48)
    cursor.pos++
    char = charHere()
  } while (isDigit(char))
  return value
}
