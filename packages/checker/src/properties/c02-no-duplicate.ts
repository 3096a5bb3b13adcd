import type { Case, Subject } from '../case.ts'
import { compareTokens, type Story } from '../evidence.ts'
import { claimOf, type LedgerRun, type Start } from '../history.ts'
import { fireText, type Judge, type Report } from '../report.ts'
import { hasLetGo } from './let-go.ts'
import { areRoundsApart, isRetryOf, roundOf } from './rounds-apart.ts'

export const judgeDuplicates: Judge = (judged, report) => {
  for (const subject of judged.schedules) {
    judgeTokens(subject, report)
    judgeKeys(subject, report)
    for (const story of subject.stories.values()) {
      judgeStarts(judged, subject, story, report)
      judgeRuns(judged, story, report)
    }
  }
}

/** A token is one run's, in the whole life of a schedule. */
function judgeTokens({ id, stories }: Subject, report: Report): void {
  const startOf = new Map<string, Start>()
  for (const { starts } of stories.values()) {
    for (const start of starts) {
      const first = startOf.get(start.token)
      startOf.set(start.token, start)
      if (first === undefined) continue
      const before = `${fireText(first)} on ${first.node}`
      const message = `${fireText(start)} was started on ${start.node} with token ${start.token}, as was ${before}.`
      report('C2', { schedule: id, dueAt: start.dueAt }, message, [first, start])
    }
  }
}

/** By hand, one fire for each key, as long as the record of the first one is kept. */
function judgeKeys({ stories, keptMs }: Subject, report: Report): void {
  const first = new Map<string, Story>()
  for (const story of [...stories.values()].sort((a, b) => a.dueAt - b.dueAt)) {
    const earlier = first.get(story.nonce)
    first.set(story.nonce, story)
    if (earlier === undefined || story.nonce === '') continue
    const { record } = earlier
    const keptTo = record === null ? earlier.dueAt : (record.endedAt ?? Number.POSITIVE_INFINITY)
    if (story.dueAt - keptTo > keptMs) continue
    const evidence = [record, story.record].filter((one) => one !== null)
    report('C2', story, `${fireText(story)} is the second one of its key, after ${fireText(earlier)}.`, evidence)
  }
}

function judgeStarts(judged: Case, subject: Subject, story: Story, report: Report): void {
  for (const [index, later] of story.starts.entries()) {
    const earlier = story.starts[index - 1]
    if (earlier === undefined || earlier.token === later.token) continue
    const why = faultOfStart(judged, subject, story, earlier, later)
    if (why === null) continue
    const what = `was started on ${later.node} (token ${later.token})`
    const message = `${fireText(story)} ${what} ${why} (token ${earlier.token}).`
    report('C2', story, message, [earlier, later])
  }
}

function faultOfStart(judged: Case, subject: Subject, story: Story, earlier: Start, later: Start): string | null {
  if (isSecondStart(judged, subject, story, earlier, later)) return 'again, though it must start at most once'
  if (compareTokens(earlier.token, later.token) > 0 || earlier.attempt >= later.attempt) {
    return isHeldUp(judged, story, earlier, later)
      ? null
      : `as attempt ${later.attempt} after attempt ${earlier.attempt}`
  }
  return isTakenFromLive(judged, subject, story, earlier, later) ? `while ${earlier.node} was well and held it` : null
}

/** The one with the lower token was kept from its first line by something that was done to its node after its claim. */
function isHeldUp({ clock, fleet }: Case, { runs }: Story, earlier: Start, later: Start): boolean {
  const run = runs.find(({ token }) => token === later.token)
  const claimed = run === undefined ? earlier.at : clock.timesOf(claimOf(run)).from
  return later.attempt < earlier.attempt && fleet.wasHit(later.node, Math.min(claimed, earlier.at), later.at)
}

/** A further round needs a request, by a caller that knew that it had started. */
function isSecondStart(judged: Case, subject: Subject, story: Story, earlier: Start, later: Start): boolean {
  const { clock } = judged
  const times = { from: clock.timesOf(story.dueAt).from, to: later.at }
  const { specs } = subject.definitions.during(times)
  if (specs.length === 0 || specs.some(({ guarantee }) => guarantee !== 'at-most-once')) return false
  const [first, second] = [roundOf(story, earlier), roundOf(story, later)]
  if (first !== null && first === second) return true
  return !subject.operations.some((operation) => {
    return operation.verb === 'retry' && operation.force && isRetryOf(operation, story) && operation.at <= later.at
  })
}

function isTakenFromLive(judged: Case, subject: Subject, story: Story, earlier: Start, later: Start): boolean {
  const finish = story.finishes.get(earlier.token)
  // A handler that has not ended holds its fire, even after a request to stop.
  const over = { token: earlier.token, at: finish?.at ?? Number.POSITIVE_INFINITY }
  if (areRoundsApart(subject, story, over, later)) return false
  if (finish !== undefined && finish.how === 'threw' && finish.at <= later.at) return false
  return !hasLetGo(judged, subject, story, earlier, later.at)
}

/** The same by the ledger: an attempt is claimed after the one before it had ended, and none after a success. */
function judgeRuns({ clock }: Case, story: Story, report: Report): void {
  for (const [index, later] of story.runs.entries()) {
    const earlier = story.runs[index - 1]
    if (earlier === undefined) continue
    const why = faultOfSuccession(clock.isBefore, earlier, later)
    if (why === null) continue
    const message = `${fireText(story)}: run ${later.token} was claimed ${why} run ${earlier.token}.`
    report('C2', story, message, [earlier, later])
  }
}

function faultOfSuccession(isBefore: Case['clock']['isBefore'], earlier: LedgerRun, later: LedgerRun): string | null {
  if (earlier.endedAt === null) return 'beside the open'
  if (isBefore(later.startedAt, earlier.endedAt)) return 'before the end of'
  return earlier.outcome === 'succeeded' && earlier.round === later.round ? 'after the success of' : null
}
