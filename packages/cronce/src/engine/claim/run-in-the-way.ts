import { DEFAULT_POLICY } from '../../model/policy.ts'
import type { Instant, RunningFire, ScheduleState } from '../../model/schedule.ts'
import { withStart } from '../../policy/end/claimed-ahead.ts'
import { isOnTime } from '../../policy/plan/misfire.ts'
import { skipsOverlap } from '../../policy/plan/plain-fire.ts'
import { isRunning } from '../../policy/records.ts'
import type { Core } from '../core.ts'
import type { LocalRun } from '../run/run-table.ts'

/** How long a due time is left to the end of a run that is expected soon. */
const SOON_MS = 1_000
/** How long it is remembered at least that a due time was left to a peer. */
const KEPT_MS = 60_000

/** A due time that is left to a peer's run, and since when, by the monotonic clock. */
interface Left {
  readonly nextAt: Instant
  readonly since: number
}

/**
 * Tells which due schedules to leave until their open run has ended. Their next fires would be skipped, or wait, because of a run
 * that has ended but is not settled, or has not started: the fleet is slow, not the job. After too long the misfire policy
 * decides.
 */
export class RunsInTheWay {
  readonly #core: Core
  readonly #left = new Map<string, Left>()
  #prunedAt = 0

  constructor(core: Core) {
    this.#core = core
  }

  /**
   * The state to decide on, with the start of this instance's run that was claimed ahead. `null`: leave the schedule until its
   * open run has ended.
   */
  pass(state: ScheduleState, now: Instant): ScheduleState | null {
    const { nextAt, wakeAt, open, definition } = state
    const [fire] = open
    if (open.length !== 1 || nextAt === null || wakeAt !== nextAt || !skipsOverlap(definition.policy)) return state
    const { misfire = DEFAULT_POLICY.misfire } = definition.policy
    if (!isRunning(fire!) || !isOnTime(misfire, now - nextAt)) return state
    const own = this.#core.runs.find(state.id, fire.run.token)
    if (own === undefined) return this.#isLeftToPeer(state, fire, nextAt) ? null : state
    return passOwn(own, state, fire, now)
  }

  /**
   * Whether the run is expected to end soon, or the peer that is to plan the schedule has not done so, maybe because it holds the run and
   * knows that it is over. For a second from when this instance first saw it: before that, the whole fleet may have stood still.
   */
  #isLeftToPeer(state: ScheduleState, { run }: RunningFire, nextAt: Instant): boolean {
    const { transient, nextLook, parts } = this.#core
    const isPeers = !transient && !nextLook.isMine(state)
    if (run.parkedUntil !== undefined || (nextAt > run.startedAt && !isPeers)) return false
    const mono = parts.clock.mono()
    const known = this.#left.get(state.id)
    if (known?.nextAt === nextAt) return mono - known.since < SOON_MS
    this.#prune(mono)
    this.#left.set(state.id, { nextAt, since: mono })
    return true
  }

  #prune(mono: number): void {
    if (mono - this.#prunedAt < KEPT_MS) return
    this.#prunedAt = mono
    for (const [id, { since }] of this.#left) if (mono - since >= KEPT_MS) this.#left.delete(id)
  }
}

function passOwn(own: LocalRun, state: ScheduleState, fire: RunningFire, now: Instant): ScheduleState | null {
  if (own.calledAt === undefined || own.ended) return null
  const startedAt = Math.max(fire.run.startedAt, Math.min(own.calledAt, now))
  if (state.nextAt! > startedAt) return state
  if (now - startedAt < SOON_MS) return null
  return own.started.isAhead === undefined ? state : { ...state, open: [withStart(fire, startedAt)] }
}
