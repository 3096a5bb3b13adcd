import type { ScheduleEnd, ScheduleFacts, Verdict } from './facts.ts'
import { durationsOf, isFarOutside, roughly } from './figures.ts'
import type { ThresholdOf } from './thresholds.ts'

/** The latest success took far longer than those before. */
export function slow({ ends, history }: ScheduleFacts, threshold: ThresholdOf<'slow'>): Verdict {
  const latest = latestOf(ends?.filter(({ ending }) => ending?.outcome === 'succeeded') ?? [])
  if (latest === undefined) return 'unknown'
  const ms = latest.endedAt! - latest.run!.startedAt
  if (ms < threshold.atLeastMs) return 'fine'
  if (history === null) return 'suspect'
  const others = durationsOf(history.filter(({ dueAt, nonce }) => dueAt !== latest.dueAt || nonce !== latest.nonce))
  return isFarOutside(ms, others, threshold)
    ? { text: `its last run took ${roughly(ms)}, far longer than usual` }
    : 'fine'
}

/** Of those that were run, the one that ended last. */
export function latestOf(ends: readonly ScheduleEnd[]): ScheduleEnd | undefined {
  const ran = ends.filter(({ run, endedAt }) => run !== null && endedAt !== null)
  return ran.toSorted((one, other) => other.endedAt! - one.endedAt!)[0]
}
