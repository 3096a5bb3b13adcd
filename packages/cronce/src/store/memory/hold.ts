import type { Instant } from '../../model/schedule.ts'
import { isExpired } from './instances.ts'
import { ascend } from './sorted.ts'
import { type Space, setInstance } from './space.ts'

/**
 * After a failover that may have lost writes: live instances may know what the store has lost, and report it before any of them
 * claims. No instance could renew during the outage, so every lease begins anew.
 */
export function holdClaims(space: Space, now: Instant): void {
  for (const id of ascend(space.present)) {
    const known = space.data.instances.get(id)!
    setInstance(space, id, { ...known, leaseUntil: now + known.leaseMs })
  }
  space.settled = new Set()
}

/** Once claims are released they stay released: an instance that joins later has no lost records to report. */
export function areClaimsHeld(space: Space, now: Instant): boolean {
  if (space.settled === null) return false
  for (const id of ascend(space.present)) {
    if (!space.settled.has(id) && !isExpired(space.data.instances.get(id)!, now)) return true
  }
  space.settled = null
  return false
}

/** True if something changed. */
export function settle(space: Space, instance: string, epoch: number): boolean {
  if (space.settled === null || epoch !== space.epoch || space.settled.has(instance)) return false
  space.settled.add(instance)
  return true
}
