import type { Json } from '../../model/json.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import type { Context, Decision } from '../decision.ts'
import { begin, finish, set } from '../draft.ts'

/** For schedules that only hold data of the library: no event, no fire. */
export function replaceInput(state: ScheduleState, input: Json, context: Context): Decision {
  const draft = begin(state, context)
  set(draft, {
    definition: { ...state.definition, input },
    revision: state.revision + 1,
    updatedAt: context.now,
  })
  return finish(draft)
}
