import { measureDuration, parseDuration } from '../duration.ts'
import { asCode, NAME_LIMIT, nest } from './as-code.ts'
import { cronOfWords } from './cron-words.ts'
import { spellDuration } from './spell-duration.ts'

/** A word for a unit, the unit here, and how many of it one is. */
const WORDS_OF_UNITS: readonly (readonly [RegExp, string, number?])[] = [
  [/^(ms|msecs?|millis|milliseconds?)$/, 'ms'],
  [/^(s|secs?|seconds?)$/, 's'],
  [/^(m|mins?|minutes?)$/, 'm'],
  [/^(h|hrs?|hours?)$/, 'h'],
  [/^(d|days?)$/, 'd'],
  [/^(w|wks?|weeks?)$/, 'w'],
  [/^(mo|mon|months?)$/, 'd', 30],
  [/^(y|yrs?|years?)$/, 'd', 365],
]

/** A hint for an invalid duration: what the caller probably meant; `null`: unknown. */
export function durationMeant(
  path: string,
  value: unknown,
  { min, max }: { readonly min: number; readonly max: number },
): string | null {
  if (/^timeout(\.run)?$/.test(path) && isZero(value)) return 'Leave it out: without timeout, a run may take any time.'
  const isWithin = (ms: number | null): boolean => ms !== null && ms >= min && ms <= max
  if (typeof value === 'number') return isWithin(value * 1_000) ? inSeconds(path, value) : null
  if (typeof value !== 'string' || value.length > NAME_LIMIT) return null
  if (/^\d+$/.test(value)) return isWithin(Number(value) * 1_000) ? missingUnit(path, value) : null
  const cron = cronMeant(path, value)
  if (cron !== null) return `Write cron: ${asCode(cron)}.`
  const meant = rewritten(value)
  return meant !== null && isWithin(parseDuration(meant)) ? `Write ${nest(path, `'${meant}'`)}.` : null
}

/** Milliseconds of a text in whatever words, also if they are too few or too many; `null`: it is not a duration. */
export function msMeant(value: unknown): number | null {
  if (typeof value !== 'string' || value.length > NAME_LIMIT) return null
  const ms = Math.ceil(measureDuration(rewritten(value) ?? value))
  return Number.isNaN(ms) ? null : ms
}

function isZero(value: unknown): boolean {
  return value === 0 || value === false || (typeof value === 'string' && /^0+(ms|[smhdw])?$/.test(value))
}

/** An expression as it is, or in words; `0 0 1 * *` for `1 month`, since months and years differ in length. */
function cronMeant(path: string, text: string): string | null {
  if (path !== 'every') return null
  if (text.trim().split(/\s+/).length >= 5) return text
  const [, digits = '1', word] = /^(?:every )?\s*(\d{1,2})?\s*(months?|mon|mo|years?|yrs?|y)$/i.exec(text.trim()) ?? []
  const months = word === undefined ? 0 : Number(digits) * (/^y/i.test(word) ? 12 : 1)
  if (months === 12) return '0 0 1 1 *'
  if (months > 0 && 12 % months === 0) return `0 0 1 ${months === 1 ? '*' : `*/${months}`} *`
  return rewritten(text) === null ? (cronOfWords(text) ?? cronOfWords(`every ${text}`)) : null
}

function inSeconds(path: string, value: number): string | null {
  if (!Number.isInteger(value) || value <= 0) return null
  return `Numbers are milliseconds. Write ${nest(path, `'${spellDuration(value * 1_000)}'`)}.`
}

function missingUnit(path: string, digits: string): string {
  return `Add the unit: ${nest(path, `'${digits}s'`)} or '${digits}ms'.`
}

function rewritten(text: string): string | null {
  return isoDuration(text) ?? wordsOfDuration(text) ?? lastUnit(text)
}

/** `1h30m` for `1h30`. */
function lastUnit(text: string): string | null {
  const next = { w: 'd', d: 'h', h: 'm', m: 's' } as const
  const [, unit] = /([wdhm]) ?\d+$/.exec(text) ?? []
  const meant = unit === undefined ? null : `${text}${next[unit as keyof typeof next]}`
  return meant === null || parseDuration(meant) === null ? null : meant
}

/** `1h30m` for `PT1H30M`. */
function isoDuration(text: string): string | null {
  const [, ...counts] = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/.exec(text) ?? []
  const parts = ['d', 'h', 'm', 's'].map((unit, i) => (counts[i] === undefined ? '' : `${counts[i]}${unit}`))
  return parts.join('') === '' ? null : parts.join('')
}

/** `5m` for `5 minutes`. */
function wordsOfDuration(text: string): string | null {
  const compact = text
    .toLowerCase()
    .replaceAll(/\s+|,|\band\b/g, ' ')
    .trim()
    .replace(/^every /, '')
    .replace(/^(?:(?:an?|one) )?(?=[a-z])/, '1')
  const parts = [...compact.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)\s*/g)]
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== compact) return null
  const written = parts.map(([, count, word]) => {
    const [, unit, size = 1] = WORDS_OF_UNITS.find(([pattern]) => pattern.test(word!)) ?? []
    return unit === undefined ? null : `${Number(count) * size}${unit}`
  })
  return written.includes(null) ? null : written.join('')
}
