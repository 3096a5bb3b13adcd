import type { HeldRun } from '../../store/store.ts'
import type { Core } from '../core.ts'
import { aboutRun, type LocalRun } from '../run/run-table.ts'
import type { Settler } from '../run/settle.ts'
import { handBack } from '../run/settlement.ts'

/**
 * Compares, at every heartbeat, the runs that the store says this instance holds with the runs that it executes. An unknown run
 * is handed back: a claim whose answer was lost must not hold a fire forever. A run that the store does not list was taken away.
 */
export class Reconciler {
  readonly #core: Core
  readonly #settler: Settler
  /** Held and unknown at the last heartbeat. A second heartbeat in a row makes it certain that no answer is still on its way. */
  #doubtful = new Set<string>()
  readonly #cancelled = new WeakSet<LocalRun>()

  constructor(core: Core, settler: Settler) {
    this.#core = core
    this.#settler = settler
  }

  /** `held`: what the store answered to a heartbeat that was sent at `sentAt`, by the monotonic clock. */
  reconcile(held: readonly HeldRun[], sentAt: number): void {
    const core = this.#core
    const unknown = new Set<string>()
    for (const run of held) {
      const local = core.runs.find(run.schedule, run.token)
      if (local !== undefined) this.#cancel(local, run)
      else if (!core.claiming.has(run.claim)) unknown.add(`${run.token} ${run.schedule}`)
    }
    for (const { schedule, token } of held) {
      if (!unknown.has(`${token} ${schedule}`) || !this.#doubtful.has(`${token} ${schedule}`)) continue
      // A run that has ended by then needs nothing.
      this.#settler.add(schedule, handBack(token, 'not-started'), true, () => {})
    }
    this.#doubtful = unknown
    this.#fenceUnheld(held, sentAt)
  }

  #fenceUnheld(held: readonly HeldRun[], sentAt: number): void {
    const { fleet, runs } = this.#core
    const tokens = new Set(held.map(({ schedule, token }) => `${token} ${schedule}`))
    for (const run of runs.all()) {
      const { schedule, token } = run.started.record
      // A run that began after the heartbeat was sent is not in the answer.
      const isAsked = run.instance === fleet.instance && !run.settling && run.begunAt < sentAt
      if (isAsked && !tokens.has(`${token} ${schedule}`)) run.abort('fenced', null)
    }
  }

  #cancel(run: LocalRun, held: HeldRun): void {
    if (held.cancel === null || this.#cancelled.has(run)) return
    this.#cancelled.add(run)
    const { reason, detail } = held.cancel
    run.abort(reason, detail)
    this.#core.parts.emit({ type: 'run.cancelled', reason, ...aboutRun(run) })
  }
}
