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

/** The wanted fire, and its schedule, which is created if it is missing. */
export interface Wanted extends TakeWish {
  /** The fire of this identity ended without a result: start it again. */
  readonly again?: FireRecord
  readonly schedule: string
  readonly definition: Definition
  /**
   * A schedule of the same job is left unchanged: this process has declared its definition before, and a peer may have changed
   * it.
   */
  readonly keepsDefinition?: boolean
}

export type Taken =
  | { readonly kind: 'taken'; readonly started: StartedRun }
  /** Held by an open run of the schedule, if known, or not due yet. `now` is by the store's clock. */
  | { readonly kind: 'held'; readonly state: ScheduleState; readonly now: Instant }
  /** Recorded as not run: a pause, or another fire of its schedule, prevents it. */
  | { readonly kind: 'skipped'; readonly reason: Reason }
  /** It was claimed before, by any instance. */
  | { readonly kind: 'exists'; readonly fire: FireRecord }
  /** This instance may not start anything now: it stops, its lease is in doubt, or it restores what the store has lost. */
  | { readonly kind: 'unable' }
  /** The name of the schedule belongs to another job. */
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly message: string; readonly hint: string }

/** Each failed attempt means that another instance succeeded. */
const TRIES = 50

/** Tries to claim it once. Waits neither for a holder nor for a store whose epoch moved. Throws when the store does. */
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
 * A drained instance stands for no election and runs nothing that is due. Locks and keys are part of its callers' work, which
 * continues.
 */
function isAble(core: Core, { dueAt }: Wanted, kind: ExclusiveKind): boolean {
  if (core.stopping || (core.fleet.drained && (kind === 'term' || dueAt !== null))) return false
  return core.lease.trusted() && core.epochs.isSettled() && core.epochs.mayClaim()
}

/** `null`: another instance changed the schedule meanwhile, look again. */
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
