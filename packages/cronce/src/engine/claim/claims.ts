import type { ScheduleState } from '../../model/schedule.ts'
import type { Decision, StartedRun } from '../../policy/decision.ts'
import type { ChangeResult } from '../../store/store.ts'
import type { Core } from '../core.ts'
import type { Claim, DueDecider } from './decide-due.ts'
import type { Look } from './looks.ts'
import { isAhead, sendClaim } from './send-claim.ts'

/** Schedules in one write, so that the first runs start while the last ones are still being claimed. */
const PART = 125

/** Writes claims, and starts what was claimed. */
export class Claims {
  readonly #core: Core
  readonly #decider: DueDecider
  readonly #start: (run: StartedRun) => void
  #sending: Promise<unknown> = Promise.resolve()

  constructor(core: Core, decider: DueDecider, start: (run: StartedRun) => void) {
    this.#core = core
    this.#decider = decider
    this.#start = start
  }

  /** Returns the result of each decision. Throws when the store does, after everything that was claimed has been started. */
  send(claim: Claim, look: Pick<Look, 'due' | 'isBehind'>): Promise<readonly ChangeResult[]> {
    const sent = this.#sendAll(claim, look)
    this.#sending = sent.catch(() => {})
    return sent
  }

  /** Resolves when no claim is under way. */
  async answered(): Promise<void> {
    await this.#sending
  }

  async #sendAll(
    { number, decisions }: Claim,
    { due, isBehind }: Pick<Look, 'due' | 'isBehind'>,
  ): Promise<readonly ChangeResult[]> {
    if (decisions.length === 0) return []
    // With a backlog, throughput counts, and what is claimed ahead has time: fewer, larger writes cost the store less.
    const most = isBehind || decisions.every(isAhead) ? this.#core.batch : PART
    this.#core.claiming.add(number)
    try {
      const parts = Array.from({ length: Math.ceil(decisions.length / most) }, (_, index) =>
        decisions.slice(index * most, (index + 1) * most),
      )
      // All parts end before anything is thrown, so that whatever was claimed is started.
      const sent = await Promise.allSettled(parts.map((part) => this.#sendPart(part, number)))
      const results = sent.flatMap((part) => {
        if (part.status === 'rejected') throw part.reason
        return part.value
      })
      // What waits for a limit is not claimed at the next looks, and planned only here.
      if (results.some(({ kind }) => kind === 'full')) {
        const isKept = (state: ScheduleState): boolean => this.#core.fullLimits.keeps(state, due.now)
        await this.#decider.planOnly({ ...due, schedules: due.schedules.filter(isKept) })
      }
      return results
    } finally {
      this.#core.claiming.delete(number)
    }
  }

  async #sendPart(decisions: readonly Decision[], claim: number): Promise<readonly ChangeResult[]> {
    const core = this.#core
    const results = await sendClaim(core, decisions, claim)
    this.#decider.answered(decisions, results)
    for (let index = 0; index < decisions.length; index++) {
      const result = results[index]!
      const { started, change } = decisions[index]!
      if (result.kind === 'applied') for (const run of started) this.#start(run)
      else if (result.kind === 'full') core.fullLimits.met(change.limits.find(({ slot }) => slot === result.slot)!)
      else if (result.kind === 'not-live') core.beatAlarm.ring()
    }
    return results
  }
}
