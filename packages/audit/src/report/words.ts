import { judge } from '../cron/judge.ts'
import type { Guard, When, Zone } from '../facts/schedule.ts'

export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** When a schedule fires, in words as far as they are short. */
export function whenWords(when: When): string {
  switch (when.kind) {
    case 'cron':
      return cronWords(when.expression, judge(when.expression, when.dialect).fields)
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

function cronWords(expression: string, [second, minute, hour, day, month, weekday]: readonly string[]): string {
  const isDaily = day === '*' && month === '*' && weekday === '*'
  if (!isDaily) return expression
  if (/^\d+$/.test(minute!) && /^\d+$/.test(hour!))
    return `daily at ${hour!.padStart(2, '0')}:${minute!.padStart(2, '0')} (${expression})`
  const step = (field: string): string | undefined => /^\*\/(\d+)$/.exec(field)?.[1]
  if (hour === '*' && minute === '*' && second === '0') return `every minute (${expression})`
  if (hour === '*' && step(minute!) !== undefined) return `every ${step(minute!)} min (${expression})`
  if (hour === '*' && /^\d+$/.test(minute!)) return `hourly (${expression})`
  if (hour === '*' && minute === '*' && step(second!) !== undefined) return `every ${step(second!)} s (${expression})`
  if (/^\d+$/.test(minute!) && step(hour!) !== undefined) return `every ${step(hour!)} h (${expression})`
  return expression
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
