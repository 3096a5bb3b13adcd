import type { ScheduleState } from '../../model/schedule.ts'
import type { Decision, StartedRun } from '../../policy/decision.ts'
import type { ChangeResult, Due, DueQuery } from '../../store/store.ts'
import type { Core } from '../core.ts'
import { leaseHolds } from '../fleet/trust.ts'
import { loop } from '../loop.ts'
import { callStore } from '../store-calls.ts'
import { BacklogPlanner } from './backlog.ts'
import { dealer } from './buckets.ts'
import { DueDecider, wasDue } from './decide-due.ts'
import {
  afterAnswer,
  afterClaim,
  afterNothing,
  BATCH,
  type Beyond,
  FIRST_LOOK,
  FRUITLESS_LONGEST_MS,
  LONG_MS,
  pauseMs,
  restMs,
  type Scope,
  scopeOf,
} from './look.ts'
import { sendClaim } from './send-claim.ts'

export interface LookOptions {
  readonly patienceMs: number
  /** Leave what becomes due after the first look that was told so. */
  readonly isLast?: boolean
}

/** Schedules in one write, so that the first runs start while the last ones are still being claimed. */
const PART = 125
/** How long a fire whose instances keep dying has its instance to itself. */
const ALONE_MS = 60_000
/** Between two looks at the peers' schedules, times the number of instances: the fleet looks as often as one instance would. */
const SWEEP_MS = 1_500

/** Plans and claims what is due: look, decide, claim, start. */
export class Claimer {
  readonly #core: Core
  readonly #start: (run: StartedRun) => void
  readonly #decider: DueDecider
  readonly #backlog: BacklogPlanner
  readonly #ownBuckets: () => DueQuery['jobs']
  #memory = FIRST_LOOK
  /** What is due later is not for this instance, which is about to leave. */
  #upTo = Number.POSITIVE_INFINITY
  #claiming: Promise<unknown> = Promise.resolve()

  constructor(core: Core, start: (run: StartedRun) => void) {
    this.#core = core
    this.#start = start
    this.#decider = new DueDecider(core)
    this.#ownBuckets = dealer(core)
    this.#backlog = new BacklogPlanner(core, {
      planOnly: (due) => this.#planOnly(due),
      restMs: (due, lookedAt) => this.#restMs(due, lookedAt),
    })
  }

  /** Looks until the engine stops. Never rejects. */
  loop(): Promise<void> {
    return loop(this.#core, 'claim', async () => this.#core.claimAlarm.wait(await this.look()))
  }

  /** Resolves when no claim is under way. */
  async answered(): Promise<void> {
    await this.#claiming
  }

  /** One look. Answers how long there is nothing more to do, 0 if there may be more. Throws when the store does. */
  async look(options: LookOptions = this.#core.settings): Promise<number> {
    const core = this.#core
    core.nextLook.begin()
    await leaseHolds(core)
    const room = roomOf(core)
    const jobs = this.#ownBuckets()
    const canClaim = room > 0 && jobs.length > 0
    const ms = canClaim ? await this.#lookOnce(options, room, jobs) : core.fullLimits.untilNextMs()
    if (!canClaim) core.leftSome = true
    const waitMs = mayStart(core) ? await this.#backlog.plan(ms, room, jobs) : ms
    return core.nextLook.end(waitMs, options.patienceMs)
  }

  async #lookOnce(options: LookOptions, room: number, jobs: DueQuery['jobs']): Promise<number> {
    const core = this.#core
    core.leftSome = true
    const { patienceMs, isLast = false } = options
    const sentAt = core.parts.clock.mono()
    await core.parts.sync('due:sent')
    const scope = scopeOf(this.#memory, { sentAt, patienceMs, room, failing: core.failing.size })
    const found = await this.#find(scope, jobs, sentAt, isLast)
    if (found === null) return FRUITLESS_LONGEST_MS
    const asked = { sentAt, patienceMs, spacingMs: spacingMs(core) }
    const { memory, isBehind, mayHelp } = afterAnswer(this.#memory, scope, found.due, asked)
    this.#memory = memory
    if (core.stopping) return LONG_MS
    const { due } = found
    const toNextMs = (): number => (mayHelp ? 0 : this.#restMs(due))
    if (due.schedules.length === 0) {
      this.#memory = afterNothing(memory)
      core.leftSome = false
      return isLast ? LONG_MS : toNextMs()
    }
    // With a backlog, throughput counts: fewer, larger writes cost the store less.
    const claimed = this.#claim(due, room, isBehind ? BATCH : PART)
    this.#claiming = claimed.catch(() => {})
    const results = await claimed
    const isComplete = found.isAll && core.failedAt() < sentAt
    const counts = { found: due.schedules.length, isComplete, ...countResults(results) }
    const after = afterClaim(this.#memory, counts)
    this.#memory = after.memory
    if (after.next === 'again') return 0
    if (after.next === 'pause') return pauseMs(after.memory, this.#restMs(due))
    // All that was due is claimed, so the store need not be asked for what is next.
    core.leftSome = false
    return toNextMs()
  }

  /** What is due and to be decided here. `null`: the store's epoch has moved, so nothing is claimed now. */
  async #find(
    { patienceMs, limit }: Scope,
    jobs: DueQuery['jobs'],
    sentAt: number,
    isLast: boolean,
  ): Promise<{ readonly due: Due; readonly isAll: boolean } | null> {
    const core = this.#core
    const found = await callStore(core, 'due', () => core.parts.store.due({ jobs, patienceMs, limit }))
    if (isLast) this.#upTo = Math.min(this.#upTo, found.now)
    core.time.observe(found.now, sentAt)
    if (!core.epochs.observe(found.epoch)) return null
    const isFor = (state: ScheduleState): boolean => !core.failing.has(state) && wasDue(state, this.#upTo)
    return { due: { ...found, schedules: found.schedules.filter(isFor) }, isAll: found.schedules.length < limit }
  }

  async #claim(due: Due, room: number, most: number): Promise<readonly ChangeResult[]> {
    const core = this.#core
    const claim = ++core.claims
    const decisions = await this.#decider.claim(due, claim, room)
    if (decisions.length === 0) return []
    core.claiming.add(claim)
    try {
      const parts = Array.from({ length: Math.ceil(decisions.length / most) }, (_, index) =>
        decisions.slice(index * most, (index + 1) * most),
      )
      // All parts end before anything is thrown: what was claimed is started, whatever became of the other parts.
      const sent = await Promise.allSettled(parts.map((part) => this.#claimPart(part, claim)))
      const results = sent.flatMap((part) => {
        if (part.status === 'rejected') throw part.reason
        return part.value
      })
      const full = new Set(
        decisions.filter((_, index) => results[index]!.kind === 'full').map(({ change }) => change.id),
      )
      if (full.size > 0) await this.#planOnly({ ...due, schedules: due.schedules.filter(({ id }) => full.has(id)) })
      return results
    } finally {
      core.claiming.delete(claim)
    }
  }

  async #claimPart(decisions: readonly Decision[], claim: number): Promise<readonly ChangeResult[]> {
    const results = await sendClaim(this.#core, decisions, claim)
    this.#follow(decisions, results)
    return results
  }

  async #planOnly(due: Pick<Due, 'now' | 'epoch' | 'schedules'>): Promise<boolean> {
    const core = this.#core
    const decisions = await this.#decider.plan(due)
    if (decisions.length === 0) return false
    const changes = decisions.map(({ change }) => change)
    this.#follow(decisions, (await callStore(core, 'plan', () => core.parts.store.apply(changes))).results)
    return true
  }

  /** Starts what was claimed, and notes what was in the way of the rest. Conflicts are left to the next look. */
  #follow(decisions: readonly Decision[], results: readonly ChangeResult[]): void {
    const core = this.#core
    for (let index = 0; index < decisions.length; index++) {
      const decision = decisions[index]!
      const result = results[index]!
      this.#decider.answered(decision, result)
      if (result.kind === 'applied') {
        core.applied(decision)
        for (const run of decision.started) {
          core.fullLimits.passed(run.record.job)
          this.#start(run)
        }
      } else if (result.kind === 'full') core.fullLimits.met(decision.started[0]!.record.job)
      else if (result.kind === 'not-live') core.beatAlarm.ring()
    }
  }

  #restMs({ mineAt, othersAt }: Beyond, lookedAt = this.#memory.lookedAt): number {
    const { time, settings, fullLimits, parts } = this.#core
    return restMs({
      ownInMs: mineAt === null ? null : time.until(mineAt),
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

/** For a while only: a run that takes its instance down mostly does so soon, and one that lasts for hours must not stop all others. */
function isSuspectAlone({ runs, parts }: Core): boolean {
  const since = parts.clock.mono() - ALONE_MS
  return runs.all().some(({ started, begunAt }) => started.suspect && begunAt > since)
}

function spacingMs({ fleet, parts }: Core): number {
  return SWEEP_MS * fleet.peers.length * (0.5 + parts.random())
}
