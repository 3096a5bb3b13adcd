import type { LedgerFire, LedgerRun } from '../history.ts'
import type { Report } from '../report.ts'
import { PROPERTIES, type Property, type Violation } from '../verdict.ts'
import { about, type Chapter } from './chapter.ts'
import { judgeInstants } from './judge-instants.ts'
import { judgeOverdue } from './judge-overdue.ts'
import { judgeRecords } from './judge-records.ts'
import { judgeRetired } from './judge-retired.ts'
import { judgeActive, judgeRuns } from './judge-runs.ts'
import type { LedgerSubject, LedgerVerdict, Stretch } from './subject.ts'

/** Whether the records of a schedule can be true, and are complete. Every reported violation is real. */
export function judgeLedger(subject: LedgerSubject, stretch: Stretch): LedgerVerdict {
  const violations: Violation[] = []
  const report: Report = (property, { schedule, dueAt = null }, message, evidence) => {
    violations.push({ property, basis: 'order', message, schedule, dueAt, evidence })
  }
  const isWithin = ({ dueAt, untilAt }: { dueAt: number; untilAt?: number | null }): boolean =>
    dueAt <= stretch.to && (untilAt ?? dueAt) >= stretch.from
  const fires = subject.fires.filter(isWithin)
  const runs = subject.runs.filter(isWithin)
  const chapters = chaptersOf({ ...subject, fires, runs }, report)
  const expected = judgeInstants(subject, stretch, report)
  for (const chapter of chapters) judgeRecords(subject, chapter, report)
  judgeRuns({ ...subject, runs }, chapters, report)
  judgeActive(subject, chapters, report)
  const order = Object.keys(PROPERTIES) as Property[]
  violations.sort((a, b) => order.indexOf(a.property) - order.indexOf(b.property) || (a.dueAt ?? 0) - (b.dueAt ?? 0))
  const byOutcome: Record<string, number> = {}
  for (const { outcome, count } of fires) byOutcome[outcome ?? 'open'] = (byOutcome[outcome ?? 'open'] ?? 0) + count
  return {
    violations,
    counts: {
      fires: fires.length,
      instants: fires.reduce((sum, { count }) => sum + count, 0),
      runs: runs.length,
      expected,
      retried: chapters.filter((chapter) => chapter.runs.length > 1).length,
      byOutcome,
    },
    overdue: judgeOverdue(subject, stretch),
    retired: judgeRetired(subject, stretch),
  }
}

function chaptersOf({ schedule, fires, runs, rule, readAt }: LedgerSubject, report: Report): readonly Chapter[] {
  const chapters = new Map<string, { fire: LedgerFire; runs: LedgerRun[] }>()
  for (const fire of fires) {
    const key = keyOf(fire)
    const other = chapters.get(key)
    if (other === undefined) chapters.set(key, { fire, runs: [] })
    else report('C10', fire, `${about(fire)} is on record twice.`, [other.fire, fire])
  }
  // Expired records are pruned, fires and runs not at the same moment.
  const keptSince = rule?.keptSince ?? readAt
  for (const run of runs) {
    const chapter = chapters.get(keyOf(run))
    if (chapter !== undefined) chapter.runs.push(run)
    else if (run.dueAt > keptSince && run.startedAt < readAt) {
      report('C9', { schedule, dueAt: run.dueAt }, `Run ${run.token} of ${about(run)} belongs to no fire on record.`, [
        run,
      ])
    }
  }
  return [...chapters.values()].map(({ fire, runs: own }) => ({ fire, runs: own.sort(byToken) }))
}

function keyOf({ dueAt, nonce }: { readonly dueAt: number; readonly nonce: string }): string {
  return `${dueAt} ${nonce}`
}

function byToken(a: LedgerRun, b: LedgerRun): number {
  const [one, other] = [BigInt(a.token), BigInt(b.token)]
  return one < other ? -1 : one > other ? 1 : 0
}
