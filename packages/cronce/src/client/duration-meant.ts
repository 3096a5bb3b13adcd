import { parseDuration } from '../duration.ts'
import { asCode, NAME_LIMIT } from './as-code.ts'
import { spellDuration } from './spell-duration.ts'

const WORDS_OF_UNITS: readonly (readonly [RegExp, string])[] = [
  [/^(ms|msecs?|millis|milliseconds?)$/, 'ms'],
  [/^(s|secs?|seconds?)$/, 's'],
  [/^(m|mins?|minutes?)$/, 'm'],
  [/^(h|hrs?|hours?)$/, 'h'],
  [/^(d|days?)$/, 'd'],
  [/^(w|wks?|weeks?)$/, 'w'],
]

/** What a text or number that is no duration here was meant to be, as a hint; `null`: it can't be told. */
export function durationMeant(
  path: string,
  value: unknown,
  { min, max }: { readonly min: number; readonly max: number },
): string | null {
  const isWithin = (ms: number | null): boolean => ms !== null && ms >= min && ms <= max
  if (typeof value === 'number') return isWithin(value * 1_000) ? inSeconds(path, value) : null
  if (typeof value !== 'string' || value.length > NAME_LIMIT) return null
  if (/^\d+$/.test(value)) return isWithin(Number(value) * 1_000) ? missingUnit(path, value) : null
  if (path === 'every' && value.trim().split(/\s+/).length >= 5) return `Write cron: ${asCode(value)}.`
  const meant = isoDuration(value) ?? wordsOfDuration(value)
  return meant !== null && isWithin(parseDuration(meant)) ? `Write ${last(path)}: '${meant}'.` : null
}

function inSeconds(path: string, value: number): string | null {
  if (!Number.isInteger(value) || value <= 0) return null
  return `Numbers are milliseconds. Write ${last(path)}: '${spellDuration(value * 1_000)}'.`
}

function missingUnit(path: string, digits: string): string {
  return `Add the unit: ${last(path)}: '${digits}s' or '${digits}ms'.`
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
  const parts = [...compact.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)\s*/g)]
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== compact) return null
  const units = parts.map(([, , word]) => WORDS_OF_UNITS.find(([pattern]) => pattern.test(word!))?.[1])
  return units.includes(undefined) ? null : parts.map(([, count], i) => `${count}${units[i]}`).join('')
}

function last(path: string): string {
  return path.split('.').at(-1)!
}
