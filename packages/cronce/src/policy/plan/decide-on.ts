import type { FireRecord } from '../../model/record.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import type { Claimant, Context, Decision } from '../decision.ts'
import { advance } from './advance.ts'
import { moveZone } from './move-zone.ts'
import { advancePlain, claimEarliest } from './plain-fire.ts'

/** What an instance that claims does about this schedule now; `existing`: as of `advance`. `null`: nothing. */
export function decideOn(
  state: ScheduleState,
  context: Context,
  claimant: Claimant,
  existing: readonly FireRecord[],
): Decision | null {
  const moved = moveZone(state, context)
  if (moved !== null) return moved
  if (existing.length > 0) return advance(state, context, claimant, existing)
  const plain = advancePlain(state, context, claimant) ?? claimEarliest(state, context, claimant)
  return plain ?? advance(state, context, claimant, existing)
}
