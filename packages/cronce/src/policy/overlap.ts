import type { OverlapPolicy } from '../model/policy.ts'

export type OverlapVerdict = 'start' | 'wait' | 'replace' | 'skip' | 'queue-full'

/** How many fires of a schedule may be active at a time. */
export function capacityOf(policy: OverlapPolicy): number {
  return policy.kind === 'allow' ? policy.limit : 1
}

/** What to do with a fire that is on time while others are active, and others wait for them. */
export function decideOverlap(
  policy: OverlapPolicy,
  seen: { readonly active: number; readonly waiting: number },
): OverlapVerdict {
  if (seen.active < capacityOf(policy)) return 'start'
  switch (policy.kind) {
    case 'skip':
    case 'allow':
      return 'skip'
    case 'queue':
      return seen.waiting === 0 ? 'wait' : 'skip'
    case 'queue-all':
      return seen.waiting < policy.limit ? 'wait' : 'queue-full'
    case 'replace':
      return 'replace'
  }
}
