import type { Bounds } from '../../packages/checker/src/history.ts'
import type { Scenario } from './scenario.ts'

/** A call to the store is given up after this. */
export function storeDeadlineOf({ leaseMs }: Scenario): number {
  return Math.min(10_000, leaseMs * 2)
}

/** Between two rounds of an engine's slow duties. */
function slowDutiesMs({ leaseMs, holdDownMs }: Scenario): number {
  return Math.min(Math.max(30_000, leaseMs), holdDownMs / 2)
}

/** A refused declaration is tried again at least this often. */
const RETRY_REFUSED_MS = 60_000

/**
 * After the last fault, until every job that a live process may have is that of its app, and fires. In a row: a dead process is found; a
 * deployment that died early proves itself; what is gone counts as lost; what left the code is retired, by the last of five instances
 * that wait a lease for each other; the declaration is tried again.
 */
export function ownershipMsOf(scenario: Scenario): number {
  const { recoveryMs, lateMs } = boundsOf(scenario)
  return recoveryMs + 3 * scenario.holdDownMs + 5 * scenario.leaseMs + RETRY_REFUSED_MS + lateMs
}

/** After a schedule was retired, until another app that declares its name has it. A handler that blocks its process retires one even in the calm. */
export function takeOverMsOf(scenario: Scenario): number {
  return RETRY_REFUSED_MS + boundsOf(scenario).lateMs
}

/** Back-off after failures of the store (5 s), a fire that crashed twice and waits for an idle instance (10 s), and a margin. */
const WAITING_MS = 20_000

/**
 * After the last fault, one lease counts as the store's outage, and a dead instance is watched for another. If the peer that
 * should recover its runs has died as well, recovery is a slow duty. A troubled instance takes its full share after three leases.
 */
export function boundsOf(scenario: Scenario): Bounds {
  const { leaseMs } = scenario
  return {
    leaseMs,
    recoveryMs: 6 * leaseMs + slowDutiesMs(scenario) + 2 * storeDeadlineOf(scenario) + WAITING_MS,
    lateMs: 10_000,
    claimAheadMs: scenario.claimAheadMs ?? 0,
    clockErrorMs: 1,
    starvedMs: null,
  }
}
