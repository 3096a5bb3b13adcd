import type { LedgerFire, LedgerRun } from '../history.ts'
import { REASONS } from '../properties/reasons.ts'
import type { Report } from '../report.ts'
import { about, type Chapter } from './chapter.ts'
import type { LedgerSubject } from './subject.ts'

/** The record of a fire matches the records of its runs. */
export function judgeRecords(subject: LedgerSubject, chapter: Chapter, report: Report): void {
  const { fire, runs } = chapter
  const complain = (property: 'C9' | 'C10', what: string): void => {
    report(property, { schedule: subject.schedule, dueAt: fire.dueAt }, `${about(fire)} ${what}`.replace(/^t/, 'T'), [
      fire,
      ...runs.slice(-2),
    ])
  }
  const why = faultOfEnding(fire, subject.clockErrorMs)
  if (why !== null) complain('C10', why)
  for (const run of runs) {
    if (!isEndingOfRun(run))
      complain('C10', `has run ${run.token}, which is ${run.outcome} (${run.reason}): a run can't end that way.`)
  }
  // While it is open, or if it ended while the records were read, the two may be of different moments.
  if (fire.outcome === null || fire.endedAt === null || fire.endedAt >= subject.settledBefore) return
  const fault = faultOfStory(fire, runs)
  if (fault !== null) complain('C9', fault)
}

function faultOfEnding(fire: LedgerFire, clockErrorMs: number): string | null {
  const { outcome, reason, endedAt, plannedAt, untilAt, attempt } = fire
  if ((outcome === null) !== (endedAt === null)) return 'has an end without an outcome, or an outcome without an end.'
  if (outcome === null) return reason === null ? null : `is open, and has the reason ${reason}.`
  if (REASONS[outcome]?.includes(reason ?? '') !== true)
    return `is ${outcome} (${reason}): this outcome can't have that reason.`
  if (endedAt !== null && endedAt < plannedAt - clockErrorMs) return 'ended before it was planned.'
  return untilAt !== null && attempt > 0 ? 'stands for many instants, and was run.' : null
}

/** Another run may follow one that was given back, or whose fire is tried again. */
function isEndingOfRun({ outcome, reason, endedAt }: LedgerRun): boolean {
  if (outcome === null) return endedAt === null && reason === null
  if (endedAt === null) return false
  return (outcome === 'cancelled' && reason === 'handed-back') || REASONS[outcome]?.includes(reason ?? '') === true
}

function faultOfStory(fire: LedgerFire, runs: readonly LedgerRun[]): string | null {
  const tries = runs.reduce((most, { attempt }) => Math.max(most, attempt), 0)
  if (tries !== fire.attempt)
    return `says that it had ${fire.attempt} tries; the last one on record is ${tries === 0 ? 'none' : tries}.`
  const open = runs.find(({ outcome }) => outcome === null)
  if (open !== undefined) return `has ended, and its run ${open.token} is still going on.`
  const round = runs.filter((run) => run.round === fire.round)
  return FAULTS[fire.outcome ?? 'cancelled'](round)
}

/** What contradicts each outcome in the runs of the fire's last round. `null`: nothing. */
const FAULTS: {
  readonly [Name in NonNullable<LedgerFire['outcome']>]: (round: readonly LedgerRun[]) => string | null
} = {
  succeeded: (round) => (round.at(-1)?.outcome === 'succeeded' ? null : 'succeeded, and its last run did not.'),
  skipped: (round) => (round.length === 0 ? null : 'is skipped, and was run.'),
  missed: (round) => (round.length === 0 ? null : 'is missed, and was run.'),
  failed: (round) =>
    faultOfSuccess('failed', round) ??
    (round.some(({ outcome }) => outcome === 'failed') ? null : 'failed, and no run of it did.'),
  abandoned: (round) =>
    faultOfSuccess('was abandoned', round) ?? (round.length > 0 ? null : 'was abandoned, and never begun.'),
  cancelled: (round) => faultOfSuccess('was cancelled', round),
}

function faultOfSuccess(ending: string, round: readonly LedgerRun[]): string | null {
  const succeeded = round.find(({ outcome }) => outcome === 'succeeded')
  return succeeded === undefined ? null : `${ending}, and its run ${succeeded.token} succeeded.`
}
