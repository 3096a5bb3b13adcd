import { type Case, countTimed, type Subject } from '../case.ts'
import { keyOf, type Story } from '../evidence.ts'
import type { Instant, LedgerRun, Spec } from '../history.ts'
import { instantsOf, isInstant } from '../instants.ts'
import { fireText, iso, type Judge, type Report } from '../report.ts'
import { longestRunMs } from './let-go.ts'

/** A fire whose nodes died twice waits for a node that runs nothing, but no longer than this. */
const SUSPECT_PATIENCE_MS = 61_000

/** C12: looks at the last read, if nothing has been wrong for long enough. */
export const judgeRecovery: Judge = (judged, report) => {
  const { final, fleet } = judged
  // A fault counts as lasting for as long as it takes to recover from it.
  if (!fleet.isCalm(final.at, final.at)) return
  const gone = new Set(final.instances.filter(({ state }) => state === 'dead' || state === 'left').map(({ id }) => id))
  for (const subject of judged.schedules) {
    countTimed(judged, 'C12')
    for (const story of subject.stories.values()) {
      if (!story.isInFinal) continue
      for (const run of story.runs) if (run.endedAt === null) judgeRun(judged, subject, story, run, gone, report)
      judgeWaiting(judged, subject, story, report)
    }
    judgeMark(judged, subject, report)
  }
}

function judgeRun(
  judged: Case,
  subject: Subject,
  story: Story,
  run: LedgerRun,
  gone: ReadonlySet<string>,
  report: Report,
): void {
  const why = gone.has(run.instance) ? `${run.instance} is gone` : whyOver(judged, subject, story, run)
  if (why === null || judged.clock.timesOf(run.startedAt).to > judged.final.at - judged.bounds.recoveryMs) return
  report('C12', story, `${fireText(story)}: run ${run.token} is still open, though ${why}.`, [run], 'time')
}

/** Why a run should have been ended by now, independent of what its instance reports. */
function whyOver(judged: Case, subject: Subject, story: Story, run: LedgerRun): string | null {
  const { fleet, final, bounds } = judged
  const overdue = final.at - bounds.recoveryMs
  const start = story.starts.find(({ token }) => token === run.token)
  const finish = story.finishes.get(run.token)
  if (start === undefined) return 'it was never started'
  if (fleet.endOf(start.node) <= overdue) return `${start.node} has ended`
  if (finish !== undefined && finish.at <= overdue) return `its handler ${finish.how} long ago`
  const longest = longestRunMs(judged, subject, story, final.storeAt)
  return start.at + longest <= overdue ? 'its time is up' : null
}

/** A fire that could have started long ago, and that nothing blocked. */
function judgeWaiting(judged: Case, subject: Subject, story: Story, report: Report): void {
  const { clock, fleet, final, bounds } = judged
  const { record, runs } = story
  if (record === null || record.endedAt !== null || runs.some(({ endedAt }) => endedAt === null)) return
  const isSuspect = runs.filter(({ reason }) => reason === 'crashed').length >= 2
  const patience = bounds.recoveryMs + (isSuspect ? SUSPECT_PATIENCE_MS : 0)
  const ready = clock.timesOf(record.readyAt).to
  if (ready + patience > final.at) return
  const since = final.at - bounds.recoveryMs
  const { specs, mayBeAbsent, paused } = subject.definitions.during({ from: since, to: final.at })
  const [spec] = specs
  if (
    spec === undefined ||
    mayBeAbsent ||
    paused !== 'no' ||
    specs.some(({ jobLimit, group }) => jobLimit !== null || group !== null)
  )
    return
  if (
    !fleet.canRun(subject.id, spec.job, since, final.at) ||
    subject.open.some(since, final.at, (other) => other !== story)
  )
    return
  const message = `${fireText(story)} is ready since ${iso(record.readyAt)}, has nothing in its way, and does not run.`
  report('C12', story, message, [record], 'time')
}

/** The schedule knows what comes next: neither long past, nor further ahead than it should be. */
function judgeMark(judged: Case, subject: Subject, report: Report): void {
  const { fleet, final, bounds } = judged
  const { id, row, definitions } = subject
  const since = final.at - bounds.recoveryMs
  const { specs, mayBeAbsent, paused } = definitions.during({ from: since, to: final.at + bounds.recoveryMs })
  const [spec] = specs
  if (spec === undefined || specs.length > 1 || mayBeAbsent) return
  if (row === null) {
    if (!mayFinish(spec)) report('C12', { schedule: id }, `${id} is gone, though it was not removed.`, [])
    return
  }
  if (paused !== 'no' || !fleet.canRun(subject.id, spec.job, since, final.at)) return
  const overdue = final.storeAt - bounds.recoveryMs - spec.jitterMs
  if (row.nextAt !== null && row.nextAt <= overdue) {
    const message = `${id} has not gone past ${iso(row.nextAt)}, at ${iso(final.storeAt)}.`
    report('C12', { schedule: id, dueAt: row.nextAt }, message, [], 'time')
    return
  }
  if (!mayFinish(spec)) judgeNext(judged, subject, spec, row.nextAt, report)
}

/** A schedule without a trigger, with one instant or with a limit comes to an end by itself. */
function mayFinish({ trigger, limit }: Spec): boolean {
  return trigger === null || trigger.kind === 'at' || limit !== null
}

/** The next instant on record is one of the schedule's, and leaves none out. */
function judgeNext(judged: Case, subject: Subject, spec: Spec, nextAt: Instant | null, report: Report): void {
  const { id } = subject
  const expected = nextInstant(subject, spec, judged.final.storeAt)
  if (nextAt !== null && !isInstant(spec, nextAt)) {
    const message = `${id} is to fire at ${iso(nextAt)}, which is not one of its instants.`
    report('C12', { schedule: id, dueAt: nextAt }, message, [])
  } else if (expected !== null && (nextAt === null || nextAt > expected) && !judged.clock.wasSetBack) {
    const message = `${id} is to fire at ${iso(nextAt)} next, and would leave out ${iso(expected)}.`
    report('C12', { schedule: id, dueAt: expected }, message, [])
  }
}

const DAY_MS = 86_400_000

/** The first instant after the read that is not on record ahead of time. Looked for up to a day ahead. */
function nextInstant({ stories }: Subject, spec: Spec, now: Instant): Instant | null {
  const span = spec.trigger?.kind === 'every' ? Math.min(DAY_MS, spec.trigger.everyMs * 200) : DAY_MS
  return instantsOf(spec, now + 1, now + span).find((dueAt) => !stories.has(keyOf({ dueAt, nonce: '' }))) ?? null
}
