import type { CronSpec } from '../client/schedule-options.ts'
import { cron } from '../trigger/cron.ts'
import type { CronTrigger } from '../trigger/trigger.ts'
import { type ParsedFields, parse } from './expression.ts'

/** When a task is due, as node-cron understands its expression. */
export interface Timing {
  /** For the schedule. */
  readonly spec: CronSpec
  readonly trigger: CronTrigger
  /** Whether the clocks of its zone show a time that it names: in both passes of an hour that comes twice. */
  matches(date: Date): boolean
  /** The first `count` slots after now. */
  next(count: number): Date[]
}

/** Both day fields must match, ranges go around, a time that does not exist is skipped, and one that comes twice is run once. */
const RULES = { days: 'and', dst: 'once', wrap: true } as const

/** Throws a RangeError for a zone that there is none of, and an Error for what is never due. */
export function timingOf(pattern: string, timezone: string | undefined): Timing {
  const tz = timezone ?? hostZone()
  // What it throws is what node-cron throws.
  new Intl.DateTimeFormat('en-US', { timeZone: tz })
  const expression = readableOf(pattern, expandedOf(parse(pattern)))
  const trigger = cron(expression, { ...RULES, tz })
  if (trigger.kind !== 'cron' || trigger.never)
    throw new Error('Could not find next matching date within reasonable time range')
  const shown = cron(expression, { ...RULES, dst: 'wall', tz })
  return {
    spec: { expression, ...RULES, tz },
    trigger,
    matches: (date) => shown.matches(Math.floor(date.getTime() / 1_000) * 1_000),
    next: (count) => trigger.nextN(Date.now(), count).map((at) => new Date(at)),
  }
}

export function hostZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** As it was written, where we read it alike: people find it in the store. */
function readableOf(pattern: string, expanded: string): string {
  try {
    const [written, meant] = [pattern.trim(), expanded].map((text) => cron(text, RULES))
    return written?.kind === 'cron' && meant?.kind === 'cron' && written.normalized === meant.normalized
      ? pattern.trim()
      : expanded
  } catch {
    return expanded
  }
}

function expandedOf({ second, minute, hour, dayOfMonth, month, dayOfWeek }: ParsedFields): string {
  const fields = [
    listOf(second, 60),
    listOf(minute, 60),
    listOf(hour, 24),
    listOf(dayOfMonth, 31),
    listOf(month, 12),
    listOf(dayOfWeek, 7),
  ]
  return fields.join(' ')
}

function listOf(values: readonly (number | string)[], size: number): string {
  const numbers = [...new Set(values.filter((value) => typeof value === 'number'))].sort((a, b) => a - b)
  if (numbers.length === size) return '*'
  return [...numbers, ...new Set(values.filter((value) => typeof value === 'string'))].join(',')
}
