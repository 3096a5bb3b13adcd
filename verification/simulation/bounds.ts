import type { Bounds } from '../../packages/checker/src/history.ts'
import type { Scenario } from './scenario.ts'

/** A call to the store is given up after this. */
export function storeDeadlineOf({ leaseMs }: Scenario): number {
  return Math.min(10_000, leaseMs * 2)
}

/**
 * After the last fault: whoever died last is forgiven for one lease as the store's outage, and watched for another; whoever
 * was to recover its runs may have died as well, and slow duties come every 30 s or every lease; an instance that was in
 * trouble takes its full share again after three leases; a fire that crashed twice waits up to a minute for an idle one.
 */
export function boundsOf(scenario: Scenario): Bounds {
  const { leaseMs } = scenario
  return {
    leaseMs,
    recoveryMs: 6 * leaseMs + Math.max(30_000, leaseMs) + 2 * storeDeadlineOf(scenario) + 70_000,
    lateMs: 10_000,
    clockErrorMs: 1,
  }
}
