import { complain, refused, unexpected } from './cron-complaints.ts'
import { charHere, cursor, DASH, HASH, readDigits, SLASH, UPPER_L, UPPER_W, upper } from './cron-cursor.ts'
import { DAY, WEEKDAY } from './cron-fields.ts'
import * as hints from './cron-hints.ts'
import { writeSpecial } from './cron-normalize.ts'
import type { SpecialDay } from './trigger.ts'

/** `L`, `L-3`, `LW`, `L-3W` in the day of month field. */
export function readLast(): void {
  readSign('L')
  let before = 0
  if (charHere() === DASH) {
    const start = ++cursor.pos
    before = readDigits()
    if (before < 0) throw unexpected()
    if (before > 30) {
      throw complain('VALUE_OUT_OF_RANGE', start, cursor.pos - start, {
        message: `L-${hints.clip(cursor.text.slice(start, cursor.pos))} is before any month begins`,
        expected: 'L-0 to L-30',
        hint: 'Count back from the last day of the month: L-1 is the day before it.',
      })
    }
  }
  const isNearest = upper(charHere()) === UPPER_W
  if (isNearest) readSign('W')
  addSpecial({ kind: isNearest ? 'lastNearest' : 'last', before })
}

/** `L` alone in the day of week field: Saturday in Quartz, too ambiguous anywhere else. */
export function readBareLast(): number {
  readSign('L')
  if (cursor.source.dialect.sunday === 1) return 6
  throw complain('VALUE_MISSING', cursor.pos - 1, 1, {
    message: 'L in the day of week field needs a weekday before it',
    expected: 'a weekday and L, such as 5L',
    hint: 'Write 5L or FRIL for the last Friday of the month, or L in the day of month field for its last day.',
  })
}

/** What may follow a value: `15W`, `5L`, `5#2`, `5#L`. False if it belongs to nothing here. */
export function readSuffix(value: number, start: number): boolean {
  const { field, text } = cursor
  const sign = upper(charHere())
  if (sign === UPPER_W && field.index === DAY) {
    readSign('W')
    addSpecial({ kind: 'nearest', day: value })
  } else if (sign === UPPER_L && field.index === WEEKDAY) {
    readSign('L')
    addSpecial({ kind: 'lastWeekday', weekday: value % 7 })
  } else if (sign === HASH && field.index === WEEKDAY) {
    readSign('#')
    addSpecial(readNth(value % 7))
  } else {
    return false
  }
  const next = charHere()
  if (next !== DASH && next !== SLASH) return true
  throw complain('SYNTAX_UNSUPPORTED', start, cursor.pos - start, {
    message: `${hints.quote(text.slice(start, cursor.pos))} can't be part of a range or have a step`,
    expected: 'a comma or the end of the field',
    hint: 'Write a list instead, such as 1W,15W or 1#1,1#3.',
  })
}

function readNth(weekday: number): SpecialDay {
  if (upper(charHere()) === UPPER_L) {
    readSign('L')
    return { kind: 'lastWeekday', weekday }
  }
  const start = cursor.pos
  const nth = readDigits()
  if (nth < 0) throw unexpected()
  if (nth >= 1 && nth <= 5) return { kind: 'nthWeekday', weekday, nth }
  throw complain('VALUE_OUT_OF_RANGE', start, cursor.pos - start, {
    message: `No month has a weekday number ${hints.clip(cursor.text.slice(start, cursor.pos))}`,
    expected: '#1 to #5, or #L for the last',
    hint: 'Write 5#L for the last Friday of the month.',
  })
}

/** Step over an `L`, `W` or `#`, if the dialect has it and has it in this case. */
function readSign(sign: 'L' | 'W' | '#'): void {
  const { text, pos, source } = cursor
  const { specials, caseSensitive } = source.dialect
  if (!specials || (caseSensitive && text[pos] !== sign)) throw refused(sign, pos)
  cursor.pos++
}

/** Each counts once, however often a list repeats it: all of them are looked at in every month. */
function addSpecial(special: SpecialDay): void {
  cursor.specials ??= new Map()
  cursor.specials.set(writeSpecial(special), Object.freeze(special))
}
