import type { MisfirePolicy } from '../../model/policy.ts'
import type { MissedChoice } from '../../model/schedule.ts'

/** What is known about a stretch of instants, besides the instants. */
export interface Beyond {
  /** A newer instant makes up for these, now or in a later step. */
  readonly newer: boolean
  /** How many due instants follow in later steps, as far as that matters. */
  readonly ahead: number
  /** How many more fires the schedule can hold. */
  readonly room: number
}

export type LateVerdict = 'run' | 'late' | 'superseded' | 'too-late'

const LET_GO = { skip: 'late', latest: 'superseded', all: 'too-late' } as const

export function isOnTime(policy: MisfirePolicy, latenessMs: number): boolean {
  return latenessMs <= policy.graceMs
}

/** Decides for each late instant, the oldest first, whether it runs. `latenessMs`: how late each one is. */
export function decideLate(policy: MisfirePolicy, latenessMs: readonly number[], beyond: Beyond): LateVerdict[] {
  const firstKept = latenessMs.length - keepCount(policy.late, policy.limit, beyond)
  return latenessMs.map((ms, index) => {
    if (ms > policy.windowMs) return 'too-late'
    return index >= firstKept ? 'run' : LET_GO[policy.late]
  })
}

/** How many of the latest instants of a stretch run, be it late or paused. */
export function keepCount(choice: MissedChoice, limit: number, beyond: Beyond): number {
  switch (choice) {
    case 'skip':
      return 0
    case 'latest':
      return beyond.newer ? 0 : Math.min(1, beyond.room)
    case 'all':
      return Math.max(0, Math.min(limit, beyond.room) - beyond.ahead)
  }
}
