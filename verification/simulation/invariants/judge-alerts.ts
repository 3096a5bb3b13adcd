import type { AlertMessage } from '../../../packages/cronce/src/alerts.ts'
import type { AlertRecord } from '../../../packages/cronce/src/model/alert.ts'
import { ALERTS_JOB } from '../../../packages/cronce/src/model/exclusive-jobs.ts'
import type { NamespaceData } from '../../../packages/cronce/src/store/memory/data.ts'
import type { Step } from './mirror.ts'
import type { Report } from './report.ts'

export interface AlertJudge {
  readonly changed: (step: Step) => void
  /** The receiver has taken a message that this process sent. */
  readonly received: (message: AlertMessage, node: string) => void
  /** The store was healthy for a while. */
  readonly finish: () => void
}

interface Parts {
  readonly data: () => NamespaceData
  readonly report: Report
  readonly count: (what: string) => void
}

/**
 * The promise of alerts: the receiver hears of one problem once when it starts and once when it ends, and recorded
 * alerts are sent even if the sender dies. A repeated message has the same id.
 */
export function judgeAlerts({ data, report, count }: Parts): AlertJudge {
  /** By id, the process that wrote a message down. */
  const written = new Map<string, string>()
  const taken = new Set<string>()
  const open = new Set<string>()
  const recordOf = (id: string): AlertRecord | undefined =>
    data().schedules.get(id)?.definition.input as unknown as AlertRecord | undefined

  return {
    changed({ after, who }) {
      if (after?.definition.job !== ALERTS_JOB) return
      const { outbox } = after.definition.input as unknown as AlertRecord
      for (const { id } of outbox) if (!written.has(id)) written.set(id, who)
    },
    received({ id, kind, app, rule }, node) {
      const author = written.get(id)
      if (author === undefined) report('A1 alert', `${node} sent ${kind} of ${rule}, which is not written down`)
      else if (author !== node) count('alert sent by a successor')
      if (taken.has(id)) {
        count('alert sent again')
        return
      }
      taken.add(id)
      count(`alert ${kind}`)
      const about = `${app} ${rule}`
      if ((kind === 'firing') === open.has(about))
        report('A2 alert', `${node} sent ${kind} of ${about}, which ${open.has(about) ? 'fires' : 'does not fire'}`)
      if (kind === 'resolved') open.delete(about)
      else open.add(about)
    },
    finish() {
      const records = [...data().schedules.values()].filter(({ definition }) => definition.job === ALERTS_JOB)
      const waiting = records.flatMap(({ id }) => recordOf(id)!.outbox)
      const lost = [...written.keys()].filter((id) => !taken.has(id) && !waiting.some((message) => message.id === id))
      if (lost.length > 0) report('A3 alert', `${lost.length} messages were never sent, the first is ${lost[0]}`)
      for (const { id } of records) {
        const app = id.slice(ALERTS_JOB.length + 1)
        const { alerts, outbox } = recordOf(id)!
        for (const { rule, state } of alerts) {
          const isOpen = open.has(`${app} ${rule}`)
          const isTold = (state === 'firing') === isOpen || outbox.some(({ alert }) => alert?.rule === rule)
          if (!isTold) report('A4 alert', `${rule} of ${app} is ${state}, and the receiver does not know`)
        }
      }
    },
  }
}
