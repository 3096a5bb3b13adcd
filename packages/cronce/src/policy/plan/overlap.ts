import type { OverlapPolicy } from '../../model/policy.ts'

export type OverlapVerdict = 'start' | 'wait' | 'replace' | 'skip' | 'queue-full'

/** How many fires of a schedule may be active at a time. */
export function capacityOf(policy: OverlapPolicy): number {
  return policy.kind === 'allow' ? policy.limit : 1
}

export interface Seen {
  readonly active: number
  /** Fires that wait although fewer are active than allowed: for a slot, or for a limit. */
  readonly stalled: number
  /** Fires that wait, for any reason. */
  readonly waiting: number
}

/** What to do with a fire that is on time while others are active or wait. */
export function decideOverlap(policy: OverlapPolicy, { active, stalled, waiting }: Seen): OverlapVerdict {
  if (active < capacityOf(policy)) return decideStalled(policy, active, stalled)
  switch (policy.kind) {
    case 'skip':
    case 'allow':
      return 'skip'
    case 'queue':
      return waiting === 0 ? 'wait' : 'skip'
    case 'queue-all':
      return waiting < policy.limit ? 'wait' : 'queue-full'
    case 'replace':
      return 'replace'
  }
}

/** Fires that wait for a slot count as if they ran. */
function decideStalled(policy: OverlapPolicy, active: number, stalled: number): OverlapVerdict {
  if (stalled === 0) return 'start'
  switch (policy.kind) {
    case 'skip':
    case 'queue':
      return 'skip'
    case 'allow':
      return active + stalled < policy.limit ? 'start' : 'skip'
    case 'queue-all':
      return stalled < policy.limit ? 'wait' : 'queue-full'
    case 'replace':
      return 'replace'
  }
}
