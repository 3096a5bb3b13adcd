import type { Case, Subject } from '../case.ts'
import type { Story } from '../evidence.ts'
import { claimOf, type Instant, type LedgerFire, type LedgerRun, longestMs, type Start } from '../history.ts'
import { claimText, fireText, type Judge, type Report } from '../report.ts'
import { isStartOfAhead } from './c04-c05-when.ts'

export const judgeLedger: Judge = (judged, report) => {
  for (const subject of judged.schedules) {
    for (const story of subject.stories.values()) {
      const isPruned = !story.isInFinal && story.dueAt <= subject.prunedTo
      if (!isPruned) for (const start of story.starts) judgeStart(judged, story, start, report)
      for (const run of story.runs) judgeRun(judged, story, run, report)
      if (story.record !== null && story.isInFinal) judgeFire(judged, story, story.record, report)
    }
    judgePause(judged, subject, report)
  }
}

function judgeStart(judged: Case, story: Story, start: Start, report: Report): void {
  const { final, clock } = judged
  if (start.at > final.at) return
  const run = story.runs.find(({ token }) => token === start.token)
  if (run === undefined) {
    report(
      'C9',
      story,
      `${fireText(story)} was started on ${start.node} with token ${start.token}, of which the ledger does not know.`,
      [start],
    )
  } else if (run.attempt !== start.attempt) {
    const attempts = `attempt ${start.attempt}, and is attempt ${run.attempt} on record`
    const message = `${fireText(story)}: run ${start.token} was told to be ${attempts}.`
    report('C9', story, message, [start, run])
  } else if (start.at < clock.timesOf(run.startedAt).from && !isStartOfAhead(clock, story, start, run.startedAt)) {
    const message = `${fireText(story)} was started on ${start.node} before it was ${claimText(run)}.`
    report('C9', story, message, [start, run])
  } else if (run.endedAt !== null && isStartedAfter(judged, start, run, run.endedAt)) {
    const message = `${fireText(story)} was started on ${start.node} after its run ${run.token} had ended on record.`
    report('C9', story, message, [start, run], 'time')
  }
}

/** The longest time that the answer to a claim takes in virtual time, unless something is done to the node. */
const ANSWER_MS = 400

/** A run that is revoked while the answer to its claim is under way still starts: its node cannot know. */
function isStartedAfter({ clock, fleet, bounds }: Case, start: Start, run: LedgerRun, endedAt: Instant): boolean {
  const claimed = clock.timesOf(claimOf(run)).from
  const answerMs = bounds.starvedMs === null ? ANSWER_MS : longestMs(bounds)
  return start.at > clock.timesOf(endedAt).to + answerMs && !fleet.wasHit(start.node, claimed, start.at)
}

/** A run that is recorded as succeeded returned by then, or committed; one that is recorded as failed threw by then. */
function judgeRun({ clock, bounds }: Case, story: Story, run: LedgerRun, report: Report): void {
  const isSuccess = run.outcome === 'succeeded'
  if (run.endedAt === null || !(isSuccess || run.reason === 'error')) return
  const isCommitted = story.effects.some(
    ({ token, sink, accepted }) => token === run.token && sink === 'transaction' && accepted,
  )
  if (isSuccess && isCommitted) return
  const finish = story.finishes.get(run.token)
  const isSeen = finish?.how === (isSuccess ? 'returned' : 'threw')
  if (isSeen && clock.isReached(run.endedAt + (bounds.clockLagMs ?? 0), finish.at)) return
  const how = finish === undefined ? 'was not seen to end' : `${finish.how}${isSeen ? ' later' : ''}`
  const message = `${fireText(story)}: run ${run.token} ${run.outcome} on record, but its handler ${how}.`
  report('C9', story, message, finish === undefined ? [run] : [run, finish])
}

/** A fire agrees with its runs. Only what had ended before the read began is sure not to have moved during it. */
function judgeFire({ clock, final }: Case, story: Story, record: LedgerFire, report: Report): void {
  if (record.endedAt === null || clock.timesOf(record.endedAt).to >= final.at) return
  const runs = story.runs
  if (record.attempt !== runs.length || runs.some(({ attempt }, index) => attempt !== index + 1)) {
    const attempts = runs.map(({ attempt }) => attempt).join(', ') || 'none'
    report('C9', story, `${fireText(story)} counts ${record.attempt} attempts, and has these on record: ${attempts}.`, [
      record,
      ...runs,
    ])
    return
  }
  const last = runs.at(-1)
  const hasSucceeded = last !== undefined && last.round === record.round && last.outcome === 'succeeded'
  if (hasSucceeded === (record.outcome === 'succeeded')) return
  const run =
    last === undefined ? 'there was no run' : `its last run (token ${last.token}) is ${last.outcome ?? 'open'}`
  const message = `${fireText(story)} is ${record.outcome} on record, but ${run}.`
  report('C9', story, message, last === undefined ? [record] : [record, last])
}

function judgePause({ final, fleet, bounds }: Case, { id, row, definitions }: Subject, report: Report): void {
  // A pause that ends by itself does so at the next look.
  if (row === null || !fleet.isCalm(final.at, final.at)) return
  const { paused, mayBeAbsent } = definitions.during({ from: final.at, to: final.at + bounds.recoveryMs })
  const before = definitions.during({ from: final.at - bounds.recoveryMs, to: final.at })
  if (mayBeAbsent || before.paused !== paused || paused === 'maybe' || row.isPaused === (paused === 'yes')) return
  const canEnd = before.specs.some(({ job }) => fleet.canRun(id, job, final.at - bounds.recoveryMs, final.at))
  if (row.isPaused && !canEnd) return
  const message = row.isPaused
    ? `${id} is paused, though no pause was requested.`
    : `${id} is not paused, though it was paused.`
  report('C9', { schedule: id }, message, [], 'time')
}
