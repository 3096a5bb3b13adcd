import type { ScheduleState } from '../../model/schedule.ts'
import type { ChangeResult, Due, DueQuery } from '../../store/store.ts'
import type { Core } from '../core.ts'
import { leaseHolds } from '../fleet/trust.ts'
import { callStore } from '../store-calls.ts'
import { BacklogPlanner } from './backlog.ts'
import { dealer } from './buckets.ts'
import { type DueDecider, type LeftForLater, wasDue } from './decide-due.ts'
import {
  afterAnswer,
  afterClaim,
  afterLeaving,
  afterNothing,
  FIRST_LOOK,
  FRUITLESS_LONGEST_MS,
  LONG_MS,
  leadOf,
  pauseMs,
  restMs,
  type Scope,
  scopeOf,
} from './look.ts'

export interface LookOptions {
  readonly patienceMs: number
  /** Ignores fires that become due after the first look. */
  readonly isLast?: boolean
}

/** What is due, as one look found it. */
export interface Look {
  readonly due: Due
  /** Runs that may start. */
  readonly room: number
  /** More own schedules are due than are in the answer. */
  readonly isBehind: boolean
  readonly end: (results: readonly ChangeResult[], left: LeftForLater) => number
  readonly jobs: DueQuery['jobs']
  readonly patienceMs: number
}

/** How long a fire whose instances keep dying has its instance to itself. */
const ALONE_MS = 60_000
/** Between two looks at the peers' schedules, times the number of instances: the fleet looks as often as one instance would. */
const SWEEP_MS = 1_500

/** Asks the store for what is due, and says when to ask again. */
export class Looks {
  readonly #core: Core
  readonly #backlog: BacklogPlanner
  readonly #ownBuckets: () => DueQuery['jobs']
  #memory = FIRST_LOOK
  /** Fires that are due later are left to peers: this instance is about to leave. */
  #upTo = Number.POSITIVE_INFINITY

  constructor(core: Core, decider: DueDecider) {
    this.#core = core
    this.#ownBuckets = dealer(core)
    this.#backlog = new BacklogPlanner(core, decider, (due, lookedAt) => this.#restMs(due, lookedAt))
  }

  /** What is due now. Throws when the store does. */
  async begin({ patienceMs, isLast = false }: LookOptions): Promise<Look> {
    const core = this.#core
    core.nextLook.begin(leadOf(core.aheadMs()))
    await leaseHolds(core)
    const room = roomOf(core)
    const jobs = this.#ownBuckets()
    core.leftSome = true
    core.fullLimits.begin()
    if (room === 0 || jobs.length === 0) return this.#nothing({ room, jobs, patienceMs }, () => LONG_MS)
    return this.#ask({ room, jobs, patienceMs }, isLast)
  }

  /** How long there is nothing more to do, 0 if there may be more. Throws when the store does. */
  async end(
    { end, room, jobs, patienceMs }: Look,
    results: readonly ChangeResult[],
    left: LeftForLater,
  ): Promise<number> {
    const core = this.#core
    const ms = end(results, left)
    const waitMs = mayStart(core) ? await this.#backlog.plan(ms, room, jobs) : ms
    return core.nextLook.end(waitMs, patienceMs)
  }

  async #ask(asked: Pick<Look, 'room' | 'jobs' | 'patienceMs'>, isLast: boolean): Promise<Look> {
    const core = this.#core
    const { room, jobs, patienceMs } = asked
    const sentAt = core.parts.clock.mono()
    await core.parts.sync('due:sent')
    const scope = scopeOf(this.#memory, { sentAt, patienceMs, room, failing: core.failing.size, batch: core.batch })
    const found = await this.#find(scope, jobs, sentAt)
    if (found === null) return this.#nothing(asked, () => FRUITLESS_LONGEST_MS)
    if (isLast) this.#upTo = Math.min(this.#upTo, found.now)
    const overview = afterAnswer(this.#memory, scope, found, { sentAt, patienceMs, spacingMs: spacingMs(core) })
    const isKept = (state: ScheduleState): boolean => core.fullLimits.keeps(state, found.now)
    const isAll = found.schedules.length < scope.limit
    const leaving = afterLeaving(overview.memory, found.schedules.filter(isKept).length, isAll)
    this.#memory = leaving.memory
    if (core.stopping) return this.#nothing(asked, () => LONG_MS)
    const { isBehind, mayHelp } = overview
    const isFor = (state: ScheduleState): boolean =>
      !core.failing.has(state) && wasDue(state, this.#upTo) && !isKept(state)
    const due = { ...found, schedules: core.fullLimits.sort(found.schedules.filter(isFor), found.now) }
    const { learned } = core.fullLimits
    const toNextMs = (): number => (mayHelp ? 0 : this.#restMs(due))
    if (due.schedules.length === 0) {
      this.#memory = afterNothing(this.#memory)
      core.leftSome = leaving.againMs !== null
      return this.#nothing(asked, () => leaving.againMs ?? (isLast ? LONG_MS : toNextMs()))
    }
    const end = (results: readonly ChangeResult[], left: LeftForLater): number => {
      const counts = { found: due.schedules.length - left.count, isComplete: isAll && core.failedAt() < sentAt }
      const after = afterClaim(this.#memory, { ...counts, ...countResults(results) })
      this.#memory = after.memory
      // Schedules whose limit turned out to be used up have taken the room of others: the next look leaves them out.
      if (after.next === 'again' || core.fullLimits.learned > learned) return 0
      const laterMs = left.at === null ? LONG_MS : core.time.until(left.at)
      // Sorted by waiting time: if none of these was due, nothing is due before the first of them.
      if (counts.found === 0) return laterMs
      if (after.next === 'pause') return Math.min(laterMs, pauseMs(after.memory, this.#restMs(due)))
      // Everything that was due is claimed, so the store need not be asked for the next due time.
      core.leftSome = false
      return Math.min(laterMs, toNextMs())
    }
    return { ...asked, due, isBehind, end }
  }

  #nothing(asked: Pick<Look, 'room' | 'jobs' | 'patienceMs'>, end: () => number): Look {
    const due = { now: 0, epoch: 0, schedules: [], mineAt: null, othersAt: null }
    return { ...asked, due, isBehind: false, end }
  }

  /** `null`: the store's epoch has moved, so nothing is claimed now. */
  async #find({ patienceMs, limit }: Scope, jobs: DueQuery['jobs'], sentAt: number): Promise<Due | null> {
    const core = this.#core
    const found = await callStore(core, 'due', () =>
      core.parts.store.due({ jobs, patienceMs, aheadMs: core.aheadMs(), limit }),
    )
    core.time.observe(found.now, sentAt)
    return core.epochs.observe(found.epoch) ? found : null
  }

  #restMs({ mineAt, othersAt }: Due, lookedAt = this.#memory.lookedAt): number {
    const { time, settings, fullLimits, parts } = this.#core
    return restMs({
      ownInMs: mineAt === null ? null : time.until(mineAt - leadOf(this.#core.aheadMs())),
      peersInMs: othersAt === null ? null : time.until(othersAt + settings.patienceMs),
      sweepInMs: lookedAt + spacingMs(this.#core) - parts.clock.mono(),
      limitInMs: fullLimits.untilNextMs(),
    })
  }
}

function countResults(results: readonly ChangeResult[]): { readonly applied: number; readonly conflicts: number } {
  let applied = 0
  let conflicts = 0
  for (const { kind } of results) {
    if (kind === 'applied') applied++
    else if (kind === 'conflict') conflicts++
  }
  return { applied, conflicts }
}

/** How many runs may start here. */
function roomOf(core: Core): number {
  return mayStart(core) && !isSuspectAlone(core) ? Math.max(0, core.admission.capacity() - core.runs.working) : 0
}

/** Not while the lease is in doubt, nor while this instance restores what the store has lost. */
function mayStart(core: Core): boolean {
  return !core.stopping && !core.fleet.drained && core.lease.trusted() && !core.lease.jumped() && core.epochs.mayClaim()
}

/** Only for a while: a run that crashes its instance mostly does so soon, and a run of several hours must not stop all others. */
function isSuspectAlone({ runs, parts }: Core): boolean {
  const since = parts.clock.mono() - ALONE_MS
  return runs.all().some(({ started, begunAt }) => started.suspect && begunAt > since)
}

function spacingMs({ fleet, parts }: Core): number {
  return SWEEP_MS * fleet.peers.length * (0.5 + parts.random())
}
