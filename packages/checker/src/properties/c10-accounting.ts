import { type Case, type Subject, standingOf } from '../case.ts'
import { keyOf, type Story } from '../evidence.ts'
import type { LedgerFire } from '../history.ts'
import { excludedOf, instantsOf } from '../instants.ts'
import { fireText, iso, type Judge, type Report } from '../report.ts'
import { isTrue } from './reasons.ts'

/** C10, but for what is on no record (see C1) and what should not be (see C4). */
export const judgeAccounting: Judge = (judged, report) => {
  for (const subject of judged.schedules) {
    for (const double of subject.doubles) {
      report('C10', double, `${fireText(double)} is on record twice.`, [double])
    }
    judgeRanges(judged, subject, report)
    for (const story of subject.stories.values()) {
      judgeReason(judged, subject, story, report)
      judgeVanished(judged, subject, story, report)
    }
  }
}

function judgeRanges(judged: Case, subject: Subject, report: Report): void {
  let previous: LedgerFire | null = null
  for (const range of subject.ranges.toSorted((a, b) => a.dueAt - b.dueAt)) {
    const text = `The record of ${subject.id} from ${iso(range.dueAt)} to ${iso(range.untilAt)}`
    judgeRange(judged, subject, range, text, report)
    // Ranges of different rules may interleave; those of one rule may not.
    if (previous !== null && range.dueAt <= previous.untilAt! && subject.definitions.specs.length === 1) {
      report('C10', range, `${text} overlaps the one from ${iso(previous.dueAt)} to ${iso(previous.untilAt)}.`, [
        previous,
        range,
      ])
    }
    previous = range
    if (!isTrue(judged, subject, range, null)) {
      report('C10', range, `${text} says ${range.outcome} (${range.reason}), which is not true.`, [range])
    }
  }
}

function judgeRange(judged: Case, subject: Subject, range: LedgerFire, text: string, report: Report): void {
  const { specs, mayBeAbsent } = standingOf(judged, subject, range.dueAt, range.untilAt!)
  const [spec] = specs
  if (spec === undefined || specs.length > 1 || mayBeAbsent || spec.limit !== null) return
  const instants = (range.reason === 'calendar' ? excludedOf : instantsOf)(spec, range.dueAt, range.untilAt!)
  const isBounded = instants[0] === range.dueAt && instants.at(-1) === range.untilAt
  if (instants.length !== range.count || !isBounded) {
    report('C10', range, `${text} counts ${range.count} instants; the schedule has ${instants.length} there.`, [range])
  }
  for (const dueAt of instants) {
    const story = subject.stories.get(keyOf({ dueAt, nonce: '' }))
    if (story === undefined || !story.isInFinal || story.record === null) continue
    report('C10', story, `${text} and another one both stand for ${iso(dueAt)}.`, [range, story.record])
  }
}

function judgeReason(judged: Case, subject: Subject, story: Story, report: Report): void {
  const { record } = story
  if (record === null || record.outcome === null) return
  if (isTrue(judged, subject, record, story)) return
  report('C10', story, `${fireText(story)} is ${record.outcome} (${record.reason}) on record, which is not true.`, [
    record,
  ])
}

/** A record that an earlier read had is there until its time is over. What is part of a range now is there as well. */
function judgeVanished({ history }: Case, subject: Subject, story: Story, report: Report): void {
  if (history.reads.length === 0 || story.record === null || story.isInFinal || story.dueAt <= subject.prunedTo) return
  report('C10', story, `${fireText(story)} was on record, and has gone from it before its time.`, [story.record])
}
