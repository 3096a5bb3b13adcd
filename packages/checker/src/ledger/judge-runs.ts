import { claimOf, type LedgerRun, withClaim } from '../history.ts'
import { claimText, iso, type Report } from '../report.ts'
import { about, type Chapter } from './chapter.ts'
import type { LedgerSubject } from './subject.ts'

/** Runs of a fire are tries one after the other, none before it was due, and tokens only grow. */
export function judgeRuns(subject: LedgerSubject, chapters: readonly Chapter[], report: Report): void {
  judgeTokens(subject, chapters, report)
  for (const { fire, runs } of chapters) {
    const place = { schedule: subject.schedule, dueAt: fire.dueAt }
    for (const [index, run] of runs.entries()) {
      if (run.startedAt < fire.dueAt) {
        report('C5', place, `Run ${run.token} was ${claimText(run)}, before it was due ${iso(fire.dueAt)}.`, [run])
      }
      const earlier = runs[index - 1]
      if (earlier === undefined) continue
      const why = faultOfSuccession(subject, earlier, run)
      if (why !== null)
        report('C2', place, `Of ${about(fire)}, run ${run.token} was claimed ${why} run ${earlier.token}.`, [
          earlier,
          run,
        ])
    }
  }
}

function faultOfSuccession({ rule, clockErrorMs }: LedgerSubject, earlier: LedgerRun, later: LedgerRun): string | null {
  if (earlier.endedAt === null) return 'beside the open'
  if (later.startedAt < earlier.endedAt - clockErrorMs) return 'before the end of'
  if (later.round < earlier.round) return 'in an earlier round than'
  if (later.attempt <= earlier.attempt) return `as try ${later.attempt}, not after try ${earlier.attempt}:`
  if (later.round !== earlier.round) return null
  if (earlier.outcome === 'succeeded') return 'after the success of'
  const isOnce = rule?.guarantee === 'at-most-once' && earlier.dueAt > rule.since && earlier.reason !== 'handed-back'
  return isOnce ? 'though it must start at most once, after' : null
}

/** In the whole life of a schedule. */
function judgeTokens(
  { schedule, runs, clockErrorMs }: LedgerSubject,
  chapters: readonly Chapter[],
  report: Report,
): void {
  const fires = new Map(chapters.flatMap(({ fire, runs: its }) => its.map((run) => [run.token, fire] as const)))
  const sorted = runs
    .map((run) => withClaim(run, fires.get(run.token) ?? null))
    .map((run) => ({ run, token: BigInt(run.token) }))
    .sort((a, b) => (a.token < b.token ? -1 : a.token > b.token ? 1 : 0))
  let latest: LedgerRun | null = null
  for (const [index, { run, token }] of sorted.entries()) {
    const before = sorted[index - 1]
    const place = { schedule, dueAt: run.dueAt }
    if (before !== undefined && before.token === token) {
      report('C2', place, `Token ${run.token} is that of two runs.`, [before.run, run])
    } else if (latest !== null && claimOf(run) < claimOf(latest) - clockErrorMs) {
      const message = `Run ${run.token} was ${claimText(run)}, before run ${latest.token} with the lower token.`
      report('C14', place, message, [latest, run])
    }
    if (latest === null || claimOf(run) > claimOf(latest)) latest = run
  }
}

function compareTokens(a: LedgerRun, b: LedgerRun): number {
  return BigInt(a.token) < BigInt(b.token) ? -1 : 1
}

/** Where fires are active one after the other: from the first run to the end, back-off included. */
export function judgeActive(subject: LedgerSubject, chapters: readonly Chapter[], report: Report): void {
  const { rule, readAt, clockErrorMs } = subject
  if (rule === null || !rule.oneAtATime) return
  const active = chapters
    .filter(
      ({ fire, runs }) =>
        fire.origin === 'scheduled' && fire.round === 1 && fire.plannedAt > rule.since && runs.length > 0,
    )
    .map(({ fire, runs }) => ({ fire, runs, from: runs[0]!.startedAt, to: fire.endedAt ?? readAt }))
    // Of two that were claimed in the same millisecond, the token tells which was first.
    .sort((a, b) => a.from - b.from || compareTokens(a.runs[0]!, b.runs[0]!))
  for (const [index, later] of active.entries()) {
    const earlier = active[index - 1]
    if (earlier === undefined || later.from >= earlier.to - clockErrorMs) continue
    const message =
      `${about(later.fire)} was begun at ${iso(later.from)} while ${about(earlier.fire)} was active.`.replace(/^t/, 'T')
    report('C7', { schedule: subject.schedule, dueAt: later.fire.dueAt }, message, [earlier.runs[0]!, later.runs[0]!])
  }
}
