import type { Due, DueQuery } from '../../store/store.ts'
import type { Core } from '../core.ts'
import { callStore } from '../store-calls.ts'
import type { DueDecider } from './decide-due.ts'
import { BATCH, FRUITLESS_LONGEST_MS } from './look.ts'

/** How long a schedule must have been due and unclaimed before an instance without room plans it. */
const LEFT_MS = 1_000
/**
 * The same for an instance that has room now and then, but never enough. Longer, because a fire that is claimed right away costs
 * the store less.
 */
const BEHIND_MS = 5_000
/** A look that finds only planned schedules is repeated with a larger limit, up to this many times `BATCH`. */
const MOST_PAGES = 8

/** How long there is nothing to look for, after a look that was sent at `lookedAt`. */
type RestMs = (due: Due, lookedAt: number) => number

/** Plans schedules that stay due because no instance claims them, so that their instants are decided in time. */
export class BacklogPlanner {
  readonly #core: Core
  readonly #decider: DueDecider
  readonly #restMs: RestMs
  /** Since when (monotonic) it has had no room; `null`: it has room. */
  #fullSince: number | null = null
  /** Since when every look left something due, or since that was last decided; `null`: the last look left nothing. */
  #leftSince: number | null = null
  #pages = 1

  constructor(core: Core, decider: DueDecider, restMs: RestMs) {
    this.#core = core
    this.#decider = decider
    this.#restMs = restMs
  }

  /** Plans if it is time to. Returns how long to wait until the next look, given how long that is without a backlog. */
  async plan(ms: number, room: number, jobs: DueQuery['jobs']): Promise<number> {
    const now = this.#core.parts.clock.mono()
    if (room > 0) this.#fullSince = null
    if (!this.#core.leftSome) this.#leftSince = null
    if (!this.#core.leftSome || jobs.length === 0) return ms
    this.#leftSince ??= now
    if (room === 0) this.#fullSince ??= now
    const planAt = Math.min(this.#leftSince + BEHIND_MS, (this.#fullSince ?? now + LEFT_MS) + LEFT_MS)
    if (planAt > now) return room === 0 ? planAt - now : ms
    this.#leftSince = now
    const restMs = await this.#planLeft(jobs, room > 0)
    return room === 0 ? restMs : ms
  }

  async #planLeft(jobs: DueQuery['jobs'], hasRoom: boolean): Promise<number> {
    const { parts, time, epochs } = this.#core
    const sentAt = parts.clock.mono()
    const limit = BATCH * this.#pages
    const due = await callStore(this.#core, 'due', () => parts.store.due({ jobs, patienceMs: LEFT_MS, limit }))
    time.observe(due.now, sentAt)
    if (!epochs.observe(due.epoch)) return FRUITLESS_LONGEST_MS
    const left = due.schedules.filter(({ wakeAt }) => wakeAt !== null && wakeAt <= due.now - LEFT_MS)
    const isAnyPlanned = await this.#decider.planOnly({ ...due, schedules: left }, hasRoom)
    this.#pages = isAnyPlanned || due.schedules.length < limit ? 1 : Math.min(this.#pages * 2, MOST_PAGES)
    // Schedules that wait for room may get further instants.
    if (due.schedules.length > 0) return LEFT_MS
    return Math.max(LEFT_MS, this.#restMs(due, sentAt))
  }
}
