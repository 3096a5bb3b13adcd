import type { ScheduleFacts, Verdict } from './facts.ts'
import { durationsOf, quantile, roughly } from './figures.ts'
import type { ThresholdOf } from './thresholds.ts'

/** An instance ends a run that is past its timeout and grace; this much later none has. */
const SLACK_MS = 60_000

/** A run is open beyond its timeout and grace, or without a timeout for far longer than usual. */
export function stuck({ now, schedule, history }: ScheduleFacts, threshold: ThresholdOf<'stuck'>): Verdict {
  // A parked run has a deadline of its own.
  const running = schedule.open.filter(({ state }) => state === 'running' || state === 'cancelling')
  if (running.length === 0) return 'fine'
  const oldest = Math.min(...running.map(({ startedAt }) => startedAt ?? now))
  const ms = now - oldest
  const { runMs, graceMs } = schedule.policy.timeout
  const isStuck = ms > longestMs(runMs === null ? null : runMs + graceMs, [], threshold)
  if (!isStuck) return 'fine'
  if (runMs !== null) return { text: `a run is open for ${roughly(ms)}, its timeout is ${roughly(runMs)}` }
  if (history === null) return 'suspect'
  if (ms <= longestMs(null, durationsOf(history), threshold)) return 'fine'
  return { text: `a run is open for ${roughly(ms)}, without a timeout` }
}

/** How long a run may be open. `timeoutMs`: with its grace; `null`: it has none, and the usual durations decide. */
export function longestMs(
  timeoutMs: number | null,
  durations: readonly number[],
  { factor, atLeastMs }: ThresholdOf<'stuck'>,
): number {
  if (timeoutMs !== null) return timeoutMs + SLACK_MS
  return Math.max(atLeastMs, factor * quantile(durations, 0.99))
}
