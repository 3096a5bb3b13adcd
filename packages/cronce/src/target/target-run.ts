import type { RunLease } from '../engine/parts.ts'
import type { Run } from '../run/run.ts'

/** What a target gets: a handler's run, and what the code needs that starts and ends things on its behalf. */
export interface TargetRun<Input = unknown, Tx = unknown> extends Run<Input, Tx> {
  /** Between the abort of the signal and the moment at which the run is over for the fleet: by then it must have been ended. */
  readonly graceMs: number
  /** Part of every idempotency key. */
  readonly namespace: string
  /** Whether the schedule runs one fire at a time. */
  readonly isSingle: boolean
  /** For what runs outside of this process; `null`: no other instance could run it. */
  readonly lease: RunLease | null
}
