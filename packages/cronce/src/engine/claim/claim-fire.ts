import type { ErrorCode } from '../../errors.ts'
import type { Reason } from '../../model/outcome.ts'
import type { FireRecord } from '../../model/record.ts'
import type { Definition, Instant, ScheduleState } from '../../model/schedule.ts'
import { contention, pauseAmong } from '../../policy/contention.ts'
import type { Decision, Refusal, StartedRun } from '../../policy/decision.ts'
import { define } from '../../policy/operate/define.ts'
import { HELD, type TakeWish, take, takeAgain } from '../../policy/plan/take-fire.ts'
import { isRefusal } from '../../policy/refusals.ts'
import type { Core } from '../core.ts'
import { leaseHolds } from '../fleet/trust.ts'
import type { ExclusiveKind } from '../run/run-table.ts'
import { callStore } from '../store-calls.ts'
import { sendClaim } from './send-claim.ts'

/** What is wanted, and the schedule that it is a fire of, which is made if it is missing. */
export interface Wanted extends TakeWish {
  /** A fire of this identity that came to nothing: it is begun again. */
  readonly again?: FireRecord
  readonly schedule: string
  readonly definition: Definition
  /** A schedule of the same job stays as it is: this process has declared its definition before, and a peer may have changed it. */
  readonly keepsDefinition?: boolean
}

export type Taken =
  | { readonly kind: 'taken'; readonly started: StartedRun }
  /** By a run of the schedule, where one is known; or its time has not come. `now` is the store's. */
  | { readonly kind: 'held'; readonly state: ScheduleState; readonly now: Instant }
  /** It is on record that it is not run: a pause, or another fire of its schedule, is in the way. */
  | { readonly kind: 'skipped'; readonly reason: Reason }
  /** It was taken before, by whoever. */
  | { readonly kind: 'exists'; readonly fire: FireRecord }
  /** This instance may not begin anything now: it stops, its lease is in doubt, what the store forgot is being written again. */
  | { readonly kind: 'unable' }
  /** The schedule's name is somebody else's. */
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly message: string; readonly hint: string }

/** Each try that fails means that somebody else succeeded. */
const TRIES = 50

/** Try to take it, once; neither what is held is waited for, nor a store that moved. Throws when the store does. */
export async function claimFire(core: Core, wanted: Wanted, kind: ExclusiveKind): Promise<Taken> {
  for (let tries = 0; tries < TRIES; tries++) {
    await core.parts.clock.pause(pauseAmong(tries, core.parts.random), core.stopped)
    await leaseHolds(core)
    if (!isAble(core, wanted, kind)) return { kind: 'unable' }
    const loaded = await callStore(core, 'take (read)', () => core.parts.store.load([wanted.schedule]))
    if (!core.epochs.observe(loaded.epoch)) continue
    const context = core.context(loaded)
    const state = loaded.schedules[0] ?? null
    const made = isDeclared(state, wanted)
      ? null
      : define(state, wanted.schedule, { definition: wanted.definition, source: { kind: 'client' } }, context)
    if (made !== null && isRefusal(made)) return refusedBy(made)
    if (made !== null) {
      await callStore(core, 'take (define)', () => core.parts.store.apply([made.change]))
      continue
    }
    const claim = ++core.claims
    const claimant = { instance: core.fleet.instance, claim }
    const decision =
      wanted.again === undefined
        ? take(state!, wanted, claimant, context)
        : takeAgain(state!, wanted.again, claimant, context)
    if (decision === HELD) return { kind: 'held', state: state!, now: context.now }
    if (isRefusal(decision)) return refusedBy(decision)
    const taken = await claimOne(core, decision, claim)
    if (taken !== null) return taken
  }
  throw contention(wanted.schedule, TRIES)
}

function isDeclared(state: ScheduleState | null, { keepsDefinition = false, definition }: Wanted): boolean {
  return keepsDefinition && state?.definition.job === definition.job
}

/**
 * A drained instance leads nobody, and does nothing because it is due. Locks and keys are part of what its callers do, who are at
 * work as long as it is there.
 */
function isAble(core: Core, { dueAt }: Wanted, kind: ExclusiveKind): boolean {
  if (core.stopping || (core.fleet.drained && (kind === 'term' || dueAt !== null))) return false
  return core.lease.trusted() && core.epochs.isSettled() && core.epochs.mayClaim()
}

/** `null`: somebody else changed the schedule meanwhile, look again. */
async function claimOne(core: Core, decision: Decision, claim: number): Promise<Taken | null> {
  core.claiming.add(claim)
  try {
    const [result] = await sendClaim(core, [decision], claim)
    if (result?.kind === 'exists') return { kind: 'exists', fire: result.fire }
    if (result?.kind === 'not-live') {
      core.beatAlarm.ring()
      return { kind: 'unable' }
    }
    if (result?.kind !== 'applied') return null
    core.applied(decision)
    const [started] = decision.started
    return started === undefined ? skippedBy(decision) : { kind: 'taken', started }
  } finally {
    core.claiming.delete(claim)
  }
}

function skippedBy({ change: { history } }: Decision): Taken {
  const skipped = history.find(({ ending }) => ending.outcome === 'skipped')
  return { kind: 'skipped', reason: skipped!.ending.reason }
}

function refusedBy({ refused, message, hint }: Refusal): Taken {
  return { kind: 'refused', code: refused, message, hint }
}
