import type { Case, Subject } from '../case.ts'
import type { LedgerRun } from '../history.ts'
import { claimText, fireText, type Judge } from '../report.ts'

export const judgePauses: Judge = (judged, report) => {
  for (const subject of judged.schedules) {
    for (const story of subject.stories.values()) {
      const isByHand = story.nonce !== '' || story.record?.origin === 'manual'
      // What is no instant of the schedule at all is C4's.
      if (story.nonce === '' && !subject.expected.has(story.dueAt)) continue
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
  const { specs, paused } = definitions.during(clock.timesOf(run.startedAt))
  if (specs.length === 0 && definitions.specs.length > 0) return 'not there, or retired'
  return paused === 'yes' && !isByHand ? 'paused' : null
}
