import { CronceError } from '../errors.ts'
import type { Core } from './core.ts'
import { aboutRun, type LocalRun } from './run-table.ts'

/** Right before anything begins that must not be done twice: after a blocked event loop, no timer has told us yet. */
export function demandTrust<Tx>(core: Core<Tx>, run: LocalRun, wanted: 'once' | 'transaction'): void {
  if (run.signal.aborted) throw run.signal.reason
  if (core.instance === run.instance && core.lease.trusted()) return
  run.abort('lease-lost', null)
  throw new CronceError(
    'LEASE_LOST',
    `The lease of this run can not be trusted any more, so ${wanted} was not begun.`,
    {
      hint: 'Stop working; the fire will be run again, or is being run by another instance.',
    },
  )
}

/** The store refused what a run wanted: somebody else is at it, or nobody should be. */
export function fenced(core: Core, run: LocalRun, refused: 'once' | 'transaction'): CronceError {
  const { token } = run.started.record
  core.parts.emit({ type: 'run.fenced', refused, ...aboutRun(run) })
  run.abort('fenced', null)
  return new CronceError('RUN_FENCED', `This run was overtaken: its token ${token} is no longer current.`, {
    hint: 'Stop working. Another run of the fire has begun, or it was cancelled.',
  })
}
