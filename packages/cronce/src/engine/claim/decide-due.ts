import { isPromise } from '../../model/is-promise.ts'
import type { FireRecord } from '../../model/record.ts'
import type { Instant, OpenFire, ScheduleState } from '../../model/schedule.ts'
import { canMaterialise } from '../../policy/bounds.ts'
import type { Claimant, Context, Decision } from '../../policy/decision.ts'
import { advance } from '../../policy/plan/advance.ts'
import { nextBackfillStretch } from '../../policy/plan/backfill.ts'
import { decideOn } from '../../policy/plan/decide-on.ts'
import { mayPlan, moveZone } from '../../policy/plan/move-zone.ts'
import { claimAhead } from '../../policy/plan/plain-fire.ts'
import { listFires } from '../../store/list-views.ts'
import type { ChangeResult, Due } from '../../store/store.ts'
import type { Core } from '../core.ts'
import { applyChanges, callStore } from '../store-calls.ts'
import { hasJobOf, takesNew } from './buckets.ts'
import { BATCH } from './look.ts'
import { isOnlyPostponed } from './postponed.ts'
import { RunsInTheWay } from './run-in-the-way.ts'

/** Longest time that deciding blocks the event loop: after an outage one schedule may have ten thousand instants to plan. */
const DECIDING_MS = 50
const EXISTING_LIMIT = 1_000
const NOTHING: readonly FireRecord[] = []
const NOTHING_LEFT: LeftForLater = { count: 0, at: null }
const NO_CLAIM: Claim = { number: 0, decisions: [], left: NOTHING_LEFT }

/** Decisions that are written with one number, by which this instance finds them after a lost answer. */
export interface Claim {
  readonly number: number
  readonly decisions: readonly Decision[]
  readonly left: LeftForLater
}

type MaybeDecision = Decision | 'stop' | null

/** Schedules that are not due yet and can't be claimed before, and when the first of them is due. */
export interface LeftForLater {
  readonly count: number
  readonly at: Instant | null
}

/** Decides about schedules that are due, and remembers the records that were in the way of earlier decisions. */
export class DueDecider {
  readonly #core: Core
  /** Fires found on record although their schedule had not got to them. */
  readonly #onRecord = new Map<string, FireRecord[]>()
  readonly #inTheWay: RunsInTheWay

  constructor(core: Core) {
    this.#core = core
    this.#inTheWay = new RunsInTheWay(core)
  }

  /** Plans and claims as much as there is room for. What is not decided is still due at the next look. */
  async claim({ due, room }: { readonly due: Due; readonly room: number }): Promise<Claim> {
    const core = this.#core
    if (due.schedules.length === 0) return NO_CLAIM
    const number = ++core.claims
    const { isFull } = core.fullLimits
    const context = core.context(due)
    const idle = core.runs.working === 0
    // One for all decisions, whose room is what those before have left.
    const claimant = { instance: core.fleet.instance, claim: number, room, idle, oneByOne: true, isFull }
    const later: Instant[] = []
    const decideDue = (state: ScheduleState, existing: readonly FireRecord[]): Decision | null => {
      const decision = core.failing.try(state, () => decideOn(state, context, claimant, existing))
      if (decision === null || (!claimant.idle && isOnlyPostponed(state, decision))) return null
      claimant.room -= decision.started.length
      if (decision.started.length > 0) claimant.idle = false
      // A suspect fire runs alone: what else is due waits, or a peer takes it.
      if (decision.started.some(({ suspect }) => suspect)) claimant.room = 0
      return decision
    }
    const decisions = await this.#each(due, Number.POSITIVE_INFINITY, (state) => {
      if (claimant.room === 0) return 'stop'
      if (!hasJobOf(core, state)) return null
      if (state.wakeAt === null || state.wakeAt <= due.now) {
        const passed = this.#inTheWay.pass(state, due.now)
        return passed && this.#withExisting(passed, decideDue)
      }
      const ahead = core.failing.try(state, () => decideAhead(state, context, claimant))
      if (ahead === null) later.push(state.wakeAt)
      else claimant.room--
      return ahead
    })
    return {
      number,
      decisions,
      left: later.length === 0 ? NOTHING_LEFT : { count: later.length, at: Math.min(...later) },
    }
  }

  /**
   * Plans these schedules without starting a run. `oneByOne`: this instance has room, and will claim what is on time. True: at least one
   * has changed.
   */
  async planOnly(due: Pick<Due, 'now' | 'epoch' | 'schedules'>, oneByOne = false): Promise<boolean> {
    const core = this.#core
    const planner = oneByOne ? { instance: core.fleet.instance, claim: 0, room: 0, idle: false, oneByOne } : null
    const context = core.context(due)
    const decisions = await this.#each(due, BATCH, (found) => {
      const state = this.#inTheWay.pass(found, due.now)
      if (state === null) return null
      return this.#withExisting(state, (_, existing) => {
        const decision = core.failing.try(state, () => advance(state, context, planner, existing))
        return decision === null || isOnlyPostponed(state, decision) ? null : decision
      })
    })
    if (decisions.length === 0) return false
    const changes = decisions.map(({ change }) => change)
    this.answered(decisions, (await applyChanges(core, 'plan', changes)).results)
    return true
  }

  /** The store has answered these decisions. */
  answered(decisions: readonly Decision[], results: readonly ChangeResult[]): void {
    const core = this.#core
    for (let index = 0; index < decisions.length; index++) {
      const decision = decisions[index]!
      const result = results[index]!
      const { id } = decision.change
      const known = this.#onRecord.get(id)
      if (known !== undefined) this.#onRecord.delete(id)
      // Keep all that were met so far: of two on record, each would otherwise make this instance forget the other.
      if (result.kind === 'exists') this.#onRecord.set(id, [...(known ?? NOTHING), result.fire].slice(-EXISTING_LIMIT))
      if (result.kind !== 'applied') continue
      core.applied(decision)
      core.fullLimits.passed(decision.change.limits)
    }
  }

  async #each(
    { schedules }: Pick<Due, 'schedules'>,
    most: number,
    decide: (state: ScheduleState) => MaybeDecision | Promise<MaybeDecision>,
  ): Promise<Decision[]> {
    const { clock } = this.#core.parts
    const newest = newestZoneData(this.#core)
    const decisions: Decision[] = []
    const startedAt = clock.mono()
    for (const state of schedules) {
      if (decisions.length === most || (decisions.length > 0 && clock.mono() - startedAt > DECIDING_MS)) break
      if (!mayPlan(state, this.#core.settings.zoneData, newest(state.definition.job))) continue
      const deciding = decide(state)
      // Only a backfill has something to wait for.
      const decision = isPromise(deciding) ? await deciding : deciding
      if (decision === 'stop') break
      if (decision !== null) decisions.push(decision)
    }
    return decisions
  }

  /** `decide` gets what is on record where the schedule's backfill goes on, and what was in the way before. */
  #withExisting<Value>(
    state: ScheduleState,
    decide: (state: ScheduleState, existing: readonly FireRecord[]) => Value,
  ): Value | Promise<Value> {
    const found = this.#onRecord.get(state.id) ?? NOTHING
    if (state.backfills.length === 0) return decide(state, found)
    return this.#loadBackfilled(state, found).then((existing) => decide(state, existing))
  }

  async #loadBackfilled(state: ScheduleState, found: readonly FireRecord[]): Promise<readonly FireRecord[]> {
    const { failing, parts } = this.#core
    const stretch = failing.try(state, () => nextBackfillStretch(state))
    if (stretch === null) return found
    const query = { schedule: state.id, from: stretch.from, to: stretch.to + 1, order: 'earliest' as const }
    const page = await callStore(this.#core, 'backfill', () =>
      listFires(parts.store, { ...query, after: null, limit: EXISTING_LIMIT }),
    )
    return [...page.items, ...found]
  }
}

/** A run that is claimed ahead does not make this instance busy: it has not started. */
function decideAhead(state: ScheduleState, context: Context, claimant: Claimant): Decision | null {
  return moveZone(state, context) === null ? claimAhead(state, context, claimant) : null
}

/**
 * Whether the schedule was due at `upTo`. A backfill wakes its schedule with each decision, and was wanted when it began; unless newer
 * fires keep it waiting.
 */
export function wasDue(state: ScheduleState, upTo: number): boolean {
  const isBackfilled = ({ kind, run, attempt }: OpenFire): boolean =>
    kind === 'backfill' && run === null && attempt === 0
  return (state.wakeAt ?? 0) <= upTo || canMaterialise(state) || state.open.some(isBackfilled)
}

/** By job, the newest time zone data among the instances that could plan it. */
function newestZoneData(core: Core): (job: string) => string {
  const own = core.settings.zoneData
  const newer = core.fleet.peers.filter(
    (peer) => peer.zoneData > own && takesNew(peer) && peer.app === core.settings.app,
  )
  if (newer.length === 0) return () => own
  return (job) =>
    newer.reduce((newest, { zoneData, jobs }) => (zoneData > newest && jobs.includes(job) ? zoneData : newest), own)
}
