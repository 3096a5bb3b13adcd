import type { FireEnd } from '../../model/record.ts'
import type { ScheduleEnd, ScheduleFacts, Verdict } from './facts.ts'
import { isFarOutside, roughly } from './figures.ts'
import { latestOf } from './slow.ts'
import type { ThresholdOf } from './thresholds.ts'

/** The latest run of a due time started far later than those before. */
export function late({ ends, history, schedule }: ScheduleFacts, threshold: ThresholdOf<'late'>): Verdict {
  const latest = latestOf(ends?.filter(isJudged) ?? [])
  if (latest === undefined) return 'unknown'
  const ms = latest.run!.startedAt - latest.readyAt
  if (ms < threshold.atLeastMs) return 'fine'
  if (history === null) return 'suspect'
  const others = history
    .filter(({ dueAt }) => dueAt !== latest.dueAt)
    .flatMap((end) => lateness(end, schedule.policy.jitter.ms))
  return isFarOutside(ms, others, threshold) ? { text: `its last run started ${roughly(ms)} late` } : 'fine'
}

/** What a policy, a person or an earlier failure held back is not late. */
function isJudged({ kind, attempt, run }: ScheduleEnd): boolean {
  const isHeldBack =
    run?.cause === 'turn' || run?.cause === 'pause' || run?.cause === 'asked' || run?.cause === 'recovered'
  return kind === 'scheduled' && attempt === 1 && !isHeldBack
}

function lateness({ startedAt, dueAt, nonce, attempt }: FireEnd, jitterMs: number): readonly number[] {
  return startedAt === null || nonce !== '' || attempt !== 1 ? [] : [Math.max(0, startedAt - dueAt - jitterMs)]
}
