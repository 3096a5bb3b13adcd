import { type Case, type Subject, standingOf } from '../case.ts'
import { timesOf } from '../definitions.ts'
import type { Story } from '../evidence.ts'
import type { LedgerRun, Spec } from '../history.ts'
import { claimText, fireText, type Report } from '../report.ts'
import type { Times } from '../store-clock.ts'
import { firstReadyAt, isClaimedBefore, isPromisedTurn, lastTurnEnd } from './waiting.ts'

/**
 * A run that starts later than the grace after it was ready has its cause on record, and the cause is true. A first run that is late
 * is one that the misfire policy keeps. All of it by the times that the store wrote down.
 */
export function judgeLateStarts(judged: Case, subject: Subject, report: Report): void {
  if (judged.clock.wasSetBack) return
  for (const story of subject.stories.values()) {
    for (const run of story.runs) {
      const { readyAt, cause } = run
      const { specs } = standingOf(judged, subject, story.dueAt, run.startedAt)
      if (readyAt === undefined || cause === undefined || specs.length === 0) continue
      judgeCause(judged, subject, story, { ...run, readyAt, cause }, specs, report)
      judgeKept(judged, subject, story, { ...run, readyAt, cause }, report)
    }
  }
}

type ToldRun = LedgerRun & Required<Pick<LedgerRun, 'readyAt' | 'cause'>>

function judgeCause(
  judged: Case,
  subject: Subject,
  story: Story,
  run: ToldRun,
  specs: readonly Spec[],
  report: Report,
): void {
  const lateMs = run.startedAt - run.readyAt
  const graces = specs.map(({ misfire }) => misfire.graceMs)
  const late = `${fireText(story)} was ${claimText(run)}, ${lateMs} ms after it was ready`
  if (run.cause === null) {
    if (lateMs > Math.max(...graces)) report('C11', story, `${late}, and no cause is on record.`, [run])
    return
  }
  const isTrue = lateMs > Math.min(...graces) && (TESTS[run.cause]?.(judged, subject, story, run, graces) ?? false)
  if (!isTrue) report('C10', story, `${late}. The cause on record is ${run.cause}, which is not true.`, [run])
}

type Test = (judged: Case, subject: Subject, story: Story, run: ToldRun, graces: readonly number[]) => boolean

const TESTS: Readonly<Record<string, Test>> = {
  recovered: (_judged, _subject, _story, { attempt }) => attempt > 1,
  asked: (judged, subject, story, run) => {
    const { record, nonce } = story
    if (nonce !== '' || run.round > 1 || record === null || record.round > 1) return true
    return record.origin !== 'scheduled' || mayBePaused(judged, subject, story, run)
  },
  pause: (judged, subject, story, run) => run.attempt === 1 && mayBePaused(judged, subject, story, run),
  turn: ({ clock }, subject, story, { readyAt, startedAt, attempt }) => {
    const [from, to] = [clock.timesOf(readyAt).from, clock.timesOf(startedAt).to]
    return (
      attempt === 1 && (subject.active.some(from, to, (other) => other !== story) || story.dueAt <= subject.prunedTo)
    )
  },
  'caught-up': (judged, subject, { record }, run, graces) => {
    const { readyAt, attempt, round } = run
    if (attempt > 1 || round > 1) return false
    if (wasRetired(judged, subject, run)) return true
    return record === null || record.round > 1 || record.plannedAt - readyAt > Math.min(...graces)
  },
  room: (_judged, _subject, { record }, { readyAt, attempt, round }, graces) => {
    if (attempt > 1 || round > 1) return false
    return record === null || record.round > 1 || record.plannedAt - readyAt <= Math.max(...graces)
  },
}

/** Whether the schedule may have been retired while the fire waited. */
function wasRetired({ clock }: Case, { operations }: Subject, { readyAt, startedAt }: ToldRun): boolean {
  const [first, last] = [clock.timesOf(readyAt).from, clock.timesOf(startedAt).to]
  return operations.some((retire) => {
    if (retire.verb !== 'retire' || timesOf(retire).from > last) return false
    const { to } = timesOf(retire)
    const hadReturned = ({ from, to: by }: Times): boolean => from > to && by < first
    return !operations.some((operation) => operation.verb === 'define' && hadReturned(timesOf(operation)))
  })
}

function mayBePaused(judged: Case, subject: Subject, { dueAt }: Story, { startedAt }: ToldRun): boolean {
  return standingOf(judged, subject, dueAt, startedAt).paused !== 'no'
}

/** The first claim of a fire that was planned by its schedule, where it is sure what it was judged by. */
function judgeKept(judged: Case, subject: Subject, story: Story, run: ToldRun, report: Report): void {
  if (!isFirstPlanned(story, run)) return
  const { specs, paused } = standingOf(judged, subject, story.dueAt, run.startedAt)
  const [spec] = specs
  if (spec === undefined || specs.length > 1 || paused !== 'no' || spec.overlap.kind === 'queue-all') return
  const turnEnd = isPromisedTurn(spec, subject) ? turnEndOf(subject, story, run) : run.readyAt
  const lateMs = run.startedAt - Math.max(run.readyAt, turnEnd)
  if (lateMs <= spec.misfire.graceMs) return
  const late = `${fireText(story)} was ${claimText(run)}, ${lateMs} ms late`
  if (spec.misfire.late === 'skip') report('C11', story, `${late}; the misfire policy is skip.`, [run])
  const newer = spec.misfire.late === 'latest' ? findNewerWaiting(subject, story, run) : undefined
  if (newer === undefined) return
  report('C11', story, `${late}, while ${fireText(newer)} waited; the misfire policy is latest.`, [run, newer.record!])
}

/** When the last turn before the run ended. The fire that had it may have ended first, and have been pruned. */
function turnEndOf(subject: Subject, story: Story, { startedAt, cause }: ToldRun): number {
  const known = lastTurnEnd(subject, story, startedAt)
  return cause === 'turn' ? Math.max(known, subject.prunedTo) : known
}

/** Whether the run is the first of a fire that its schedule planned. */
function isFirstPlanned({ record, nonce }: Story, { attempt, round, cause }: ToldRun): boolean {
  if (attempt > 1 || round > 1 || nonce !== '' || cause === 'asked') return false
  return record !== null && record.origin === 'scheduled' && record.round <= 1
}

function findNewerWaiting({ stories }: Subject, story: Story, { startedAt }: ToldRun): Story | undefined {
  return [...stories.values()].find((other) => {
    const { nonce, dueAt, record } = other
    if (nonce !== '' || dueAt <= story.dueAt || record === null || record.origin !== 'scheduled') return false
    if (record.round > 1 || record.plannedAt >= startedAt || firstReadyAt(other) > startedAt) return false
    return (record.endedAt === null || record.endedAt > startedAt) && !isClaimedBefore(other, startedAt)
  })
}
