import type { ActivityRecord } from '../../../packages/cronce/src/model/activity.ts'
import type { Report } from './report.ts'

export type WishResult = 'ok' | 'fail' | 'info'

export interface ActivityJudge {
  /** A change with this line was sent. Whether it was written, and whether the line was. */
  readonly sent: (line: ActivityRecord, isWritten: boolean, isLogged: boolean) => void
  /** A note for one request of an operator. */
  readonly noteFor: (schedule: string) => string
  /** `isSure`: the answer confirms that the request changed something. */
  readonly answered: (note: string, result: WishResult, isSure: boolean) => void
  readonly finish: () => void
}

interface Asked {
  readonly schedule: string
  readonly results: { readonly result: WishResult; readonly isSure: boolean }[]
  readonly lines: Set<string>
}

/**
 * The promise of the operator log: a line is written if and only if its change is, and every request that changed
 * something has exactly one. Requests are distinguished by their notes.
 */
export function judgeActivity(report: Report, count: (what: string) => void): ActivityJudge {
  const wishes = new Map<string, Asked>()
  const written = new Set<string>()
  return {
    sent({ id, note, subject, action }, isWritten, isLogged) {
      // A request may arrive twice: the second one changes nothing, and finds the line of the first.
      if (isWritten) written.add(id)
      if (written.has(id) !== isLogged) {
        const how = isLogged ? 'not written, but its line was' : 'written, but its line was not'
        report(NAME, `${action} ${subject.name}: the change was ${how}`)
      }
      const asked = note === null ? undefined : wishes.get(note)
      if (isLogged && asked?.schedule === subject.name) asked.lines.add(id)
    },
    noteFor(schedule) {
      const note = `wish-${wishes.size + 1}`
      wishes.set(note, { schedule, results: [], lines: new Set() })
      return note
    },
    answered(note, result, isSure) {
      wishes.get(note)!.results.push({ result, isSure })
    },
    finish() {
      for (const [note, { schedule, results, lines }] of wishes) {
        const isDone = results.some(({ result, isSure }) => result === 'ok' && isSure)
        const isRefused = results.length > 0 && results.every(({ result }) => result === 'fail')
        const isRight = lines.size <= (isRefused ? 0 : 1) && lines.size >= (isDone ? 1 : 0)
        if (lines.size === 1) count('logged wish')
        if (!isRight) report(NAME, `${note} for ${schedule}, ${isDone ? 'done' : 'not sure'}: ${lines.size} lines`)
      }
    },
  }
}

const NAME = 'S18 operator log'
