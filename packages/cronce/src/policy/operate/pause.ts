import type { Instant, MissedChoice, ScheduleState } from '../../model/schedule.ts'
import type { Context, Decision } from '../decision.ts'
import { begin, finish } from '../draft.ts'
import { pauseFires } from '../fires.ts'
import { resumeStep } from '../plan/resume-step.ts'
import { planUpToNow } from '../plan/up-to-now.ts'

/** The author and the note. */
export interface Author {
  readonly author: string | null
  readonly note: string | null
}

export interface PauseWish extends Author {
  readonly until: Instant | null
  readonly missed: MissedChoice
}

/**
 * Pause a schedule: waiting and future fires are frozen. What was due before is planned first; pausing again replaces the
 * request.
 */
export function pause(state: ScheduleState, wanted: PauseWish, context: Context): Decision {
  const draft = begin(state, context)
  // If more is due than can be planned at once, the rest falls into the pause, and is recorded when it ends.
  planUpToNow(draft)
  pauseFires(draft, { at: draft.state.pause?.at ?? context.now, ...wanted })
  return finish(draft)
}

/** End a pause, and settle its instants as chosen. `null`: it is not paused. */
export function resume(
  state: ScheduleState,
  missed: MissedChoice,
  context: Context,
  by: Author = { author: null, note: null },
): Decision | null {
  if (state.pause === null) return null
  const draft = begin(state, context)
  resumeStep(draft, missed, null, by)
  return finish(draft)
}
