import { type Case, prepare } from './case.ts'
import type { Entry, History } from './history.ts'
import { judgeMisses } from './properties/c01-no-miss.ts'
import { judgeDuplicates } from './properties/c02-no-duplicate.ts'
import { judgeEffects } from './properties/c03-c08-effects.ts'
import { judgeWhen } from './properties/c04-c05-when.ts'
import { judgeLateness } from './properties/c06-not-late.ts'
import { judgeOverlap } from './properties/c07-overlap.ts'
import { judgeLedger } from './properties/c09-ledger-truth.ts'
import { judgeAccounting } from './properties/c10-accounting.ts'
import { judgePolicy } from './properties/c11-policy.ts'
import { judgeRecovery } from './properties/c12-recovery.ts'
import { judgePauses } from './properties/c13-pause.ts'
import { judgeMonotone } from './properties/c14-monotone.ts'
import type { Judge, Report } from './report.ts'
import { type Counts, PROPERTIES, type Property, type Verdict, type Violation } from './verdict.ts'

const JUDGES: readonly Judge[] = [
  judgeMisses,
  judgeDuplicates,
  judgeEffects,
  judgeWhen,
  judgeOverlap,
  judgeLedger,
  judgeAccounting,
  judgePolicy,
  judgeRecovery,
  judgePauses,
  judgeMonotone,
]

/**
 * Whether a scheduler that keeps its promises can have produced this history. Open questions are decided in favor of
 * the scheduler, so every reported violation is real.
 */
export function judge(history: History): Verdict {
  const judged = prepare(history)
  const violations: Violation[] = []
  const report: Report = (property, { schedule, dueAt = null }, message, evidence, basis = 'order') => {
    violations.push({ property, basis, message, schedule, dueAt, evidence })
  }
  for (const look of JUDGES) look(judged, report)
  const lateness = judgeLateness(judged, report)
  const order = Object.keys(PROPERTIES) as Property[]
  violations.sort((a, b) => order.indexOf(a.property) - order.indexOf(b.property))
  return { violations, counts: countsOf(judged, lateness) }
}

function countsOf({ history, schedules, final, fleet, timed }: Case, lateness: number[]): Counts {
  const expected = schedules.flatMap((subject) => [...subject.expected.values()])
  const withDuty = (duty: string): number => expected.filter((instant) => instant.duty === duty).length
  const countKind = (kind: Entry['kind']): number => history.entries.filter((entry) => entry.kind === kind).length
  const stories = schedules.flatMap((subject) => [...subject.stories.values()])
  const effects = stories.flatMap((story) => story.effects)
  const accepted = effects.filter((effect) => effect.accepted).length
  return {
    schedules: schedules.length,
    instants: expected.length,
    required: withDuty('required'),
    optional: withDuty('optional'),
    forbidden: withDuty('forbidden'),
    starts: countKind('start'),
    finishes: countKind('finish'),
    restarted: stories.filter(({ starts }) => starts.length > 1).length,
    effects: { accepted, refused: effects.length - accepted },
    byOutcome: tally(final.fires.map(({ outcome, count }) => [outcome ?? 'open', count])),
    byReason: tally(final.fires.map(({ reason, count }) => [reason ?? 'open', count])),
    faults: tally(fleet.faults.map(({ fault }) => [fault, 1])),
    timed: Object.fromEntries(timed),
    latenessMs: percentiles(lateness.sort((a, b) => a - b)),
  }
}

function tally(counted: readonly (readonly [name: string, count: number])[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const [name, count] of counted) counts[name] = (counts[name] ?? 0) + count
  return counts
}

function percentiles(sorted: readonly number[]): Counts['latenessMs'] {
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1]!
  return sorted.length === 0 ? null : { p50: at(0.5), p99: at(0.99), max: at(1) }
}
