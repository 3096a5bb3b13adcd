import { DEFAULT_POLICY } from '../../model/policy.ts'
import type { FireRecord } from '../../model/record.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import type { Claimant, Context, Decision } from '../decision.ts'
import { endFrozen } from '../deploy/retire.ts'
import { begin, type Draft, finishIfChanged, set } from '../draft.ts'
import { failParked } from '../end/settle.ts'
import { cancelEnding, endFire, endRun } from '../fires.ts'
import { ledgerOf } from '../ledger.ts'
import { isRunning } from '../records.ts'
import { materialise } from './backfill.ts'
import { isQuiet, skipsOverlap } from './plain-fire.ts'
import { giveUpWaiting, missWaiting, plan } from './plan.ts'
import { isPauseOver, resumeStep } from './resume-step.ts'
import { nextUnskipped, seriesOf } from './series.ts'
import { startFires } from './start.ts'
import { isEnded } from './wake.ts'

/**
 * Everything that is due now, in one step: end what was revoked, plan, go on with backfills, and start what may start if
 * the calling instance would run it. `null`: there is nothing to do.
 *
 * `existing`: what is on record in the stretch that `nextBackfillStretch` names, and any record that a store answered to be in
 * the way (`exists`) when an earlier decision was written: such instants are passed over.
 */
export function advance(
  state: ScheduleState,
  context: Context,
  claimant: Claimant | null,
  existing: readonly FireRecord[],
): Decision | null {
  const draft = begin(state, context)
  revoke(draft)
  settleDue(draft, existing, claimant)
  if (claimant !== null) startFires(draft, claimant)
  return finishIfChanged(draft)
}

/**
 * End what is over in a schedule whose job no instance has, so that no instance claims it: revoked and parked runs, frozen fires.
 * `null`: nothing is over.
 */
export function endOverdue(state: ScheduleState, context: Context): Decision | null {
  const draft = begin(state, context)
  revoke(draft)
  endFrozen(draft)
  return draft.history.length === 0 ? null : finishIfChanged(draft)
}

function settleDue(draft: Draft, existing: readonly FireRecord[], claimant: Claimant | null): void {
  if (draft.state.retiredAt !== null) {
    settleRetired(draft)
    return
  }
  const known = existing.length === 0 ? null : ledgerOf(existing)
  if (isPauseOver(draft)) resumeStep(draft, draft.state.pause!.missed, known)
  const most = claimant?.oneByOne && leavesWaiting(draft, existing) ? 1 : undefined
  if (draft.state.pause === null) plan(draft, 'ready', known, most)
  passOverAhead(draft, existing)
  if (draft.state.pause !== null) return
  missWaiting(draft)
  giveUpWaiting(draft)
  if (draft.state.backfills.length > 0) materialise(draft, known ?? ledgerOf([]), existing)
}

/**
 * Whether instants that came due together, because planning was late, may stay unplanned while the first of them runs. They do
 * not end by overlap with it (`on-time.ts`), so only the cost differs: opening all of them costs the store several times as much,
 * and would keep an overloaded fleet late.
 */
function leavesWaiting({ state, open }: Draft, existing: readonly FireRecord[]): boolean {
  const { policy, limit } = state.definition
  const { misfire = DEFAULT_POLICY.misfire } = policy
  if (open.length > 0 || existing.length > 0 || !isQuiet(state)) return false
  return skipsOverlap(policy) && misfire.late !== 'all' && limit === null && policy.limits === undefined
}

/** A retired schedule plans nothing. If its job was renamed, waiting fires still run. */
function settleRetired(draft: Draft): void {
  endFrozen(draft)
  if (isEnded(draft.state)) return
  if (isPauseOver(draft)) resumeStep(draft, draft.state.pause!.missed, null)
  if (draft.state.pause !== null) return
  missWaiting(draft)
  giveUpWaiting(draft)
}

/** Remembers instants that are on record but not planned yet: a resume or a skip would otherwise conflict with them forever. */
function passOverAhead(draft: Draft, existing: readonly FireRecord[]): void {
  const { id, definition, nextAt, skipped = [] } = draft.state
  if (nextAt === null) return
  const ahead = existing.filter(({ dueAt, nonce }) => nonce === '' && dueAt >= nextAt).map(({ dueAt }) => dueAt)
  const added = ahead.filter((dueAt) => !skipped.includes(dueAt))
  if (added.length === 0) return
  set(draft, { skipped: [...skipped, ...added] })
  set(draft, { nextAt: nextUnskipped(draft.state, seriesOf(id, definition), nextAt - 1) })
}

/**
 * Runs that were asked to end and whose grace is over, and parked runs past their deadline: all their later writes are refused.
 */
function revoke(draft: Draft): void {
  const { now } = draft.context
  for (const fire of draft.open.filter(isRunning)) {
    const { cancel, parkedUntil } = fire.run
    if (parkedUntil !== undefined && parkedUntil <= now) {
      failParked(draft, fire)
      continue
    }
    if (cancel === null || cancel.revokeAt > now) continue
    const end = cancelEnding(cancel)
    endRun(draft, fire, end)
    endFire(draft, fire, end)
  }
}
