import { type Case, type Subject, standingOf, timesOfRun } from '../case.ts'
import { type Standing, timesOf } from '../definitions.ts'
import type { Story } from '../evidence.ts'
import {
  claimOf,
  type Instant,
  type LedgerFire,
  type LedgerRun,
  type Operation,
  type Outcome,
  type Spec,
} from '../history.ts'
import { instantsOf, isExcluded } from '../instants.ts'
import type { Times } from '../store-clock.ts'
import { capacityOf } from './c07-found-active.ts'
import { isCancelOf } from './let-go.ts'
import {
  countNewerLate,
  isBehindActive,
  isClaimedBefore,
  isPromisedTurn,
  isSurelyLate,
  lastTurnEnd,
  mayHaveNewerOpen,
} from './waiting.ts'

export const REASONS: Readonly<Record<Outcome, readonly string[]>> = {
  succeeded: ['completed'],
  failed: ['error', 'timeout', 'step-unknown', 'retry-too-late', 'input-invalid'],
  skipped: ['overlap', 'queue-full', 'paused', 'skipped-by-operator', 'calendar'],
  missed: ['late', 'superseded', 'too-late', 'while-retired'],
  abandoned: ['crashed', 'crash-budget', 'recovery-too-late', 'stopped'],
  cancelled: ['cancelled-by-operator', 'replaced', 'retired', 'removed'],
}

/** More fires of a schedule are never open. */
const MOST_OPEN = 1_000

/** The evidence that decides whether the reason of a fire can be true. */
interface Question {
  readonly judged: Case
  readonly subject: Subject
  readonly record: LedgerFire
  readonly story: Story | null
  /** Definitions that may have counted from when it was due to its end. */
  readonly specs: readonly Spec[]
  readonly mayBePaused: boolean
  /** When it ended. */
  readonly ended: Times
  /** Runs of the round that ended. */
  readonly runs: readonly LedgerRun[]
}

/** Whether the recorded reason for the end of a fire can be true. */
export function isTrue(judged: Case, subject: Subject, record: LedgerFire, story: Story | null): boolean {
  const { outcome, reason, endedAt } = record
  if (outcome === null || endedAt === null || reason === null) return false
  if (!REASONS[outcome]?.includes(reason)) return false
  const { specs, paused } = standingOf(judged, subject, record.dueAt, endedAt)
  const runs = story?.runs.filter(({ round }) => round === record.round) ?? []
  // Only what was never run is skipped or missed.
  if ((outcome === 'skipped' || outcome === 'missed') && runs.length > 0) return false
  const ended = judged.clock.timesOf(endedAt)
  return TESTS[reason]!({ judged, subject, record, story, specs, mayBePaused: paused !== 'no', ended, runs })
}

const TESTS: Readonly<Record<string, (question: Question) => boolean>> = {
  completed: () => true,
  error: isLastFailed,
  'step-unknown': isLastFailed,
  'input-invalid': isLastFailed,
  timeout: (question) => isLastFailed(question) && isTimeUp(question),
  'retry-too-late': ({ runs }) => runs.some(({ outcome }) => outcome === 'failed'),
  overlap: isOverlapped,
  'queue-full': isQueueFull,
  paused: (question) => question.mayBePaused && isLetGoInPause(question),
  'skipped-by-operator': (question) => isAsked(question, 'skip-next', ({ dueAt }) => dueAt === question.record.dueAt),
  // What came due while it was retired is recorded under the definition from before, when it comes back.
  calendar: ({ subject, specs, record, ended }) =>
    (isRetiredBy(subject, ended) ? subject.definitions.specs : specs).some((spec) => isExcluded(spec, record.dueAt)),
  late: (question) => isLate(question, 'skip'),
  superseded: (question) => isLate(question, 'latest') && isSuperseded(question),
  'too-late': (question) => (isLate(question, 'all') && isBeyondLimit(question)) || isBeyondWindow(question),
  // Recorded when the schedule came back with another timing.
  'while-retired': ({ subject, ended }) => isRetiredBy(subject, ended),
  crashed: (question) => isCrashed(question) && question.specs.some(({ guarantee }) => guarantee === 'at-most-once'),
  'crash-budget': (question) => {
    const crashes = question.runs.filter(({ reason }) => reason === 'crashed').length
    return isCrashed(question) && question.specs.some(({ retry }) => crashes > retry.crashes)
  },
  'recovery-too-late': (question) => {
    const { record, specs, runs } = question
    const age = record.endedAt! - record.dueAt
    // Given back, it waits like what crashed, and no longer.
    const isLost = isCrashed(question) || (runs.at(-1)?.reason === 'handed-back' && isHit(question))
    return isLost && specs.some(({ retry, misfire }) => age > (retry.deadlineMs ?? misfire.windowMs))
  },
  stopped: (question) => isHit(question) && question.specs.some(({ guarantee }) => guarantee === 'at-most-once'),
  'cancelled-by-operator': (question) => {
    const { record, runs } = question
    return isAsked(question, 'cancel', (cancel) => isCancelOf(cancel, record, runs.at(-1)?.token))
  },
  replaced: ({ judged, subject, record, ended, story, specs }) => {
    // What took its place may itself be over by the time that its last run has ended.
    const planned = judged.clock.timesOf(record.plannedAt)
    const isOther = subject.open.some(Math.min(planned.from, ended.from), ended.to, (other) => other !== story)
    const isReplaced =
      isOther || isBesideUnrecorded(subject, story, { from: planned.from, to: ended.to + judged.bounds.lateMs })
    return isReplaced && specs.some(({ overlap }) => overlap.kind === 'replace')
  },
  retired: (question) => isAsked(question, 'retire', () => true),
  removed: (question) => isAsked(question, 'remove', () => true),
}

/** Whether the schedule may have been retired before that. */
function isRetiredBy({ operations }: Subject, { to }: Times): boolean {
  return operations.some((operation) => operation.verb === 'retire' && timesOf(operation).from <= to)
}

/** Another fire started then whose record was deleted since: its handler is the only witness. */
function isBesideUnrecorded({ stories }: Subject, story: Story | null | undefined, { from, to }: Times): boolean {
  return [...stories.values()].some(
    (other) => other !== story && other.record === null && other.starts.some(({ at }) => from <= at && at <= to),
  )
}

function isLastFailed({ runs, record }: Question): boolean {
  const last = runs.at(-1)
  return last !== undefined && last.outcome === 'failed' && last.reason === record.reason
}

/** By the clock of its node, which may be a little fast; and as it was seen, where the store's clock was set in between. */
function isTimeUp({ judged, runs, specs, story }: Question): boolean {
  const run = runs.at(-1)!
  const { from, to } = timesOfRun(judged, run)
  const start = story?.starts.find(({ token }) => token === run.token)
  const seenMs = start === undefined ? 0 : (story?.finishes.get(run.token)?.at ?? start.at) - start.at
  const lastedMs = Math.max(to - from, seenMs)
  return specs.some(({ timeout }) => timeout.runMs !== null && timeout.runMs * 0.8 <= lastedMs)
}

/** As many others were active, or waited and were not late, as may be open at a time. */
function isOverlapped({ judged, subject, record, story, ended, specs }: Question): boolean {
  // Others may have been pruned since.
  if (record.dueAt <= subject.prunedTo) return true
  const mayBeHeld = (other: Story): boolean => other !== story && mayBePutBack(judged, other, record.endedAt!)
  const held = subject.open.count(ended.from, ended.to, mayBeHeld)
  const active = held + subject.active.count(ended.from, ended.to, (other) => other !== story)
  const open = subject.open.count(ended.from, ended.to, (other) => other !== story)
  const mayCount = (other: Story): boolean => other !== story && !isSurelyLate(judged, subject, other, record.endedAt!)
  return specs.some((spec) => {
    const { kind } = spec.overlap
    if (kind === 'queue' && active > 0 && open > 1) return true
    if ((kind === 'skip' || kind === 'allow') && active >= capacityOf(spec)) return true
    if (kind === 'replace' || kind === 'queue-all' || spec.misfire.late === 'all') return false
    const isBusy = kind === 'queue' && isBehindActive(subject, story, record.endedAt!)
    return !isBusy && subject.open.count(ended.from, ended.to, mayCount) >= capacityOf(spec)
  })
}

/**
 * A run of it may have been claimed ahead and held it until then: one that never started leaves no trace but the due time of its fire
 * as the time of planning. Something was done to its node.
 */
export function mayBePutBack({ clock, fleet, bounds: { claimAheadMs = 0 } }: Case, story: Story, at: Instant): boolean {
  const { record, dueAt } = story
  if (claimAheadMs === 0 || record?.round !== 1 || record.plannedAt !== dueAt || isClaimedBefore(story, at))
    return false
  const [from, to] = [clock.timesOf(dueAt).from, clock.timesOf(at).to]
  return fleet.mayHavePutBack(from - claimAheadMs, to)
}

/** A run of it may have been claimed ahead, before the pause began: a pause counts for the fires after that one. */
export function mayBePutBackInPause(judged: Case, subject: Subject, story: Story): boolean {
  const standing = standingWhenPutBack(judged, subject, story)
  return standing !== null && standing.paused !== 'yes'
}

/**
 * What the schedule may have been when a run of the fire was claimed ahead and put back: pauses and new definitions count for the fires
 * after that one. `null`: it cannot have been put back.
 */
export function standingWhenPutBack(judged: Case, { definitions }: Subject, story: Story): Standing | null {
  if (!mayBePutBack(judged, story, story.dueAt)) return null
  const { from } = judged.clock.timesOf(story.dueAt)
  return definitions.during({ from: from - (judged.bounds.claimAheadMs ?? 0), to: from })
}

/** As many wait as may, besides the active one; or there are as many as a schedule can have. */
function isQueueFull({ judged, subject, record, ended, story, specs }: Question): boolean {
  const open = subject.open.count(ended.from, ended.to, (other) => other !== story)
  if (open >= MOST_OPEN || (open > 0 && judged.clock.wasSetBack)) return true
  const active = isBehindActive(subject, story, record.endedAt!) ? 1 : 0
  return specs.some(({ overlap }) => overlap.kind === 'queue-all' && open >= overlap.limit + active)
}

/** By something that may have ended the pause, or by the pause that a schedule makes itself. */
function isLetGoInPause(question: Question): boolean {
  const { judged, subject, record, specs, ended } = question
  const due = judged.clock.timesOf(record.dueAt)
  if (specs.some(({ pauseAfter }) => pauseAfter !== null)) return true
  return subject.operations.some((operation) => {
    const { from, to } = timesOf(operation)
    if (from > ended.to || (operation.verb !== 'pause' && to < due.from)) return false
    if (operation.verb === 'pause' || operation.verb === 'resume') return isLetGo(question, operation.missed)
    return operation.verb === 'remove' || operation.verb === 'retire'
  })
}

/** Of a stretch that is looked at when it is over: whether enough due times follow that this one is not to run. */
function isLetGo({ judged, subject, record, specs, ended }: Question, choice: Spec['misfire']['late']): boolean {
  if (choice === 'skip' || judged.clock.wasSetBack) return true
  if (subject.open.count(ended.from, ended.to) >= MOST_OPEN) return true
  const last = record.untilAt ?? record.dueAt
  return specs.some((spec) => {
    const newer = instantsOf(spec, last + 1, record.endedAt!).length
    return newer >= (choice === 'latest' ? 1 : spec.misfire.limit)
  })
}

/** Of a late fire: whether as many newer ones as its policy keeps are late, too. */
function isBeyondLimit(question: Question): boolean {
  if (isLetGo(question, 'all')) return true
  const { subject, record, specs } = question
  const last = record.untilAt ?? record.dueAt
  const graceMs = Math.min(...specs.map(({ misfire }) => misfire.graceMs))
  // A waiting fire keeps its policy when the definition changes, and fires of the new definition count for its limit.
  const newer = countNewerLate(subject, last, record.endedAt!, graceMs)
  return specs.some(({ misfire }) => misfire.late === 'all' && newer >= misfire.limit)
}

/** A newer fire stands in for it: one that is open, or one that a later step of planning decides about. */
function isSuperseded(question: Question): boolean {
  const { judged, subject, record } = question
  if (judged.clock.wasSetBack) return true
  return mayHaveNewerOpen(subject, record.untilAt ?? record.dueAt, record.endedAt!) || isDecidedLater(question)
}

/**
 * Whether a newer instant that was late, too, was planned in a later step: a step plans a bounded number of instants. Overlap does
 * not end such an instant.
 */
function isDecidedLater({ subject, record, specs }: Question): boolean {
  const last = record.untilAt ?? record.dueAt
  const grace = Math.min(...specs.map(({ misfire }) => misfire.graceMs))
  const isNewer = ({ nonce, dueAt, plannedAt, reason }: LedgerFire): boolean => {
    const isLate = dueAt > last && record.endedAt! - dueAt > grace && plannedAt > record.endedAt!
    return nonce === '' && isLate && reason !== 'overlap' && reason !== 'queue-full'
  }
  if (record.plannedAt !== record.endedAt) return false
  if (subject.ranges.some(isNewer)) return true
  return [...subject.stories.values()].some((story) => story.record !== null && isNewer(story.record))
}

/** Noticed later than the grace after it was ready, and skipped by its policy. */
function isLate(question: Question, late: Spec['misfire']['late']): boolean {
  const lateness = latenessOf(question)
  return question.specs.some(({ misfire }) => misfire.late === late && lateness > misfire.graceMs)
}

function isBeyondWindow(question: Question): boolean {
  const lateness = latenessOf(question)
  return question.specs.some(({ misfire }) => lateness > misfire.windowMs && lateness > misfire.graceMs)
}

/** Of the last one of a range, and of what may have been taken out of one, only the instant is known for certain. */
function latenessOf({ record, subject, story, specs, judged }: Question): number {
  const isSplit = subject.operations.some(({ verb }) => verb === 'backfill' || verb === 'retry')
  const isSingle = record.untilAt === null && !isSplit
  const lateness = record.endedAt! - (isSingle ? record.readyAt : (record.untilAt ?? record.dueAt))
  const hasWaited = isSingle && record.plannedAt < record.endedAt! && !judged.clock.wasSetBack
  // It waited behind an active fire, as its policy promises.
  const isOwed = hasWaited && specs.every((spec) => isPromisedTurn(spec, subject) && capacityOf(spec) === 1)
  if (!isOwed) return lateness
  if (isBehindActive(subject, story, record.endedAt!)) return 0
  // What was claimed in the same millisecond may have been claimed by this very decision, and have ended after it.
  const turnEnd = lastTurnEnd(subject, story, record.endedAt!, record.endedAt! - 1)
  return turnEnd > record.plannedAt ? Math.min(lateness, record.endedAt! - turnEnd) : lateness
}

function isCrashed(question: Question): boolean {
  return question.runs.at(-1)?.reason === 'crashed' && isHit(question)
}

/** Something happened to the node of the last run while it had it. */
function isHit({ judged, runs, story }: Question): boolean {
  const last = runs.at(-1)
  return last !== undefined && isRunHit(judged, last, story)
}

export function isRunHit({ clock, fleet, nodes }: Case, run: LedgerRun, story: Story | null): boolean {
  const node = story?.starts.find(({ token }) => token === run.token)?.node ?? nodes.get(run.instance) ?? null
  const to = run.endedAt === null ? Number.POSITIVE_INFINITY : clock.timesOf(run.endedAt).to
  return fleet.wasHit(node, clock.timesOf(claimOf(run)).from, to)
}

/** It was requested between the planning of the fire and its end. */
function isAsked<Verb extends Operation['verb']>(
  { judged, subject, record, ended }: Question,
  verb: Verb,
  test: (operation: Extract<Operation, { readonly verb: Verb }>) => boolean,
): boolean {
  const planned = judged.clock.timesOf(record.plannedAt)
  return subject.operations.some((operation) => {
    const { from, to } = timesOf(operation)
    if (operation.verb !== verb || from > ended.to || to < planned.from) return false
    return test(operation as Extract<Operation, { readonly verb: Verb }>)
  })
}
