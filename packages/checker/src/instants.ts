import type { CronSpec, EverySpec, Instant, Spec } from './history.ts'
import { oracleExcluded, oracleFires } from './oracle/ask-oracle.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const MOST_CHUNKS = 5_000

/** The instants of a schedule from `from` to `to`, both included, within its start and end, ignoring its limit. */
export function instantsOf(spec: Spec, from: Instant, to: Instant): readonly Instant[] {
  const low = Math.max(from, spec.start ?? from)
  const high = Math.min(to, (spec.end ?? Number.POSITIVE_INFINITY) - 1)
  if (spec.trigger === null || low > high) return []
  switch (spec.trigger.kind) {
    case 'cron':
      return cronInstants(spec.trigger, low, high)
    case 'every':
      return everyInstants(spec.trigger, low, high)
    case 'at':
      return low <= spec.trigger.at && spec.trigger.at <= high ? [spec.trigger.at] : []
  }
}

/** The instants that the calendar of a schedule excludes, from `from` to `to`, both included, within its start and end. */
export function excludedOf({ trigger, start, end }: Spec, from: Instant, to: Instant): readonly Instant[] {
  const low = Math.max(from, start ?? from)
  const high = Math.min(to, (end ?? Number.POSITIVE_INFINITY) - 1)
  if (trigger?.kind !== 'cron' || trigger.calendar === undefined || low > high) return []
  return cronInstants(trigger, low, high, oracleExcluded)
}

export function isExcluded(spec: Spec, dueAt: Instant): boolean {
  return excludedOf(spec, dueAt, dueAt).length > 0
}

export function isInstant(spec: Spec, dueAt: Instant): boolean {
  return instantsOf(spec, dueAt, dueAt).length > 0
}

function everyInstants({ everyMs, anchor }: EverySpec, from: Instant, to: Instant): readonly Instant[] {
  const instants: Instant[] = []
  for (let at = anchor + Math.ceil((from - anchor) / everyMs) * everyMs; at <= to; at += everyMs) instants.push(at)
  return instants
}

/** Thousands of histories ask about the same few expressions and days. */
const chunks = new Map<string, readonly Instant[]>()

function cronInstants(trigger: CronSpec, from: Instant, to: Instant, ask = oracleFires): readonly Instant[] {
  const length = namesOneSecond(trigger.expression) ? DAY : HOUR
  const instants: Instant[] = []
  for (let chunk = Math.floor(from / length); chunk * length <= to; chunk++) {
    for (const at of chunkOf(trigger, chunk * length, length, ask)) if (at >= from && at <= to) instants.push(at)
  }
  return instants
}

function chunkOf(trigger: CronSpec, from: Instant, length: number, ask: typeof oracleFires): readonly Instant[] {
  const { expression, tz, dst, calendar } = trigger
  const key = `${ask.name}|${expression}|${tz}|${dst}|${calendar?.excluded}|${calendar?.days}|${from}`
  const known = chunks.get(key)
  if (known !== undefined) return known
  const found = ask(expression, { tz, dst, calendar }, from, from + length)
  if (chunks.size >= MOST_CHUNKS) chunks.clear()
  chunks.set(key, found)
  return found
}

function namesOneSecond(expression: string): boolean {
  const fields = expression.trim().split(/\s+/)
  return fields.length < 6 || /^\d+$/.test(fields[0]!)
}
