import type { Instant, MissedChoice, ScheduleState } from '../model/schedule.ts'
import type { Context, Decision } from './decision.ts'
import { begin, type Draft, finish, set } from './draft.ts'
import { pauseFires } from './fires.ts'
import { planPaused } from './plan.ts'
import { aboutSchedule } from './records.ts'
import { planUpToNow } from './up-to-now.ts'

export interface PauseWish {
  readonly note: string | null
  readonly author: string | null
  readonly until: Instant | null
  readonly missed: MissedChoice
}

/** Freeze a schedule: what waits and what comes. What was due before is planned first; pausing again replaces the wish. */
export function pause(state: ScheduleState, wanted: PauseWish, context: Context): Decision {
  const draft = begin(state, context)
  // Should more be due than can be planned at once, the rest falls into the pause, and is on record when that ends.
  if (state.pause === null) planUpToNow(draft)
  pauseFires(draft, { at: state.pause?.at ?? context.now, ...wanted })
  return finish(draft)
}

/** End a pause, and settle its instants as chosen. `null`: it is not paused. */
export function resume(state: ScheduleState, missed: MissedChoice, context: Context): Decision | null {
  if (state.pause === null) return null
  const draft = begin(state, context)
  resumeStep(draft, missed)
  return finish(draft)
}

/** A very long stretch takes several steps: meanwhile the schedule stays paused, until now, so that somebody goes on. */
export function resumeStep(draft: Draft, missed: MissedChoice): void {
  const { pause, retiredAt } = draft.state
  if (pause === null) return
  const hasMore = retiredAt === null && planPaused(draft, missed, 'ready')
  if (hasMore) {
    set(draft, { pause: { ...pause, missed, until: draft.context.now } })
    return
  }
  // Failures are counted anew: the next one must not pause it again at once.
  set(draft, { pause: null, failedInRow: 0 })
  draft.events.push({ type: 'schedule.resumed', ...aboutSchedule(draft) })
}
