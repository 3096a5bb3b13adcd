import { oracleExcluded, oracleFires } from '../../../packages/checker/src/oracle/ask-oracle.ts'
import type { Definition, Instant } from '../../../packages/cronce/src/model/schedule.ts'
import type { TriggerData } from '../../../packages/cronce/src/trigger/trigger.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** The instants of a definition in [from, to), by the oracle, which shares nothing with the engine. */
export function instantsIn({ trigger, start, end }: Definition, from: Instant, to: Instant): Instant[] {
  if (trigger === null) return []
  const low = Math.max(from, start ?? from)
  const high = Math.min(to, end ?? to)
  if (low >= high) return []
  switch (trigger.kind) {
    case 'at':
      return trigger.at >= low && trigger.at < high ? [trigger.at] : []
    case 'every': {
      const { everyMs, anchor } = trigger
      const found: Instant[] = []
      for (let at = anchor + Math.ceil((low - anchor) / everyMs) * everyMs; at < high; at += everyMs) found.push(at)
      return found
    }
    case 'cron':
      return cronInstants(trigger, low, high)
  }
}

/** What the calendar of a definition excludes in [from, to). */
export function excludedIn({ trigger, start, end }: Definition, from: Instant, to: Instant): Instant[] {
  const low = Math.max(from, start ?? from)
  const high = Math.min(to, end ?? to)
  if (trigger?.kind !== 'cron' || trigger.calendar === undefined || low >= high) return []
  return cronInstants(trigger, low, high, oracleExcluded)
}

const chunks = new Map<string, readonly Instant[]>()

/** In chunks that are remembered: the same expressions come up all the time. */
function cronInstants(
  trigger: Extract<TriggerData, { readonly kind: 'cron' }>,
  from: Instant,
  to: Instant,
  ask = oracleFires,
): Instant[] {
  const { expression, tz, dst, calendar } = trigger
  const size = expression.split(' ').length > 5 ? HOUR : DAY
  const found: Instant[] = []
  for (let low = Math.floor(from / size) * size; low < to; low += size) {
    const key = `${ask.name} ${expression} ${tz} ${dst} ${calendar?.excluded} ${calendar?.days} ${low}`
    let chunk = chunks.get(key)
    if (chunk === undefined) {
      chunk = ask(expression, { tz, dst, calendar }, low, low + size)
      if (chunks.size > 5_000) chunks.clear()
      chunks.set(key, chunk)
    }
    let index = lowerBound(chunk, from)
    for (; index < chunk.length && chunk[index]! < to; index++) found.push(chunk[index]!)
  }
  return found
}

/** The index of the first one that is not before `at`. */
function lowerBound(sorted: readonly Instant[], at: Instant): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle]! < at) low = middle + 1
    else high = middle
  }
  return low
}
