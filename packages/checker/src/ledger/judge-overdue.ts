import type { LedgerSubject, Overdue, Stretch } from './subject.ts'

/**
 * What is due and on no record yet. The records are not wrong, they end there: an instance may still plan it. But they
 * must not be called complete.
 */
export function judgeOverdue({ rule, readAt, clockErrorMs }: LedgerSubject, stretch: Stretch): Overdue | null {
  if (rule === null || rule.nextAt === null || rule.graceMs === null) return null
  const { nextAt } = rule
  const to = Math.min(stretch.to, readAt - rule.graceMs - clockErrorMs)
  if (nextAt > to) return null
  // If there are very many, the latest are counted.
  const from = Math.max(nextAt, stretch.from, rule.keptSince)
  if (from > to) return null
  const count = rule.instants === null ? null : rule.instants(from, to).length
  if (count === 0) return null
  return { since: nextAt, count, isMore: from > nextAt, byMs: readAt - Math.max(nextAt, stretch.from) }
}
