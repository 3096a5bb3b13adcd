import { hash32 } from '../../model/bucket.ts'
import type { JitterPolicy } from '../../model/policy.ts'
import type { Instant } from '../../model/schedule.ts'

const HASHES = 2 ** 32

/**
 * When a fire may start. Derived from names, not from chance, so that all instances agree; below the next instant, so that
 * fires of a schedule never change places.
 */
export function jittered(policy: JitterPolicy, id: string, dueAt: Instant, nextDueAt: Instant | null): Instant {
  if (policy.ms === 0) return dueAt
  const hash = hash32(policy.kind === 'fixed' ? id : `${id} ${dueAt}`)
  const readyAt = dueAt + Math.floor((hash / HASHES) * (policy.ms + 1))
  return nextDueAt === null ? readyAt : Math.min(readyAt, nextDueAt - 1)
}
