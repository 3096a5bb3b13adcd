import type { ScheduleState } from '../../model/schedule.ts'
import { describeError } from '../describe-error.ts'
import type { EngineParts } from '../parts.ts'

/** Schedules that can't be decided here: each is reported once, and does not keep others from being decided. */
export interface FailingSchedules {
  /** What `decide` answers; `null` if it throws, as for a time zone that this runtime does not know. */
  try<Value>(state: ScheduleState, decide: () => Value): Value | null
  /** It was tried a moment ago, in this version. */
  has(state: ScheduleState): boolean
  /** How many there are: a query for due schedules returns them, too. */
  readonly size: number
}

/** Beyond this many, the first ones may be reported again. */
const REMEMBERED = 10_000
/** How long it is not tried again, unless it has changed: trying costs as much as deciding. */
const PAUSE_MS = 60_000

export function failingSchedules({ emit, clock }: Pick<EngineParts, 'emit' | 'clock'>): FailingSchedules {
  const told = new Map<string, { readonly version: number; triedAt: number }>()
  const has = ({ id, version }: ScheduleState): boolean => {
    const known = told.get(id)
    return known?.version === version && clock.mono() - known.triedAt < PAUSE_MS
  }
  return {
    has,
    get size() {
      return told.size
    },
    try(state, decide) {
      const { id: schedule, version, definition } = state
      const known = told.get(schedule)
      const isKnown = known?.version === version
      if (has(state)) return null
      try {
        const decided = decide()
        if (known !== undefined) told.delete(schedule)
        return decided
      } catch (error) {
        if (!isKnown && told.size >= REMEMBERED) told.clear()
        told.set(schedule, { version, triedAt: clock.mono() })
        if (!isKnown) emit({ type: 'schedule.failed', schedule, job: definition.job, error: describeError(error) })
        return null
      }
    },
  }
}
