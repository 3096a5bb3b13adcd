import type { ScheduleState } from '../model/schedule.ts'
import { describeError } from './describe-error.ts'
import type { EngineParts } from './parts.ts'

/** Schedules that can't be decided here: each is told once, and keeps nobody else from being decided. */
export interface Undecided {
  /** What `decide` answers; `null` if it throws, as for a time zone that this runtime does not know. */
  try<Value>(state: ScheduleState, decide: () => Value): Value | null
}

/** Beyond so many the first ones may be told again. */
const REMEMBERED = 10_000

export function undecided({ emit }: Pick<EngineParts, 'emit'>): Undecided {
  const told = new Map<string, number>()
  return {
    try(state, decide) {
      try {
        return decide()
      } catch (error) {
        const { id: schedule, version, definition } = state
        if (told.get(schedule) === version) return null
        if (told.size >= REMEMBERED) told.clear()
        told.set(schedule, version)
        emit({ type: 'schedule.failed', schedule, job: definition.job, error: describeError(error) })
        return null
      }
    },
  }
}
