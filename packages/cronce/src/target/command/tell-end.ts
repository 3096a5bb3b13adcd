import { counted } from '../../words.ts'
import type { TargetRun } from '../target-run.ts'
import type { CommandEnd } from './supervise.ts'

/** What the outcome alone does not show. */
export function tellEnd(run: TargetRun, { exitCode, signal, leftBehind, remaining, isLeaseLost }: CommandEnd): void {
  if (run.signal.aborted && exitCode === null) run.log.warn(`[cronce] It was ended with ${signal}.`)
  if (isLeaseLost) run.log.warn('[cronce] Its supervisor ended it, since no news of the lease came in time.')
  if (leftBehind > 0)
    run.log.warn(`[cronce] It left ${counted(leftBehind, 'process', 'processes')} behind, which cronce ended.`)
  if (remaining > 0)
    run.log.error(`[cronce] ${remaining} of its processes could not be ended, and may still be running.`)
}
