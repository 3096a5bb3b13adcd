import type { ScheduleState } from '../../model/schedule.ts'
import type { Context, Decision } from '../decision.ts'
import { begin, finish, set } from '../draft.ts'
import { aboutSchedule } from '../records.ts'
import { markOf, nextUnskipped, seriesOf, zoneDataOf } from './series.ts'

/**
 * Newer time zone data: recompute the first instant after the mark. If it has passed by now, it is late, and planned as such.
 * `null`: this data is not newer, or does not matter.
 */
export function moveZone(state: ScheduleState, context: Context): Decision | null {
  const { definition, zoneData } = state
  if (zoneData === null || context.zoneData <= zoneData || state.retiredAt !== null) return null
  if (zoneDataOf(definition, context.zoneData) === null) return null
  const draft = begin(state, context)
  const nextAt = nextUnskipped(state, seriesOf(state.id, definition), markOf(state))
  set(draft, { nextAt, zoneData: context.zoneData })
  if (nextAt !== state.nextAt) {
    draft.events.push({ type: 'schedule.moved', ...aboutSchedule(draft), from: state.nextAt, to: nextAt })
  }
  return finish(draft)
}

/**
 * Whether an instance may plan: not with older zone data than a live peer has, where zones matter. Versions look like `2025b`.
 */
export function mayPlan(state: ScheduleState, zoneData: string, newestLive: string): boolean {
  return state.zoneData === null || zoneData >= newestLive
}
