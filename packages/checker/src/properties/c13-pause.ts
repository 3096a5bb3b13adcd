import type { Case, Subject } from '../case.ts'
import { timesOf } from '../definitions.ts'
import { claimOf, type LedgerFire, type LedgerRun } from '../history.ts'
import { claimText, fireText, iso, type Judge } from '../report.ts'
import { mayBePutBackInPause } from './reasons.ts'

export const judgePauses: Judge = (judged, report) => {
  for (const subject of judged.schedules) {
    for (const story of subject.stories.values()) {
      const isByHand = story.nonce !== '' || story.record?.origin === 'manual'
      // What is not an instant of the schedule at all is C4's.
      if (story.nonce === '' && !subject.expected.has(story.dueAt)) continue
      const isInPause = story.record !== null && isPlannedInPause(judged, subject, story.record)
      if (isInPause && !mayBePutBackInPause(judged, subject, story)) {
        const planned = `planned at ${iso(story.record!.plannedAt)}`
        report('C13', story, `${fireText(story)} was ${planned}, when the schedule was paused.`, [story.record!])
      }
      for (const run of story.runs) {
        const why = whyNot(judged, subject, run, isByHand)
        if (why === null) continue
        const message = `${fireText(story)} was ${claimText(run)}, when the schedule was ${why}.`
        report('C13', story, message, [run])
      }
    }
  }
}

/** Fires by hand run also while their schedule is paused. */
function whyNot({ clock }: Case, { definitions }: Subject, run: LedgerRun, isByHand: boolean): string | null {
  const { specs, paused } = definitions.during(clock.timesOf(claimOf(run)))
  if (specs.length === 0 && definitions.specs.length > 0) return 'not there, or retired'
  return paused === 'yes' && !isByHand ? 'paused' : null
}

/** A pause holds back what comes until it ends, or until the rule changes or goes. */
function isPlannedInPause({ clock }: Case, { definitions, operations }: Subject, record: LedgerFire): boolean {
  if (record.nonce !== '' || record.origin !== 'scheduled' || record.round > 1) return false
  if (record.reason === 'skipped-by-operator') return false
  const planned = clock.timesOf(record.plannedAt)
  if (definitions.during(planned).paused !== 'yes') return false
  return !operations.some((operation) => {
    const { from, to } = timesOf(operation)
    return operation.verb !== 'trigger' && from <= planned.to && to >= planned.from
  })
}
