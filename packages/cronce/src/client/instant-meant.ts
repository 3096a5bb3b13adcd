import { at } from '../trigger/at.ts'
import { NAME_LIMIT, nest } from './as-code.ts'

/** A hint for a value that is not an instant: what the caller probably meant, or else the form with an example. */
export function instantHint(path: string, value: unknown): string {
  const text = typeof value === 'string' && value.length <= NAME_LIMIT ? value.trim() : ''
  const [meant, other] = [epoch, yearFirst, yearLast, monthByName].map((read) => read(text)).find(isFound) ?? []
  if (meant === undefined) return `Write date, time and zone, such as ${nest(path, "'2027-01-01T00:00:00Z'")}.`
  const otherwise = other === undefined ? '' : `, or ${other} if the month comes first`
  return `Write ${nest(path, meant)}${otherwise}.`
}

/** As code. The second one: if the month comes first. */
type Meant = readonly string[]

function isFound(meant: Meant): boolean {
  return meant.length > 0
}

/** `1900000000000` for `'1900000000'`. */
function epoch(text: string): Meant {
  if (/^\d{13}$/.test(text)) return [text]
  return /^\d{10}$/.test(text) ? [`${text}000`] : []
}

const CLOCK = String.raw`(?:,?[T ]\s*(\d{1,2}:\d\d)(:\d\d)?(?:\.\d+)?\s*(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?)?`
const YEAR_FIRST = new RegExp(String.raw`^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})${CLOCK}$`, 'i')
const YEAR_LAST = new RegExp(String.raw`^(\d{1,2})([-/.])(\d{1,2})\2(\d{4})${CLOCK}$`, 'i')

/** `2027-01-01T12:00:00Z` for `2027-01-01 12:00`. */
function yearFirst(text: string): Meant {
  const [, year, , month, day, ...clock] = YEAR_FIRST.exec(text) ?? []
  return year === undefined ? [] : valid(isoOf([year, month!, day!], clock))
}

/** Both readings of `01/12/2026`; with dots and dashes, the day comes first. */
function yearLast(text: string): Meant {
  const [, first, separator, second, year, ...clock] = YEAR_LAST.exec(text) ?? []
  if (year === undefined) return []
  const dayFirst = isoOf([year, second!, first!], clock)
  const monthFirst = isoOf([year, first!, second!], clock)
  return valid(...(separator === '/' && first !== second ? [dayFirst, monthFirst] : [dayFirst]))
}

function isoOf(
  date: readonly string[],
  [time = '00:00', second = ':00', zone = 'Z']: readonly (string | undefined)[],
): string {
  const offset = /^(?:UTC|GMT|Z)$/i.test(zone)
    ? 'Z'
    : zone.replace(/^([+-]\d\d):?(\d\d)?$/, (_, hours: string, minutes = '00') => `${hours}:${minutes}`)
  return `${date.map((part) => part.padStart(2, '0')).join('-')}T${time.padStart(5, '0')}${second}${offset}`
}

/** `Tue, 01 Dec 2026 00:00:00 GMT`, `Dec 1, 2026`. */
function monthByName(text: string): Meant {
  if (!/\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b/i.test(text) || !/\b\d{4}\b/.test(text)) return []
  // Without a zone, it would be the one of this machine.
  const ms = Date.parse(/\b(?:GMT|UTC)\b|[+-]\d{4}\b/.test(text) ? text : `${text} UTC`)
  return Number.isNaN(ms) ? [] : valid(new Date(ms).toISOString().replace('.000Z', 'Z'))
}

function valid(...texts: readonly string[]): Meant {
  return texts.filter(isInstant).map((text) => `'${text}'`)
}

export function isInstant(value: unknown): boolean {
  try {
    at(value as Date | number | string)
    return true
  } catch {
    return false
  }
}
