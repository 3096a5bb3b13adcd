import { LEADER_JOB, LOCK_JOB } from '../../model/exclusive-jobs.ts'
import { NOBODY, type ScheduleState } from '../../model/schedule.ts'
import type { Context, Decision } from '../../policy/decision.ts'
import { isUnused, removeUnused } from '../../policy/operate/unused.ts'
import { endOverdue } from '../../policy/plan/advance.ts'
import { listRuns, type ViewQuery } from '../../store/list-views.ts'
import type { ScheduleQuery } from '../../store/store.ts'
import { changeSchedules } from '../change-schedules.ts'
import type { Core } from '../core.ts'
import type { Deployer } from '../deploy/deploy.ts'
import { loop } from '../loop.ts'
import { callStore } from '../store-calls.ts'
import type { PeerWatch } from './recover-peers.ts'

/** Slow duties. Nobody looks for them: every beat tells whether there is one. */
export interface Housekeeper {
  /** After every beat: see what it told. */
  observe(): void
  /** Until the engine stops. Never rejects. */
  loop(): Promise<void>
}

/** A history of which something expires all the time is pruned in one go, so often. */
const PRUNE_MS = 30_000
const PRUNE_BATCH = 500
const PRUNE_ROUNDS = 20
/** Parked runs that are overdue have their schedule's instances to look after them; this is for those that have none. */
const PARKED_MS = 3_600_000
/** After the time of the next one; its own instances come first. */
const SOON_MS = 10_000
const PARKED_PAGE = 500
const PARKED_PAGES = 20
/** Schedules that nobody declared, made for a lock or an election: they are looked through so often. */
const EXCLUSIVE_MS = 3_600_000
/** Some at a time; the rest so much later. */
const EXCLUSIVE_MORE_MS = 60_000
const EXCLUSIVE_JOBS = [LOCK_JOB, LEADER_JOB] as const
const EXCLUSIVE_PAGE = 200
const EXCLUSIVE_PAGES = 50

const FROM_THE_BEGINNING: { readonly after: string | null; readonly earliest: number } = {
  after: null,
  earliest: Number.POSITIVE_INFINITY,
}

export function housekeeper(core: Core, deploys: Deployer, peers: PeerWatch): Housekeeper {
  const { clock, store } = core.parts
  let orphans: readonly string[] = []
  let toldBefore: readonly string[] = []
  let prunedAt = Number.NEGATIVE_INFINITY
  /** When to look at parked runs, by the monotonic clock. */
  let parkedAt = Number.NEGATIVE_INFINITY
  /** How far that has come, and the earliest of their times so far: there may be more than are looked at in one go. */
  let parked = FROM_THE_BEGINNING

  /** When to look at what locks and elections left behind, by the monotonic clock. */
  let exclusiveAt = clock.mono() + EXCLUSIVE_MS * core.parts.random()
  /** How far that has come: which of their jobs, and where in its list. */
  let exclusive: { readonly job: number; readonly after: string | null } = { job: 0, after: null }

  const isExclusiveCleanupWanted = (): boolean => isEldest(core) && clock.mono() >= exclusiveAt

  const isParkedWanted = (): boolean => isEldest(core) && clock.mono() >= parkedAt

  const isPruneWanted = (): boolean =>
    core.fleet.chores.prunable && isEldest(core) && clock.mono() - prunedAt >= Math.max(PRUNE_MS, core.settings.leaseMs)

  const observe = (): void => {
    deploys.observe()
    const told = core.fleet.chores.orphans
    // Whoever declares one dead recovers its runs, and one is enough to watch over that; but that one may be paused.
    orphans = isEldest(core) ? told : told.filter((id) => toldBefore.includes(id))
    toldBefore = told
    if (orphans.length > 0 || deploys.isWanted() || isParkedWanted() || isExclusiveCleanupWanted() || isPruneWanted())
      core.keepAlarm.ring()
  }

  const duties: readonly (() => Promise<unknown>)[] = [
    async () => deploys.isWanted() && (await deploys.keep()),
    async () => {
      const found = orphans
      for (const id of found) await peers.recoverRuns(id)
      if (orphans === found) orphans = []
    },
    async () => isParkedWanted() && (await endParked()),
    async () => isExclusiveCleanupWanted() && (await removeUnusedExclusive()),
    async () => isPruneWanted() && (await prune()),
  ]

  /** One that fails keeps the others from nothing. */
  const keep = async (): Promise<void> => {
    const failures: unknown[] = []
    for (const duty of duties) await duty().catch((error: unknown) => failures.push(error))
    if (failures.length > 0) throw failures[0]
  }

  /** A run that waits for its call-back belongs to nobody. If its job has left the code, nobody looks at its schedule either. */
  const endParked = async (): Promise<void> => {
    for (let page = 0; page < PARKED_PAGES; page++) {
      let { earliest } = parked
      const query: ViewQuery = { instance: NOBODY, outcome: 'open', limit: PARKED_PAGE, after: parked.after }
      const found = await callStore(core, 'keep (list)', () => listRuns(store, query))
      const ids = [...new Set(found.items.map(({ schedule }) => schedule))]
      const decide = (_: string, state: ScheduleState | null, context: Context): Decision | null => {
        for (const { run } of state?.open ?? []) earliest = Math.min(earliest, run?.parkedUntil ?? earliest)
        return state === null ? null : endOverdue(state, context)
      }
      if (ids.length > 0) await changeSchedules(core, 'keep', ids, decide)
      if (found.next === null) {
        parked = FROM_THE_BEGINNING
        const waitMs = Number.isFinite(earliest) ? Math.max(SOON_MS, core.time.until(earliest) + SOON_MS) : PARKED_MS
        parkedAt = clock.mono() + Math.min(PARKED_MS, waitMs)
        return
      }
      parked = { after: found.next, earliest }
    }
    parkedAt = clock.mono() + SOON_MS
  }

  /** Names of locks often have somebody's id in them, and would be there for ever. */
  const removeUnusedExclusive = async (): Promise<void> => {
    exclusiveAt = clock.mono() + EXCLUSIVE_MS
    for (let page = 0; page < EXCLUSIVE_PAGES; page++) {
      const { job, after } = exclusive
      const query: ScheduleQuery = { job: EXCLUSIVE_JOBS[job], limit: EXCLUSIVE_PAGE, after }
      const found = await callStore(core, 'keep (list)', () => store.listSchedules(query))
      const now = core.time.estimate()
      const ids = found.items.filter((state) => isUnused(state, now)).map(({ id }) => id)
      const decide = (_: string, state: ScheduleState | null, context: Context): Decision | null =>
        state === null ? null : removeUnused(state, context)
      if (ids.length > 0) await changeSchedules(core, 'keep', ids, decide)
      const isLastPage = found.next === null
      exclusive = { job: isLastPage ? (job + 1) % EXCLUSIVE_JOBS.length : job, after: found.next }
      if (isLastPage && exclusive.job === 0) return
    }
    exclusiveAt = clock.mono() + EXCLUSIVE_MORE_MS
  }

  const prune = async (): Promise<void> => {
    prunedAt = clock.mono()
    for (let round = 0; round < PRUNE_ROUNDS; round++) {
      const { deleted } = await callStore(core, 'prune', () => store.prune(PRUNE_BATCH))
      if (deleted < PRUNE_BATCH) return
    }
  }

  const round = async (failures: number): Promise<void> => {
    if (failures === 0) await core.keepAlarm.wait(deploys.restMs())
    if (!core.stopped.aborted) await keep()
  }

  return { observe, loop: () => loop(core, 'keep', round) }
}

/** One of the fleet, and all agree which. */
function isEldest({ fleet: { peers, instance } }: Core): boolean {
  return peers.every(({ id }) => id >= instance)
}
