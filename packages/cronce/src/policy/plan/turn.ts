import { DEFAULT_POLICY, type PolicyChoices } from '../../model/policy.ts'
import type { OpenFire } from '../../model/schedule.ts'
import { capacityOf } from './overlap.ts'

/** In the order in which fires get their turn. */
function byDueAt(a: OpenFire, b: OpenFire): number {
  if (a.dueAt !== b.dueAt) return a.dueAt - b.dueAt
  return a.nonce < b.nonce ? -1 : a.nonce > b.nonce ? 1 : 0
}

/** Sorted in that order. Most schedules have one at most. */
export function inTurn(open: readonly OpenFire[]): readonly OpenFire[] {
  return open.length < 2 ? open : open.toSorted(byDueAt)
}

/** From its first claim to its end, backoff included. */
export function isActive(fire: OpenFire): boolean {
  return fire.run !== null || fire.attempt > 0
}

/**
 * Visit the fires without a run, in order, and tell for each whether overlap lets it start; `visit` returns whether it did. Of
 * fires that wait for their next attempt the first goes first: if each waited for all others, none would ever start.
 */
export function takeTurns(
  open: readonly OpenFire[],
  choices: PolicyChoices,
  visit: (fire: OpenFire, mayStart: boolean) => boolean,
): void {
  let running = 0
  let backingOff = 0
  for (const fire of open) {
    if (fire.run !== null) running++
    else if (isActive(fire)) backingOff++
  }
  let backingOffBefore = 0
  for (const fire of open) {
    if (fire.run !== null) continue
    const wasActive = isActive(fire)
    const others = running + (wasActive ? backingOffBefore : backingOff)
    const { overlap = DEFAULT_POLICY.overlap } = fire.own?.policy ?? choices
    if (visit(fire, fire.ignoresOverlap || others < capacityOf(overlap))) {
      running++
      if (wasActive) backingOff--
    } else if (wasActive) {
      backingOffBefore++
    }
  }
}
