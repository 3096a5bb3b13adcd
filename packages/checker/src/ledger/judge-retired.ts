import type { Instant, LedgerFire } from '../history.ts'
import type { LedgerSubject, RetiredStretch, Retirement, Stretch } from './subject.ts'

/**
 * Every stretch in which the schedule was retired, with the instants that its present rule has there. A scheduler that keeps its
 * promises may leave them on no record, but a reader of "all is on record" must know about them.
 */
export function judgeRetired(subject: LedgerSubject, stretch: Stretch): readonly RetiredStretch[] {
  const { retirements, readAt } = subject
  return retirements
    .filter(({ from, to }) => from <= stretch.to && (to ?? readAt) >= stretch.from)
    .map((retirement) => ({ ...retirement, ...instantsWithin(subject, retirement, stretch) }))
}

/**
 * From the first instant after the retirement to the last one before the return. `null`: the rule or the records do not
 * show it.
 */
function instantsWithin(
  { rule, fires, otherFires = [], readAt }: LedgerSubject,
  retirement: Retirement,
  stretch: Stretch,
): Pick<RetiredStretch, 'due' | 'unrecorded'> {
  if (rule === null || rule.instants === null) return { due: null, unrecorded: null }
  // The ledger of the job's current name shows what is on record since.
  if (retirement.renamedTo !== undefined && retirement.to === null) return { due: null, unrecorded: null }
  const from = Math.max(retirement.from + 1, stretch.from, rule.keptSince + 1)
  const to = Math.min(retirement.to ?? readAt, stretch.to, readAt)
  if (from > to) return { due: null, unrecorded: null }
  const due = rule.instants(from, to)
  const isRecorded = recordsWithin(retirement.renamedTo === undefined ? fires : [...fires, ...otherFires], from, to)
  return { due: due.length, unrecorded: due.filter((at) => !isRecorded(at)).length }
}

function recordsWithin(fires: readonly LedgerFire[], from: Instant, to: Instant): (at: Instant) => boolean {
  const own = fires.filter(({ nonce, dueAt, untilAt }) => nonce === '' && dueAt <= to && (untilAt ?? dueAt) >= from)
  const singles = new Set(own.filter(({ untilAt }) => untilAt === null).map(({ dueAt }) => dueAt))
  const ranges = own.filter(({ untilAt }) => untilAt !== null)
  return (at) => singles.has(at) || ranges.some(({ dueAt, untilAt }) => dueAt <= at && at <= untilAt!)
}
