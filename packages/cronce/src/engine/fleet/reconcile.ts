import { ending } from '../../model/outcome.ts'
import type { HeldRun } from '../../store/store.ts'
import type { Core } from '../core.ts'
import { aboutRun, type LocalRun } from '../run/run-table.ts'
import type { Settler } from '../run/settle.ts'

/**
 * Every beat compares the runs that the store says this instance holds with the runs it executes. What it does not know it
 * hands back: a claim whose answer was lost must not hold a fire for ever. What the store does not know was taken away.
 */
export function reconciler(core: Core, settler: Settler): (held: readonly HeldRun[], sentAt: number) => void {
  /** Held and unknown at the last beat. A second beat in a row makes it certain that no answer is still on its way. */
  let doubtful = new Set<string>()
  const cancelled = new WeakSet<LocalRun>()

  const cancel = (run: LocalRun, held: HeldRun): void => {
    if (held.cancel === null || cancelled.has(run)) return
    cancelled.add(run)
    const { reason, detail } = held.cancel
    run.abort(reason, detail)
    core.parts.emit({ type: 'run.cancelled', reason, ...aboutRun(run) })
  }

  return (held, sentAt) => {
    const unknown = new Set<string>()
    for (const run of held) {
      const local = core.runs.find(run.schedule, run.token)
      if (local !== undefined) cancel(local, run)
      else if (!core.claiming.has(run.claim)) unknown.add(`${run.token} ${run.schedule}`)
    }
    for (const { schedule, token } of held) {
      if (!unknown.has(`${token} ${schedule}`) || !doubtful.has(`${token} ${schedule}`)) continue
      const nothing = { error: null, result: null, retryable: false }
      // Resolves always; if the run is gone by then, so much the better.
      void settler.add(schedule, { token, ending: ending('handed-back'), ...nothing, handBack: 'not-started' })
    }
    doubtful = unknown
    const tokens = new Set(held.map(({ schedule, token }) => `${token} ${schedule}`))
    for (const run of core.runs.all()) {
      const { schedule, token } = run.started.record
      // What began after the question was asked is not in the answer.
      const isAsked = run.instance === core.fleet.instance && !run.settling && run.begunAt < sentAt
      if (isAsked && !tokens.has(`${token} ${schedule}`)) run.abort('fenced', null)
    }
  }
}
