import { counted } from '../../words.ts'
import type { ScheduleEnd, ScheduleFacts, Verdict } from './facts.ts'
import { roughly } from './figures.ts'
import type { ThresholdOf } from './thresholds.ts'

/** Due times were not run after a long outage, or several in a row because an earlier fire was still active. */
export function missed({ ends, history, schedule }: ScheduleFacts, { afterMs, skips }: ThresholdOf<'missed'>): Verdict {
  if (ends === null || ends.length === 0) return 'unknown'
  const after = ends.filter((end) => isMissed(end) && end.endedAt! - end.dueAt > afterMs)
  if (after.length > 0) {
    const count = after.reduce((sum, { range }) => sum + (range?.count ?? 1), 0)
    const longestMs = Math.max(...after.map(({ dueAt, endedAt }) => endedAt! - dueAt))
    return {
      text: `${counted(count, 'due time was', 'due times were')} missed in an outage of up to ${roughly(longestMs)}`,
    }
  }
  if (!ends.some(({ ending }) => ending?.reason === 'overlap' || ending?.reason === 'queue-full')) return 'fine'
  if (history === null) return 'suspect'
  // A fire that runs has no end yet: what was skipped before it is not in the same row.
  const active = schedule.open.filter(({ state }) => state !== 'waiting').map(({ dueAt }) => dueAt)
  const since = Math.max(Number.NEGATIVE_INFINITY, ...active)
  const latest = history.slice(0, skips)
  const isSkipped =
    latest.length === skips &&
    latest.every(({ reason, dueAt }) => (reason === 'overlap' || reason === 'queue-full') && dueAt > since)
  return isSkipped
    ? { text: `the last ${skips} due times were skipped, because an earlier fire is still active` }
    : 'fine'
}

/** What came due while its job was not deployed was not expected to run. */
function isMissed({ ending }: ScheduleEnd): boolean {
  return ending?.outcome === 'missed' && ending.reason !== 'while-retired'
}
