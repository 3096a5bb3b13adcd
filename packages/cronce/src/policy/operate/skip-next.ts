import { ending } from '../../model/outcome.ts'
import type { Instant, ScheduleState } from '../../model/schedule.ts'
import { MAX_SKIPPED } from '../bounds.ts'
import type { Context, Decision, Refusal } from '../decision.ts'
import { begin, finish, set } from '../draft.ts'
import { endUnrun, newFire } from '../fires.ts'
import { hasCalendar } from '../plan/excluded.ts'
import { markOf, nextUnskipped, seriesOf, zoneDataOf } from '../plan/series.ts'
import { recordOf } from '../records.ts'
import { refuseRetired } from '../refusals.ts'
import { type CancelWish, detailOf } from './cancel.ts'

/** Skip the next instant, but only if it is the one that the operator saw. */
export function skipNext(
  state: ScheduleState,
  dueAt: Instant,
  context: Context,
  wanted: CancelWish = { author: null, note: null },
): Decision | Refusal {
  if (state.retiredAt !== null) return refuseRetired(state)
  if (state.nextAt !== dueAt) {
    const next = state.nextAt === null ? 'There is no next fire' : `The next fire is due ${textOf(state.nextAt)}`
    return {
      refused: 'NEXT_CHANGED',
      message: `${next}, not ${textOf(dueAt)}.`,
      hint: 'Look again, then skip that one.',
    }
  }
  if ((state.skipped?.length ?? 0) >= MAX_SKIPPED) {
    const message = `${MAX_SKIPPED} fires to come are skipped already.`
    return { refused: 'SKIPS_FULL', message, hint: 'Pause the schedule until a given time instead.' }
  }
  const draft = begin(state, context)
  const series = seriesOf(state.id, state.definition)
  const fire = newFire({ dueAt, readyAt: series.readyAt(dueAt), plannedAt: context.now, kind: 'scheduled' })
  endUnrun(draft, recordOf(draft, fire), ending('skipped-by-operator', detailOf(wanted)))
  const skipped = [...(state.skipped ?? []), dueAt].filter((at) => at > context.now || at > dueAt)
  const zoneData = zoneDataOf(state.definition, context.zoneData)
  // What a calendar excludes before it is not on record yet.
  const plannedTo = hasCalendar(state.definition) ? markOf(state) : dueAt
  set(draft, { fired: state.fired + 1, plannedTo, skipped, zoneData })
  set(draft, { nextAt: nextUnskipped(draft.state, series, dueAt) })
  return finish(draft)
}

function textOf(at: Instant): string {
  return new Date(at).toISOString()
}
