import type { Change } from '../../model/change.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import type { Decision } from '../../policy/decision.ts'

/**
 * The schedules of runs on this instance, as it wrote them last. A settlement that is decided on one of them and written by
 * compare-and-set needs no read: if the version is unchanged, no peer has changed the schedule. At most as many as there are runs
 * here.
 */
export interface KnownStates {
  /** A decision of this instance was applied. */
  applied(decision: Decision): void
  find(schedule: string): KnownState | undefined
  /** A run that was passed to `applied` has left this instance. */
  released(schedule: string): void
}

export interface KnownState {
  readonly state: ScheduleState
  /** The epoch of the version: in another epoch the version means nothing. */
  readonly epoch: number
}

export function knownStates(): KnownStates {
  const known = new Map<string, { runs: number; last: KnownState | undefined }>()
  return {
    applied({ change, started }) {
      const { id, state } = change
      let entry = known.get(id)
      if (entry === undefined) {
        if (started.length === 0) return
        entry = { runs: 0, last: undefined }
        known.set(id, entry)
      }
      entry.runs += started.length
      // Answers may overtake each other. The version of a new schedule is known only to the store, but it has no runs.
      const isNewer = state === null || entry.last === undefined || isAfter(change, entry.last)
      if (isNewer) entry.last = isKnown(change) ? change : undefined
    },
    find: (schedule) => known.get(schedule)?.last,
    released(schedule) {
      const entry = known.get(schedule)
      if (entry !== undefined && --entry.runs <= 0) known.delete(schedule)
    },
  }
}

/** A change contains the new state of its schedule, unless it removes the schedule. */
function isKnown(change: Change): change is Change & KnownState {
  return change.state !== null
}

function isAfter({ version, epoch }: Change, last: KnownState): boolean {
  return epoch > last.epoch || (epoch === last.epoch && version >= last.state.version)
}
