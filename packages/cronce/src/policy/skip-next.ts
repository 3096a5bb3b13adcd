import { ending } from '../model/outcome.ts'
import type { Instant, ScheduleState } from '../model/schedule.ts'
import type { Context, Decision, Refusal } from './decision.ts'
import { begin, finish, set } from './draft.ts'
import { endUnrun, newFire } from './fires.ts'
import { recordOf } from './records.ts'
import { refuseRetired } from './refusals.ts'
import { nextOf, seriesOf, zoneDataOf } from './series.ts'

/** Leave out the next instant: the one that the operator saw, or none. */
export function skipNext(state: ScheduleState, dueAt: Instant, context: Context): Decision | Refusal {
  if (state.retiredAt !== null) return refuseRetired(state)
  if (state.nextAt !== dueAt) {
    const next = state.nextAt === null ? 'There is no next fire' : `The next fire is due ${textOf(state.nextAt)}`
    return {
      refused: 'NEXT_CHANGED',
      message: `${next}, not ${textOf(dueAt)}.`,
      hint: 'Look again, then skip that one.',
    }
  }
  const draft = begin(state, context)
  const series = seriesOf(state.id, state.definition)
  const fire = newFire({ dueAt, readyAt: series.readyAt(dueAt), plannedAt: context.now, kind: 'scheduled' })
  endUnrun(draft, recordOf(draft, fire), ending('skipped-by-operator'))
  const fired = state.fired + 1
  set(draft, {
    fired,
    plannedTo: dueAt,
    nextAt: nextOf(series, state.definition, fired, dueAt),
    zoneData: zoneDataOf(state.definition, context.zoneData),
  })
  return finish(draft)
}

function textOf(at: Instant): string {
  return new Date(at).toISOString()
}
