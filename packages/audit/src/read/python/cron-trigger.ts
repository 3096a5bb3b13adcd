import type { When } from '../../facts/schedule.ts'
import type { PythonModule } from './module.ts'
import type { Node } from './parser.ts'
import { evaluate } from './value.ts'

/** From the coarsest to the finest, as APScheduler fills in what is not given. */
const FIELDS = ['year', 'month', 'day', 'week', 'day_of_week', 'hour', 'minute', 'second'] as const
type Field = (typeof FIELDS)[number]

const LIMITS: Readonly<Record<Field, readonly [number, number]>> = {
  year: [1970, 9999],
  month: [1, 12],
  day: [1, 31],
  week: [1, 53],
  day_of_week: [0, 6],
  hour: [0, 23],
  minute: [0, 59],
  second: [0, 59],
}
const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const INTERVALS: Readonly<Record<string, number>> = {
  weeks: 604_800,
  days: 86_400,
  hours: 3600,
  minutes: 60,
  seconds: 1,
}
const OTHER = ['start_date', 'end_date', 'start_time', 'end_time', 'timezone', 'jitter', 'microseconds']

type Arguments = ReadonlyMap<string, Node>

/** When the cron trigger of APScheduler fires that is given these keywords; `others` are keywords of the call around it. */
export function cronTrigger(module: PythonModule, given: Arguments, others: ReadonlySet<string>): When {
  const foreign = [...given.keys()].find((key) => !isKnown(key, FIELDS, others))
  if (foreign !== undefined)
    return { kind: 'invalid', text: foreign, reason: `the cron trigger of APScheduler has no field \`${foreign}\`` }
  const written = new Map<Field, string>()
  for (const field of FIELDS) {
    const node = given.get(field)
    const value = node === undefined ? null : evaluate(module, node)
    if (value === null || value.kind === 'none') continue
    if (value.kind === 'number') written.set(field, String(value.number))
    else if (value.kind === 'text') written.set(field, value.text.trim().toLowerCase())
    else return calendar(given, 'computed')
  }
  for (const [field, text] of written) {
    const reason = problemOf(field, text)
    if (reason !== null) return { kind: 'invalid', text: `${field}=${text}`, reason }
  }
  return expressionOf(written)
}

function isKnown(key: string, names: readonly string[], others: ReadonlySet<string>): boolean {
  return names.includes(key) || OTHER.includes(key) || others.has(key)
}

/** A field that is computed is an hour of the day all the same. */
function calendar(given: Arguments, text: string): When {
  return { kind: 'calendar', text, isFixedHour: given.has('hour') }
}

function expressionOf(written: ReadonlyMap<Field, string>): When {
  if (written.size === 0) return { kind: 'unknown', text: 'cron' }
  const last = FIELDS.findLastIndex((field) => written.has(field))
  const field = (name: Field) => {
    if (written.has(name)) return written.get(name)!
    const isFiner = FIELDS.indexOf(name) > last
    return isFiner && name !== 'week' && name !== 'day_of_week' ? String(LIMITS[name][0]) : '*'
  }
  const isPlain = [...written.values()].every((text) => /^[\w*,/-]+$/.test(text) && text !== 'last')
  const hasYearOrWeek = !/^\*?$/.test(written.get('year') ?? '') || !/^\*?$/.test(written.get('week') ?? '')
  if (!isPlain || hasYearOrWeek) {
    const hour = field('hour')
    return {
      kind: 'calendar',
      text: [...written].map((pair) => pair.join('=')).join(' '),
      isFixedHour: !hour.startsWith('*'),
    }
  }
  const expression = [
    field('second'),
    field('minute'),
    field('hour'),
    field('day'),
    field('month'),
    weekday(field('day_of_week')),
  ]
  return { kind: 'cron', expression: expression.join(' '), dialect: 'apscheduler' }
}

/** APScheduler counts from Monday; names mean the same in every dialect. */
function weekday(text: string): string {
  return text.replace(/(?<![/\d*])\d(?!\d)/g, (digit) => WEEKDAYS[Number(digit)] ?? digit)
}

function problemOf(field: Field, text: string): string | null {
  for (const part of text.split(',')) {
    const reason = problemOfPart(field, part.trim())
    if (reason !== null) return `\`${field}='${text}'\`: ${reason}`
  }
  return null
}

const DAY_OF_MONTH = /^(?:last|(?:1st|2nd|3rd|4th|5th|last)\s+\w{3})$/

function problemOfPart(field: Field, part: string): string | null {
  const [min, max] = LIMITS[field]
  if (field === 'day' && DAY_OF_MONTH.test(part)) return null
  const match = /^(?:(\*)|(\w+)(?:-(\w+))?)(?:\/(\d+))?$/.exec(part)
  if (match === null) return `\`${part}\` is no expression of APScheduler`
  const [, star, first, last, step] = match
  if (star !== undefined) return Number(step ?? 1) > max - min ? `step ${step} is larger than the range` : null
  return problemOfRange(field, part, first!, last ?? first!)
}

function problemOfRange(field: Field, part: string, first: string, last: string): string | null {
  const [min, max] = LIMITS[field]
  const from = numberOf(field, first)
  const to = numberOf(field, last)
  if (from === null || to === null) return `\`${part}\` is no ${field.replaceAll('_', ' ')}`
  if (from > to) return `\`${first}\` comes after \`${last}\``
  return from < min || to > max ? `\`${part}\` is not from ${min} to ${max}` : null
}

function numberOf(field: Field, text: string): number | null {
  if (/^\d+$/.test(text)) return Number(text)
  const names = field === 'day_of_week' ? WEEKDAYS : field === 'month' ? MONTHS : []
  const index = names.indexOf(text.toLowerCase())
  if (index < 0) return null
  return field === 'month' ? index + 1 : index
}

export function intervalTrigger(module: PythonModule, given: Arguments, others: ReadonlySet<string>): When {
  const foreign = [...given.keys()].find((key) => !isKnown(key, Object.keys(INTERVALS), others))
  if (foreign !== undefined)
    return { kind: 'invalid', text: foreign, reason: `the interval trigger of APScheduler has no field \`${foreign}\`` }
  let seconds = 0
  for (const [unit, factor] of Object.entries(INTERVALS)) {
    const node = given.get(unit)
    if (node === undefined) continue
    const value = evaluate(module, node)
    if (value.kind !== 'number') return { kind: 'unknown', text: `${unit}=${node.text.slice(0, 50)}` }
    seconds += value.number * factor
  }
  return seconds > 0 ? { kind: 'every', ms: seconds * 1000 } : { kind: 'unknown', text: 'interval' }
}
