import type { LedgerSubject, Overdue, Stretch } from './subject.ts'

/**
 * What is due and on no record yet. That is no fault of the records, which end there: somebody may come to it still. But nobody
 * may say of them that they are complete.
 */
export function judgeOverdue({ rule, readAt, clockErrorMs }: LedgerSubject, stretch: Stretch): Overdue | null {
  if (rule === null || rule.nextAt === null || rule.graceMs === null) return null
  const { nextAt } = rule
  const to = Math.min(stretch.to, readAt - rule.graceMs - clockErrorMs)
  if (nextAt > to) return null
  // Of very many the latest are counted.
  const from = Math.max(nextAt, stretch.from, rule.keptSince)
  if (from > to) return null
  const count = rule.instants === null ? null : rule.instants(from, to).length
  if (count === 0) return null
  return { since: nextAt, count, isMore: from > nextAt, byMs: readAt - Math.max(nextAt, stretch.from) }
}
