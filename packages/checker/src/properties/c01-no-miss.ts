import { type Case, type Subject, standingOf } from '../case.ts'
import type { Story } from '../evidence.ts'
import { keyOf } from '../evidence.ts'
import type { Expected } from '../expected.ts'
import type { Instant, LedgerFire } from '../history.ts'
import { excludedOf } from '../instants.ts'
import { fireText, iso, type Judge, type Report } from '../report.ts'
import { isFreeToStart } from './in-the-way.ts'

/** C1, and the part of C10 about what is on no record at all. */
export const judgeMisses: Judge = (judged, report) => {
  for (const subject of judged.schedules) {
    judgeUnrecorded(subject, report)
    judgeExcluded(subject, report)
    for (const story of subject.stories.values()) {
      if (story.record === null || !isMissedForNothing(judged, subject, story.record, story)) continue
      const { dueAt, record } = story
      const message = `${fireText(record)} was missed (${record.reason}), though nothing kept the fleet from it.`
      report('C1', { schedule: subject.id, dueAt }, message, [record], 'time')
    }
    for (const range of subject.ranges) {
      if (!isMissedForNothing(judged, subject, range, null)) continue
      const until = `and up to ${iso(range.untilAt)}`
      const message = `${fireText(range)} ${until} was missed (${range.reason}), though nothing kept the fleet from it.`
      report('C1', { schedule: subject.id, dueAt: range.dueAt }, message, [range], 'time')
    }
  }
}

/** Instants that have passed, and are on no record. */
function judgeUnrecorded(subject: Subject, report: Report): void {
  const isOnRecord = recordLookup(subject)
  for (const instant of subject.expected.values()) {
    const { dueAt, isCertain, isClosed, duty } = instant
    if (isCertain && isClosed && isPassed(subject, dueAt) && !isOnRecord(instant)) {
      const runs = subject.stories.get(keyOf({ dueAt, nonce: '' }))?.finishes.size ?? 0
      const what = runs > 0 ? 'was run, but is on no record' : 'was not run, and is on no record'
      const property = duty === 'required' && runs === 0 ? 'C1' : 'C10'
      report(property, { schedule: subject.id, dueAt }, `${subject.id} due ${iso(dueAt)} ${what}.`, [])
    }
  }
}

/** What a calendar excludes is on record before a later fire is planned. Judged where the rule has never changed. */
function judgeExcluded(subject: Subject, report: Report): void {
  const { id, definitions, stories, ranges, prunedTo, operations } = subject
  const [spec] = definitions.specs
  const changes = operations.filter(({ verb }) => verb === 'define' || verb === 'remove' || verb === 'retire')
  if (spec === undefined || definitions.specs.length > 1 || changes.length > 1) return
  const planned = [...stories.values()].filter(({ record }) => record !== null && isPlannedInTurn(record))
  const last = planned.reduce((latest, { dueAt }) => Math.max(latest, dueAt), 0)
  const first = planned.reduce((earliest, { dueAt }) => Math.min(earliest, dueAt), last)
  for (const dueAt of excludedOf(spec, Math.max(first, prunedTo + 1), last)) {
    const isInRange = ranges.some((range) => range.dueAt <= dueAt && dueAt <= range.untilAt!)
    if (isInRange || stories.get(keyOf({ dueAt, nonce: '' }))?.record != null) continue
    report(
      'C10',
      { schedule: id, dueAt },
      `${id} on ${iso(dueAt)} is excluded by its calendar, and is on no record.`,
      [],
    )
  }
}

/** Not skipped ahead of time, and not filled in. */
function isPlannedInTurn({ origin, nonce, reason, plannedAt, dueAt }: LedgerFire): boolean {
  return origin === 'scheduled' && nonce === '' && reason !== 'skipped-by-operator' && plannedAt >= dueAt
}

/** The schedule has gone past this instant. One that no longer exists was settled before its removal. */
function isPassed({ row }: Subject, dueAt: Instant): boolean {
  return row === null || row.nextAt === null || dueAt < row.nextAt
}

function recordLookup({ stories, ranges, prunedTo }: Subject): (instant: Expected) => boolean {
  const sorted = ranges.toSorted((a, b) => a.dueAt - b.dueAt)
  let next = 0
  let coveredTo = Number.NEGATIVE_INFINITY
  return ({ dueAt }) => {
    for (; next < sorted.length && sorted[next]!.dueAt <= dueAt; next++) {
      coveredTo = Math.max(coveredTo, sorted[next]!.untilAt!)
    }
    if (dueAt <= prunedTo || dueAt <= coveredTo) return true
    return stories.get(keyOf({ dueAt, nonce: '' }))?.record !== null && stories.has(keyOf({ dueAt, nonce: '' }))
  }
}

/** Late, but it could have been on time: during its whole grace nothing was wrong and nothing blocked it. */
function isMissedForNothing(judged: Case, subject: Subject, record: LedgerFire, story: Story | null): boolean {
  if (record.outcome !== 'missed' || record.origin !== 'scheduled' || record.round > 1 || record.endedAt === null)
    return false
  const { specs, mayBeAbsent, paused } = standingOf(judged, subject, record.dueAt, record.endedAt)
  const [spec] = specs
  if (spec === undefined || specs.length > 1 || mayBeAbsent || paused !== 'no') return false
  const { graceMs } = spec.misfire
  if (graceMs < judged.bounds.lateMs) return false
  const { from, to } = judged.clock.timesOf(record.dueAt)
  const until = to + graceMs + spec.jitterMs
  return judged.fleet.isCalm(from, until) && isFreeToStart(judged, subject, spec, { from, to: until }, story)
}
