import { cursor, isBlank } from './cron-cursor.ts'
import { CronError, type CronErrorCode } from './cron-error.ts'
import { YEAR } from './cron-fields.ts'
import * as hints from './cron-hints.ts'

interface Complaint {
  readonly message: string
  readonly expected?: string | undefined
  readonly hint?: string | undefined
}

/** An error about `length` characters from `position` on, in the field at the cursor. */
export function complain(code: CronErrorCode, position: number, length: number, complaint: Complaint): CronError {
  const { text, field } = cursor
  const { expected } = complaint
  const hint =
    hints.pastedCommand(text) ?? complaint.hint ?? (expected === undefined ? undefined : `Expected ${expected}.`)
  const message = `${complaint.message}, in ${hints.quote(text)}.`
  return new CronError(code, message, { expression: text, field: field.name, position, length, expected, hint })
}

/** The character at the cursor does not belong, or the field ended. */
export function unexpected(): CronError {
  const { text, pos, stop, field, source } = cursor
  const expected = hints.expectedIn(field, source.dialect)
  if (pos >= stop) {
    const message = `The ${field.name} field ends where a value was expected`
    return complain('VALUE_MISSING', pos, 1, { message, expected, hint: hints.missing(text.charCodeAt(pos - 1)) })
  }
  let start = pos
  while (start > source.start && !isBlank(text.charCodeAt(start - 1))) start--
  const char = String.fromCodePoint(text.codePointAt(pos)!)
  const message = `Unexpected ${JSON.stringify(char)} in the ${field.name} field`
  const hint = hints.character(char, text.slice(start, stop))
  return complain('CHARACTER_UNEXPECTED', pos, char.length, { message, expected, hint })
}

export function outOfRange(start: number, min: number, max: number): CronError {
  const { text, pos, field, source } = cursor
  const written = text.slice(start, pos)
  return complain('VALUE_OUT_OF_RANGE', start, pos - start, {
    message: `${field.name.charAt(0).toUpperCase()}${field.name.slice(1)} ${hints.clip(written)} is out of range`,
    expected: `${min} to ${max}`,
    hint: hints.value(field, Number(written), source.dialect),
  })
}

export function unknownName(start: number): CronError {
  const { text, pos, field, source } = cursor
  const written = text.slice(start, pos)
  return complain('NAME_UNKNOWN', start, pos - start, {
    message: `The ${field.name} field does not know ${hints.quote(written)}`,
    expected: hints.expectedIn(field, source.dialect),
    hint: hints.name(field, written),
  })
}

export function badStep(start: number, step: number): CronError {
  const { text, pos, field, source } = cursor
  return complain('STEP_OUT_OF_RANGE', start, pos - start, {
    message: `Step ${hints.clip(text.slice(start, pos))} does not fit the ${field.name} field`,
    expected: `a step from 1 to ${field.size}`,
    hint: hints.step({
      field,
      written: hints.clip(text.slice(start, pos)),
      value: step,
      hasEvery: source.dialect.macros === 'all',
    }),
  })
}

export function backward(start: number, hint: string): CronError {
  const { text, pos, field } = cursor
  return complain('RANGE_BACKWARD', start, pos - start, {
    message: `The range ${hints.clip(text.slice(start, pos))} runs backward in the ${field.name} field`,
    expected: 'a range that goes up',
    hint,
  })
}

/** Something that is cron somewhere, but not in this dialect or not in this field. */
export function refused(what: string, at: number, hint?: string): CronError {
  const { text, field, source } = cursor
  const { name, caseSensitive } = source.dialect
  const isCase = caseSensitive && source.dialect.specials && what !== 'H' && text[at] === what.toLowerCase()
  const where = field.index === YEAR && what === 'H' ? 'the year field' : `the ${name} dialect`
  const message = isCase
    ? `The ${name} dialect spells ${what} with a capital letter`
    : `${what} is not part of ${where}`
  return complain('SYNTAX_UNSUPPORTED', at, 1, { message, expected: hints.expectedIn(field, source.dialect), hint })
}

/** A `?` in a list or with a step. */
export function notAlone(at: number): CronError {
  const message = `? must be the whole ${cursor.field.name} field`
  return complain('CHARACTER_UNEXPECTED', at, 1, { message, hint: 'Write ? alone; use * in a list or with a step.' })
}

export function miscounted(count: number, from: number): CronError {
  const { text, source } = cursor
  const strange = text.slice(source.start, source.end).search(/[^\t -~]/)
  if (strange >= 0) return strangeCharacter(source.start + strange)
  const wanted = `${Object.keys(source.dialect.layouts).join(', ')} fields`.replace(/, (\d) /, ' or $1 ')
  const found = count > 7 ? 'more than 7' : count
  return new CronError('FIELDS_MISCOUNTED', `Expected ${wanted}, found ${found}, in ${hints.quote(text)}.`, {
    expression: text,
    position: from,
    length: Math.max(1, source.end - from),
    expected: wanted,
    hint: hints.pastedCommand(text) ?? hints.count(count, source.dialect),
  })
}

/** A character that separates fields only to the eye, such as a line break. */
function strangeCharacter(position: number): CronError {
  const { text: expression } = cursor
  const char = String.fromCodePoint(expression.codePointAt(position)!)
  const message = `Unexpected ${JSON.stringify(char)}, in ${hints.quote(expression)}.`
  const expected = 'fields separated by spaces or tabs'
  const hint = hints.character(char, '') ?? 'Separate fields with spaces or tabs.'
  return new CronError('CHARACTER_UNEXPECTED', message, { expression, position, length: char.length, expected, hint })
}
