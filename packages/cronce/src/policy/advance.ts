import { ending } from '../model/outcome.ts'
import type { FireRecord } from '../model/record.ts'
import type { ScheduleState } from '../model/schedule.ts'
import { materialise } from './backfill.ts'
import type { Claimant, Context, Decision } from './decision.ts'
import { begin, type Draft, finishIfChanged } from './draft.ts'
import { cancelEnding, endFire, endRun } from './fires.ts'
import { ledgerOf } from './ledger.ts'
import { resumeStep } from './pause.ts'
import { missWaiting, plan } from './plan.ts'
import { isRunning } from './records.ts'
import { failFire } from './settle.ts'
import { startFires } from './start.ts'

/**
 * Everything that is due now, in one step: end what was revoked, plan, go on with backfills, and start what may start if
 * somebody would run it. `null`: nothing is to be done.
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
  settleDue(draft, existing)
  if (claimant !== null) startFires(draft, claimant)
  return finishIfChanged(draft)
}

function settleDue(draft: Draft, existing: readonly FireRecord[]): void {
  if (draft.state.retiredAt !== null) return
  const until = draft.state.pause?.until ?? null
  if (until !== null && until <= draft.context.now) resumeStep(draft, draft.state.pause!.missed)
  if (draft.state.pause !== null) return
  const ledger = ledgerOf(existing)
  plan(draft, 'ready', existing.length === 0 ? null : ledger)
  missWaiting(draft)
  materialise(draft, ledger, existing)
}

/** Runs that were asked to end and had their grace: whatever they still do is refused from now on. */
function revoke(draft: Draft): void {
  const { now } = draft.context
  for (const fire of draft.open.filter(isRunning)) {
    const { cancel } = fire.run
    if (cancel === null || cancel.revokeAt > now) continue
    const end = cancelEnding(cancel)
    endRun(draft, fire, end)
    if (cancel.reason === 'timeout') failFire(draft, fire, ending('timeout', cancel.detail), true)
    else endFire(draft, fire, end)
  }
}
