import { LEADER_JOB, LOCK_JOB } from '../../model/exclusive-jobs.ts'
import { NOBODY, type ScheduleState } from '../../model/schedule.ts'
import type { Context, Decision } from '../../policy/decision.ts'
import { isUnused, removeUnused } from '../../policy/operate/unused.ts'
import { endOverdue } from '../../policy/plan/advance.ts'
import { listRuns, type ViewQuery } from '../../store/list-views.ts'
import type { ScheduleQuery } from '../../store/store.ts'
import { changeAsInstance } from '../change-schedules.ts'
import type { Core } from '../core.ts'
import type { Deployer } from '../deploy/deploy.ts'
import { loop } from '../loop.ts'
import { callStore } from '../store-calls.ts'
import type { PeerWatch } from './recover-peers.ts'

/** Shortest time between two prunings: a history of which something expires all the time is pruned in one go. */
const PRUNE_MS = 30_000
const PRUNE_BATCH = 500
const PRUNE_ROUNDS = 20
/** Longest time between two looks for overdue parked runs. The instances that have the job look earlier; this is for jobs that none has. */
const PARKED_MS = 3_600_000
/** How long after the earliest deadline of a parked run to look: the instances that have its job come first. */
const SOON_MS = 10_000
const PARKED_PAGE = 500
const PARKED_PAGES = 20
/** Time between two searches for schedules that were made for a lock or an election and are no longer used. */
const EXCLUSIVE_MS = 3_600_000
/** Pause before such a search goes on, if there were more schedules than one search looks at. */
const EXCLUSIVE_MORE_MS = 60_000
const EXCLUSIVE_JOBS = [LOCK_JOB, LEADER_JOB] as const
const EXCLUSIVE_PAGE = 200
const EXCLUSIVE_PAGES = 50

const FROM_THE_BEGINNING: { readonly after: string | null; readonly earliest: number } = {
  after: null,
  earliest: Number.POSITIVE_INFINITY,
}

/** Slow duties: deployments, orphaned runs, overdue parked runs, unused locks, pruning. Each heartbeat tells whether there is one. */
export class Housekeeper {
  readonly #core: Core
  readonly #deploys: Deployer
  readonly #peers: PeerWatch
  readonly #duties: readonly (() => Promise<unknown>)[]
  /** Dead instances whose runs this instance is to recover. */
  #orphans: readonly string[] = []
  #toldBefore: readonly string[] = []
  #prunedAt = Number.NEGATIVE_INFINITY
  /** When to look at parked runs, by the monotonic clock. */
  #parkedAt = Number.NEGATIVE_INFINITY
  /** Where the next look at parked runs goes on, and the earliest of their deadlines so far. */
  #parked = FROM_THE_BEGINNING
  /** When to look at what locks and elections left behind, by the monotonic clock. */
  #exclusiveAt: number
  /** Where that look goes on: which of the jobs, and where in its list. */
  #exclusive: { readonly job: number; readonly after: string | null } = { job: 0, after: null }

  constructor(core: Core, deploys: Deployer, peers: PeerWatch) {
    this.#core = core
    this.#deploys = deploys
    this.#peers = peers
    this.#exclusiveAt = core.parts.clock.mono() + EXCLUSIVE_MS * core.parts.random()
    this.#duties = [
      async () => deploys.isWanted() && (await deploys.keep()),
      () => this.#recoverOrphans(),
      async () => this.#isParkedWanted() && (await this.#endParked()),
      async () => this.#isExclusiveCleanupWanted() && (await this.#removeUnusedExclusive()),
      async () => this.#isPruneWanted() && (await this.#prune()),
    ]
  }

  /** Call this after every heartbeat: wakes the loop if its answer names a duty. */
  observe(): void {
    const core = this.#core
    this.#deploys.observe()
    const told = core.fleet.chores.orphans
    // The peer that declared an instance dead recovers its runs, and the eldest instance makes sure of that. If the eldest is paused,
    // the same orphan is named by two heartbeats in a row.
    this.#orphans = isEldest(core) ? told : told.filter((id) => this.#toldBefore.includes(id))
    this.#toldBefore = told
    if (this.#isWanted()) core.keepAlarm.ring()
  }

  /** Does the duties until the engine stops. Never rejects. */
  loop(): Promise<void> {
    const core = this.#core
    return loop(core, 'keep', async (failures) => {
      if (failures === 0) await core.keepAlarm.wait(this.#deploys.restMs())
      if (!core.stopped.aborted) await this.#keep()
    })
  }

  #isWanted(): boolean {
    return (
      this.#orphans.length > 0 ||
      this.#deploys.isWanted() ||
      this.#isParkedWanted() ||
      this.#isExclusiveCleanupWanted() ||
      this.#isPruneWanted()
    )
  }

  #isExclusiveCleanupWanted(): boolean {
    return isEldest(this.#core) && this.#core.parts.clock.mono() >= this.#exclusiveAt
  }

  #isParkedWanted(): boolean {
    return isEldest(this.#core) && this.#core.parts.clock.mono() >= this.#parkedAt
  }

  #isPruneWanted(): boolean {
    const { fleet, parts, settings } = this.#core
    if (!fleet.chores.prunable || !isEldest(this.#core)) return false
    return parts.clock.mono() - this.#prunedAt >= Math.max(PRUNE_MS, settings.leaseMs)
  }

  /** A duty that fails does not keep the others from being done. */
  async #keep(): Promise<void> {
    const failures: unknown[] = []
    for (const duty of this.#duties) await duty().catch((error: unknown) => failures.push(error))
    if (failures.length > 0) throw failures[0]
  }

  async #recoverOrphans(): Promise<void> {
    const found = this.#orphans
    for (const id of found) await this.#peers.recoverRuns(id)
    if (this.#orphans === found) this.#orphans = []
  }

  /** No instance holds a run that waits for its call-back. If its job has left the code, no instance looks at its schedule either. */
  async #endParked(): Promise<void> {
    const core = this.#core
    const { clock, store } = core.parts
    for (let page = 0; page < PARKED_PAGES; page++) {
      let { earliest } = this.#parked
      const query: ViewQuery = { instance: NOBODY, outcome: 'open', limit: PARKED_PAGE, after: this.#parked.after }
      const found = await callStore(core, 'keep (list)', () => listRuns(store, query))
      const ids = [...new Set(found.items.map(({ schedule }) => schedule))]
      const decide = (_: string, state: ScheduleState | null, context: Context): Decision | null => {
        for (const { run } of state?.open ?? []) earliest = Math.min(earliest, run?.parkedUntil ?? earliest)
        return state === null ? null : endOverdue(state, context)
      }
      if (ids.length > 0) await changeAsInstance(core, 'keep', ids, decide)
      if (found.next === null) {
        this.#parked = FROM_THE_BEGINNING
        const waitMs = Number.isFinite(earliest) ? Math.max(SOON_MS, core.time.until(earliest) + SOON_MS) : PARKED_MS
        this.#parkedAt = clock.mono() + Math.min(PARKED_MS, waitMs)
        return
      }
      this.#parked = { after: found.next, earliest }
    }
    this.#parkedAt = clock.mono() + SOON_MS
  }

  /** Names of locks often contain the id of something that is used once: without cleanup, their schedules would stay forever. */
  async #removeUnusedExclusive(): Promise<void> {
    const core = this.#core
    const { clock, store } = core.parts
    this.#exclusiveAt = clock.mono() + EXCLUSIVE_MS
    for (let page = 0; page < EXCLUSIVE_PAGES; page++) {
      const { job, after } = this.#exclusive
      const query: ScheduleQuery = { job: EXCLUSIVE_JOBS[job], limit: EXCLUSIVE_PAGE, after }
      const found = await callStore(core, 'keep (list)', () => store.listSchedules(query))
      const now = core.time.estimate()
      const ids = found.items.filter((state) => isUnused(state, now)).map(({ id }) => id)
      const decide = (_: string, state: ScheduleState | null, context: Context): Decision | null =>
        state === null ? null : removeUnused(state, context)
      if (ids.length > 0) await changeAsInstance(core, 'keep', ids, decide)
      const isLastPage = found.next === null
      this.#exclusive = { job: isLastPage ? (job + 1) % EXCLUSIVE_JOBS.length : job, after: found.next }
      if (isLastPage && this.#exclusive.job === 0) return
    }
    this.#exclusiveAt = clock.mono() + EXCLUSIVE_MORE_MS
  }

  async #prune(): Promise<void> {
    const { clock, store } = this.#core.parts
    this.#prunedAt = clock.mono()
    for (let round = 0; round < PRUNE_ROUNDS; round++) {
      const { deleted } = await callStore(this.#core, 'prune', () => store.prune(PRUNE_BATCH))
      if (deleted < PRUNE_BATCH) return
    }
  }
}

/** Exactly one instance of the fleet is the eldest, and all instances agree which. */
function isEldest({ fleet: { peers, instance } }: Core): boolean {
  return peers.every(({ id }) => id >= instance)
}
