import type { Case, Subject } from '../case.ts'
import { timesOf } from '../definitions.ts'
import type { Story } from '../evidence.ts'
import { backfillSpecs } from '../expected.ts'
import { type Instant, type LedgerFire, type LedgerRun, longestMs, type Start } from '../history.ts'
import { isExcluded, isInstant } from '../instants.ts'
import { matchWindows } from '../match-windows.ts'
import { claimText, fireText, iso, type Judge, type Report } from '../report.ts'
import type { StoreClock } from '../store-clock.ts'
import { mayBePutBackInPause, standingWhenPutBack } from './reasons.ts'
import { isRetryOf } from './rounds-apart.ts'

/** C4 and C5: nothing runs that should not, and nothing too early. And C10's other half: nothing else is on record. */
export const judgeWhen: Judge = (judged, report) => {
  for (const subject of judged.schedules) {
    judgeByHand(judged, subject, report)
    for (const story of subject.stories.values()) {
      const isKnown = story.nonce !== '' || isOnSchedule(judged, subject, story)
      if (!isKnown) reportPhantom(story, 'is not an instant of the schedule', report)
      judgeForbidden(judged, subject, story, report)
      judgeEarly(judged, story, report)
      judgeStopping(judged, story, report)
    }
  }
}

function reportPhantom(story: Story, why: string, report: Report): void {
  const hasRun = story.starts.length > 0 || story.runs.length > 0
  const message = `${fireText(story)} ${why}, but ${hasRun ? 'was run' : 'is on record'}.`
  const evidence = [...story.starts.slice(0, 1), ...(story.record === null ? [] : [story.record])]
  report(hasRun ? 'C4' : 'C10', story, message, evidence)
}

function isOnSchedule(judged: Case, subject: Subject, story: Story): boolean {
  const { clock, final } = judged
  const { dueAt, record } = story
  if (subject.expected.has(dueAt)) return true
  const { operations, definitions } = subject
  // Skipped ahead of time it is on record, also if the rule has changed by then.
  if (operations.some((operation) => operation.verb === 'skip-next' && operation.dueAt === dueAt)) return true
  // Claimed ahead by a rule that was changed before it was due.
  if (record !== null && record.plannedAt < dueAt) {
    const { specs } = definitions.during(clock.timesOf(record.plannedAt))
    if (specs.some((spec) => isInstant(spec, dueAt))) return true
  }
  // Or claimed ahead by that rule, and put back.
  if (standingWhenPutBack(judged, subject, story)?.specs.some((spec) => isInstant(spec, dueAt))) return true
  // An instant of the rule that counted until the schedule was retired, recorded when it came back with another one.
  if (record?.reason === 'while-retired') return definitions.specs.some((spec) => isInstant(spec, dueAt))
  // What a calendar excludes is on record, and an operator may have asked for a round of it.
  const isLeft =
    record?.reason === 'calendar' || operations.some((operation) => isRetryOf(operation, { dueAt, nonce: '' }))
  if (isLeft && definitions.specs.some((spec) => isExcluded(spec, dueAt))) return true
  // What came after the last read was not looked at.
  if (clock.timesOf(dueAt).to > final.at) return definitions.specs.some((spec) => isInstant(spec, dueAt))
  return backfillSpecs(subject, definitions, dueAt).length > 0
}

/** Each manual fire needs a request: with its key, or without one about when it is due. */
function judgeByHand({ clock, final }: Case, { id, operations, stories, prunedTo }: Subject, report: Report): void {
  const triggers = operations.filter((operation) => operation.verb === 'trigger')
  const keys = new Set(triggers.map(({ nonce }) => nonce))
  const keyless = triggers.filter(({ nonce }) => nonce === null)
  const byHand = [...stories.values()].filter(({ nonce }) => nonce !== '')
  const unasked = byHand.filter(({ nonce }) => !keys.has(nonce))
  const windows = keyless.map((trigger) => {
    const { low, high } = clock.shown(trigger.at, timesOf(trigger).to)
    return { from: low, to: high }
  })
  const { missed, extra } = matchWindows(
    windows,
    unasked.map(({ dueAt }) => dueAt),
  )
  for (const index of extra) reportPhantom(unasked[index]!, 'was not asked for', report)
  const known = new Set(byHand.map(({ nonce }) => nonce))
  const lost = [
    ...missed.map((index) => keyless[index]!),
    ...triggers.filter(({ nonce }) => nonce !== null && !known.has(nonce)),
  ]
  for (const trigger of lost) {
    const isOver = trigger.result === 'ok' && trigger.endedAt !== null && trigger.endedAt <= final.at
    if (!isOver || clock.shown(trigger.at, trigger.at).low <= prunedTo) continue
    report('C1', { schedule: id }, `${id} was triggered by hand, which was answered, and is on no record.`, [trigger])
  }
}

/** It was skipped, by an operator or by a pause, and was not asked for again. */
function judgeForbidden(judged: Case, subject: Subject, story: Story, report: Report): void {
  const [start] = story.starts
  if (start === undefined || story.nonce !== '') return
  if (subject.expected.get(story.dueAt)?.duty !== 'forbidden') return
  const isAskedFor = subject.operations.some((operation) => {
    if (operation.verb === 'backfill') return operation.from <= story.dueAt && story.dueAt <= operation.to
    return isRetryOf(operation, story)
  })
  if (isAskedFor || isClaimedBeforePause(judged, subject, story)) return
  const message = `${fireText(story)} was run on ${start.node}, although it was to be skipped.`
  report('C4', story, message, [start])
}

/** A pause counts for the fires after the one that is claimed ahead. */
function isClaimedBeforePause(judged: Case, subject: Subject, story: Story): boolean {
  const { definitions, operations } = subject
  const { dueAt, runs } = story
  const isSkipped = operations.some(
    (operation) => operation.verb === 'skip-next' && operation.dueAt === dueAt && operation.result === 'ok',
  )
  if (isSkipped) return false
  const claimedAt = runs[0]?.claimedAt
  if (claimedAt === undefined) return mayBePutBackInPause(judged, subject, story)
  return definitions.during(judged.clock.timesOf(claimedAt)).paused !== 'yes'
}

/** An instance that was asked to stop claims nothing more, unless the request did not reach it. */
function judgeStopping({ fleet, bounds }: Case, story: Story, report: Report): void {
  for (const start of story.starts) {
    const asked = fleet.stopOf(start.node)
    if (start.at <= asked + longestMs(bounds)) continue
    const isKept = fleet.faults.some(({ node, at, until }) => {
      return (node === null || node === start.node) && until > asked && at <= start.at
    })
    if (isKept) continue
    const message = `${fireText(story)} was started on ${start.node}, which was asked to stop long before that.`
    report('C4', story, message, [start], 'time')
  }
}

function judgeEarly({ clock }: Case, story: Story, report: Report): void {
  const { dueAt, starts, runs, record } = story
  const due = clock.timesOf(dueAt)
  for (const start of starts) {
    if (start.at < due.from && !isStartOfAhead(clock, story, start, dueAt)) {
      const message = `${fireText(story)} was started ${due.from - start.at} ms early (token ${start.token}).`
      report('C5', story, message, [start])
    } else if (!clock.hadReached(dueAt, start.at)) {
      const earlyMs = dueAt - clock.shown(start.at, start.at).high
      const message = `${fireText(story)} was started ${earlyMs} ms early, by a clock that had been set back more than a second before (token ${start.token}).`
      report('C5', story, message, [start], 'time')
    }
  }
  for (const run of runs) {
    if (run.startedAt >= dueAt) continue
    const message = `${fireText(story)} was ${claimText(run)}, ${dueAt - run.startedAt} ms early.`
    report('C5', story, message, [run])
  }
  if (record !== null) judgeReadiness(story, record, report)
}

/**
 * Whether a run that was claimed ahead started by what the store's clock showed within the last second, before it was set back: P4 in
 * docs/guarantees.md.
 */
export function isStartOfAhead(clock: StoreClock, { runs }: Story, { token, at }: Start, instant: Instant): boolean {
  const run = runs.find((one) => one.token === token)
  // If a fire was run again, its record no longer shows whether the first run was claimed ahead.
  const mayBeAhead = run?.claimedAt !== undefined || (run?.attempt === 1 && runs.length > 1)
  return mayBeAhead && clock.hadReached(instant, at)
}

/** Claims go by the time from which a fire is ready. It is on record for the run that ended the fire. */
function judgeReadiness(story: Story, record: LedgerFire, report: Report): void {
  const last = story.runs.at(-1)
  if (last === undefined || !hasEndedFire(last, record)) return
  if (last.startedAt < story.dueAt || last.startedAt >= record.readyAt) return
  const message = `${fireText(story)} was ${claimText(last)}, but not ready before ${iso(record.readyAt)}.`
  report('C5', story, message, [record, last])
}

/** Else the fire waited once more, and ended then. */
export function hasEndedFire(run: LedgerRun, record: LedgerFire): boolean {
  const isSameTime = run.endedAt !== null && run.endedAt === record.endedAt && run.round === record.round
  return isSameTime && run.outcome === record.outcome && run.reason === record.reason
}
