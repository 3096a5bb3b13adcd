import { judge } from '../cron/judge.ts'
import type { Guard, When, Zone } from '../facts/schedule.ts'

export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** When a schedule fires, in words as far as they are short. */
export function whenWords(when: When): string {
  switch (when.kind) {
    case 'cron':
      return judgedWords(when.expression, judge(when.expression, when.dialect))
    case 'every':
      return `every ${durationWords(when.ms)}`
    case 'calendar':
      return when.text
    case 'once':
      return 'once'
    case 'invalid':
      return `invalid: ${when.text}`
    case 'unknown':
      return when.text === ''
        ? 'could not be evaluated'
        : `could not be evaluated: ${when.text.split('\n')[0]!.slice(0, 40)}`
  }
}

function judgedWords(expression: string, { problem, fields }: ReturnType<typeof judge>): string {
  return problem !== null ? `invalid: ${expression}` : cronWords(expression, fields)
}

function cronWords(expression: string, fields: readonly string[]): string {
  const [second, minute, hour, ...days] = fields
  if (days.length === 0 || days.some((field) => field !== '*')) return expression
  const words = timeWords(second!, minute!, hour!)
  return words === null ? expression : `${words} (${expression})`
}

/** Times within a day, each as a pattern of second, minute and hour. */
const TIMES: readonly (readonly [RegExp, (match: readonly string[]) => string | null])[] = [
  [/^\d+ (\d+) (\d+)$/, ([, minute, hour]) => `daily at ${hour!.padStart(2, '0')}:${minute!.padStart(2, '0')}`],
  [/^0 \* \*$/, () => 'every minute'],
  [/^\d+ \*\/(\d+) \*$/, ([, step]) => evenWords(step!, 60, 'min')],
  [/^\d+ \d+ \*$/, () => 'hourly'],
  [/^\*\/(\d+) \* \*$/, ([, step]) => evenWords(step!, 60, 's')],
  [/^\d+ \d+ \*\/(\d+)$/, ([, step]) => evenWords(step!, 24, 'h')],
]

/** A step that does not divide its range leaves a shorter gap at the end: no period says that. */
function evenWords(step: string, range: number, unit: string): string | null {
  return range % Number(step) === 0 ? `every ${step} ${unit}` : null
}

function timeWords(second: string, minute: string, hour: string): string | null {
  for (const [pattern, words] of TIMES) {
    const match = pattern.exec(`${second} ${minute} ${hour}`)
    if (match !== null) return words(match)
  }
  return null
}

function durationWords(ms: number): string {
  if (ms >= 3_600_000) return `${Math.round(ms / 360_000) / 10} h`
  if (ms >= 60_000) return `${Math.round(ms / 6000) / 10} min`
  return `${ms / 1000} s`
}

export function zoneWords(zone: Zone): string {
  if (zone.kind === 'stated') return zone.name
  return { computed: 'zone from configuration', platform: 'UTC', none: 'zone of the host' }[zone.kind]
}

export function guardWords(guard: Guard): string {
  switch (guard.kind) {
    case 'none':
      return 'no guard'
    case 'unresolved':
      return `guard could not be evaluated: ${guard.text}`
    case 'ineffective':
      return `guard without effect: ${guard.text}`
    case 'designated':
      return `one designated runner: ${guard.text}`
    case 'shared':
      return `guarded: ${guard.text}`
  }
}
