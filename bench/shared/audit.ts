import type { Audited } from './protocol.ts'

export function countOthers({ others }: Pick<Audited, 'others'>): number {
  return Object.values(others).reduce((sum, count) => sum + count, 0)
}

export function namesOf({ others }: Pick<Audited, 'others'>): string {
  return Object.entries(others)
    .filter(([, count]) => count > 0)
    .map(([why, count]) => `${count} ${why}`)
    .join(', ')
}

/** This many succeeded, and nothing else is on record. */
export function recordFaults(audited: Audited, expected: number): string[] {
  const { succeeded } = audited
  if (succeeded === expected && countOthers(audited) === 0) return []
  return [`on record are ${succeeded} that succeeded, not ${expected}, and others: ${namesOf(audited) || 'none'}`]
}
