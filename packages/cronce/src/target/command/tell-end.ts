import type { TargetRun } from '../target-run.ts'
import type { CommandEnd } from './supervise.ts'

/** What nobody would guess from the outcome alone. */
export function tellEnd(run: TargetRun, { exitCode, signal, leftBehind, remaining }: CommandEnd): void {
  if (run.signal.aborted && exitCode === null) run.log.warn(`[cronce] It was ended with ${signal}.`)
  if (leftBehind > 0) run.log.warn(`[cronce] It left ${leftBehind} processes behind, which were ended.`)
  if (remaining > 0)
    run.log.error(`[cronce] ${remaining} of its processes could not be ended, and may still be running.`)
}
