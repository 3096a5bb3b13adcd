import type { FireRecord } from '../model/record.ts'
import type { Instant } from '../model/schedule.ts'
import { timelineOf } from '../trigger/from-data.ts'
import type { Timeline } from '../trigger/trigger.ts'

/** The records of the instants in a stretch. */
export interface Ledger {
  find(dueAt: Instant): FireRecord | undefined
  /** The parts take the place of the original. */
  replace(record: FireRecord, by: readonly FireRecord[]): void
}

export function ledgerOf(existing: readonly FireRecord[]): Ledger {
  const singles = new Map<Instant, FireRecord>()
  const ranges: FireRecord[] = []
  const add = (record: FireRecord): void => {
    if (record.nonce !== '') return
    if (record.range === null) singles.set(record.dueAt, record)
    else ranges.push(record)
  }
  existing.forEach(add)
  return {
    find: (dueAt) => singles.get(dueAt) ?? ranges.find((record) => covers(record, dueAt)),
    replace(record, by) {
      const index = ranges.indexOf(record)
      if (index >= 0) ranges.splice(index, 1)
      by.forEach(add)
    },
  }
}

/** Whether the record covers an instant, alone or in its range: a range need not cover every instant between its ends. */
export function covers(record: Pick<FireRecord, 'dueAt' | 'range'>, dueAt: Instant): boolean {
  if (record.range === null) return record.dueAt === dueAt
  if (dueAt < record.dueAt || dueAt > record.range.untilAt) return false
  return timelineOf(record.range.trigger).matches(dueAt)
}

/** The rest of a range before and after one of its instants. Together they count one less. */
export function splitRange(
  record: FireRecord,
  dueAt: Instant,
): { readonly before: FireRecord | null; readonly after: FireRecord | null } {
  const { range } = record
  if (range === null) return { before: null, after: null }
  const timeline = timelineOf(range.trigger)
  const next = timeline.next(dueAt)
  const firstAfter = next !== null && next <= range.untilAt ? next : null
  const rest = range.count - 1
  const countBefore = dueAt === record.dueAt ? 0 : firstAfter === null ? rest : countTo(timeline, record, dueAt, rest)
  const countAfter = rest - countBefore
  const untilBefore = Math.max(timeline.prev(dueAt) ?? record.dueAt, record.dueAt)
  return {
    before: countBefore === 0 ? null : part(record, record.dueAt, untilBefore, countBefore),
    after: countAfter === 0 || firstAfter === null ? null : part(record, firstAfter, range.untilAt, countAfter),
  }
}

/** Newer zone data may count differently than when the range was written. The sum must not change, hence the bounds. */
function countTo(timeline: Timeline, record: FireRecord, dueAt: Instant, most: number): number {
  let count = 1
  for (let at = timeline.next(record.dueAt); at !== null && at < dueAt && count < most; at = timeline.next(at)) count++
  return count
}

function part(record: FireRecord, dueAt: Instant, untilAt: Instant, count: number): FireRecord {
  const readyAt = record.readyAt - record.dueAt + dueAt
  const range = count === 1 || record.range === null ? null : { ...record.range, untilAt, count }
  return { ...record, dueAt, readyAt, range }
}
