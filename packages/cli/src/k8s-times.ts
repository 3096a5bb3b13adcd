import { type CronTrigger, cron, type EveryTrigger, stats } from 'cronce/cron'
import { hasChanges, offsetAt } from './zone.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
const YEAR_MS = 366 * DAY_MS

/**
 * The next clock change at which Kubernetes fires at other instants than this trigger, as text; `null` if there is none within a
 * year. Kubernetes (robfig/cron) skips local times that do not exist, and fires in both passes of those that exist twice.
 */
export function differingClockChange(due: CronTrigger, now: number): string | null {
  if (!hasChanges(due.tz) || due.never || (due.gap === 'skip' && due.overlap === 'both')) return null
  const theirs = cron(due.normalized, { tz: due.tz, dst: 'wall' })
  const differs = ({ at }: { readonly at: number }): boolean =>
    instantsAround(due, at).join() !== instantsAround(theirs, at).join()
  const change = stats(due, { from: now, to: now + YEAR_MS }).changes.find(differs)
  if (change === undefined) return null
  const local = new Date(change.at + offsetAt(due.tz, change.at))
  return `${local.toISOString().slice(0, 10)} in ${due.tz}`
}

/** No clock has changed by more than three hours since zones have names, but for changes of the date line. */
function instantsAround(trigger: CronTrigger | EveryTrigger, change: number): number[] {
  const instants: number[] = []
  const to = change + 3 * HOUR_MS
  let at = trigger.next(change - 3 * HOUR_MS)
  while (at !== null && at <= to) {
    instants.push(at)
    at = trigger.next(at)
  }
  return instants
}

/**
 * The longest time between two consecutive instants, in whole days and at least one. The latest missed instant is never older
 * than this. Every gap longer than a day contains one of the daily probes; four years contain every kind of year.
 */
export function longestGapDays(trigger: CronTrigger | EveryTrigger, now: number): number {
  if (trigger.kind === 'every') return Math.max(1, Math.ceil(trigger.everyMs / DAY_MS))
  let longest = DAY_MS
  for (let probe = now; probe < now + 4 * YEAR_MS; probe += DAY_MS) {
    const before = trigger.prev(probe + 1)
    const after = trigger.next(probe)
    if (before !== null && after !== null) longest = Math.max(longest, after - before)
  }
  return Math.ceil(longest / DAY_MS)
}
