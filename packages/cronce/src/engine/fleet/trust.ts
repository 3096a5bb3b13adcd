import { CronceError } from '../../errors.ts'
import type { Core } from '../core.ts'
import { aboutRun, type LocalRun } from '../run/run-table.ts'

/**
 * Whether the lease can be trusted right now. A jump of the wall clock is a doubt, not a verdict: wait until the store has answered
 * a heartbeat, or the lease has run out.
 */
export function leaseHolds<Tx>(core: Core<Tx>): boolean | Promise<boolean> {
  return core.lease.jumped() ? confirmLease(core) : core.lease.trusted()
}

async function confirmLease<Tx>(core: Core<Tx>): Promise<boolean> {
  while (core.lease.jumped() && core.lease.trusted() && !core.stopped.aborted) await core.confirm()
  return core.lease.trusted()
}

/** Call this right before work that must not happen twice: after a blocked event loop, no timer has aborted the run yet. */
export async function demandTrust<Tx>(core: Core<Tx>, run: LocalRun, wanted: 'once' | 'transaction'): Promise<void> {
  if (run.signal.aborted) throw run.signal.reason
  const isHeld = await leaseHolds(core)
  if (run.signal.aborted) throw run.signal.reason
  if (core.fleet.instance === run.instance && isHeld) return
  run.abort('lease-lost', null)
  throw new CronceError('LEASE_LOST', `The lease of this run can no longer be trusted, so ${wanted} did not start.`, {
    hint: 'Stop working; the fire will be run again, or another instance is running it.',
  })
}

/** The store refused a write of the run: a peer runs the fire now, or the fire has ended. */
export function fenced(core: Core, run: LocalRun, refused: 'once' | 'transaction'): CronceError {
  const { token } = run.started.record
  core.parts.emit({ type: 'run.fenced', refused, ...aboutRun(run) })
  run.abort('fenced', null)
  return new CronceError('RUN_FENCED', `This run was overtaken: its token ${token} is no longer current.`, {
    hint: 'Stop working. Another run of the fire has started, or it was cancelled.',
  })
}
