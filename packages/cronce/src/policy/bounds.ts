import { LIMITS } from '../model/limits.ts'
import type { ScheduleState } from '../model/schedule.ts'

/** Up to this number of ended instants are written one by one, more as one range. Also the most open backfilled fires. */
export const HANDFUL = 5
/** Most instants that one step plans. More are left to the next step. */
export const MAX_PLANNED = 10_000
/** Most steps that a command takes at once where it can't stop half-way: a million instants, a fraction of a second. */
export const MAX_STEPS = 100
/** Most open fires of a schedule. */
export const MAX_OPEN = LIMITS.openFires
export const MAX_BACKFILLS = 10
/** Most instants that an operator may skip ahead of time. */
export const MAX_SKIPPED = 100

/** Whether the next instants of a backfill can become fires: a few at a time, and not before what is due now. */
export function canMaterialise(state: ScheduleState): boolean {
  if (state.backfills.length === 0 || state.open.length >= MAX_OPEN) return false
  if (state.open.some((fire) => fire.kind !== 'backfill' && fire.run === null && fire.attempt === 0)) return false
  return state.open.filter((fire) => fire.kind === 'backfill').length < HANDFUL
}

/** No instant is left to plan or to end. */
export function isFinished(state: ScheduleState): boolean {
  const isOver = state.definition.trigger !== null && state.nextAt === null && state.backfills.length === 0
  return isOver && state.open.every((fire) => fire.kind === 'manual')
}

/** A schedule that was created at run time for one instant, which has ended: it removes itself. */
export function isSpent(state: ScheduleState): boolean {
  const isOnce = state.source.kind === 'client' && state.definition.trigger?.kind === 'at'
  return isOnce && isFinished(state) && state.open.length === 0
}
