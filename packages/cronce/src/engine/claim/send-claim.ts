import type { Decision } from '../../policy/decision.ts'
import type { ChangeResult } from '../../store/store.ts'
import type { Core } from '../core.ts'
import { describeError } from '../describe-error.ts'
import { applyChanges, callStore } from '../store-calls.ts'

/** Writes claims and returns the result of each, even if the store's answer was lost. */
export async function sendClaim(
  core: Core,
  decisions: readonly Decision[],
  claim: number,
): Promise<readonly ChangeResult[]> {
  const { leaseMs } = core.settings
  // A renewal keeps peers from declaring this instance dead before the runs start that are claimed ahead.
  const claimant = { instance: core.fleet.instance, leaseMs, renew: decisions.some(isAhead) }
  const changes = decisions.map(({ change }) => change)
  // The instance that runs what is to be replaced would hear of it with its next heartbeat, and the new fire waits for that.
  const wake = changes.some(({ state }) => state?.open.some(({ run }) => run !== null && run.cancel !== null))
  const sent = core.lease.times()
  await core.parts.sync('claim:sent')
  try {
    const applied = await applyChanges(core, 'claim', changes, { claimant, wake })
    await core.parts.sync('claim:answered')
    core.storeAnswered()
    core.time.observe(applied.now, sent.mono)
    if (claimant.instance === core.fleet.instance) {
      if (applied.renewed) core.lease.renewed(sent, leaseMs)
      // Even a claim that does not renew the lease keeps peers that looked before it from declaring this instance dead.
      if (applied.results.some(({ kind }) => kind === 'applied')) core.lease.answered(sent)
    }
    return applied.results
  } catch (error) {
    core.storeFailed('claim', describeError(error), 0)
    return findClaimed(core, decisions, claimant.instance, claim)
  }
}

export function isAhead({ started }: Decision): boolean {
  return started[0]?.isAhead === true
}

/**
 * The answer was lost. What the store says this claim holds is ours. If the claim arrives later, the heartbeat that finds it hands the
 * run back.
 */
async function findClaimed(
  core: Core,
  decisions: readonly Decision[],
  instance: string,
  claim: number,
): Promise<readonly ChangeResult[]> {
  const ids = decisions.map(({ change }) => change.id)
  const { schedules } = await callStore(core, 'claim (look)', () => core.parts.store.load(ids))
  const held = new Set(
    schedules.flatMap(({ id, open }) =>
      open
        .filter(({ run }) => run?.instance === instance && run.claim === claim)
        .map(({ run }) => `${run!.token} ${id}`),
    ),
  )
  return decisions.map(({ started, change }) => {
    const isApplied = started.length > 0 && started.every(({ record }) => held.has(`${record.token} ${change.id}`))
    return { kind: isApplied ? 'applied' : 'conflict' }
  })
}
