import type { ScheduleState } from './schedule.ts'

export const SCHEDULE_STATES = ['active', 'paused', 'retired', 'finished'] as const

/** `finished`: it had instants, and none is left to come, to run or to fill in. A manual schedule never is. */
export function stateOf(schedule: ScheduleState): (typeof SCHEDULE_STATES)[number] {
  if (schedule.retiredAt !== null) return 'retired'
  if (schedule.pause !== null) return 'paused'
  const isOver = schedule.definition.trigger !== null && schedule.nextAt === null
  return isOver && schedule.open.length === 0 && schedule.backfills.length === 0 ? 'finished' : 'active'
}
