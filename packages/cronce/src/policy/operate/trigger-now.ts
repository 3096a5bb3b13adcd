import type { Json } from '../../model/json.ts'
import type { FireRecord } from '../../model/record.ts'
import type { Asked, OpenFire, ScheduleState } from '../../model/schedule.ts'
import { MAX_OPEN } from '../bounds.ts'
import type { Context, Decision, Refusal } from '../decision.ts'
import { begin, finish } from '../draft.ts'
import { askedBy, endUnrun, newFire } from '../fires.ts'
import { askedStepOf, openOnTime } from '../plan/on-time.ts'
import { recordOf } from '../records.ts'
import { refuseFull, refuseRetired } from '../refusals.ts'

export interface TriggerWish {
  /** Not empty: the dedupe key, or a random id. */
  readonly nonce: string
  /** `undefined`: the schedule's. */
  readonly input: Json | undefined
  readonly overlap: 'honour' | 'ignore'
  readonly asked?: Asked | undefined
}

/**
 * The open fire that an earlier trigger with this dedupe key created. Ask before `triggerNow`, which would replace it under
 * `replace`.
 */
export function findTriggered(state: ScheduleState, nonce: string, context: Context): FireRecord | null {
  const known = state.open.find((fire) => fire.nonce === nonce)
  return known === undefined ? null : recordOf(begin(state, context), known)
}

/** A manual fire: now, in addition to the due times, even while the schedule is paused. */
export function triggerNow(state: ScheduleState, wanted: TriggerWish, context: Context): Decision | Refusal {
  if (state.retiredAt !== null) return refuseRetired(state)
  if (state.open.length >= MAX_OPEN) return refuseFull(state)
  const draft = begin(state, context)
  const { now } = context
  const fire: OpenFire = {
    ...newFire({ dueAt: now, readyAt: now, plannedAt: now, kind: 'manual' }),
    nonce: wanted.nonce,
    ignoresOverlap: wanted.overlap === 'ignore',
    ...askedBy(wanted.asked),
    own: wanted.input === undefined ? null : { input: wanted.input, policy: state.definition.policy },
  }
  const end = openOnTime(draft, askedStepOf(draft), fire)
  if (end !== null) endUnrun(draft, recordOf(draft, fire), end)
  return finish(draft)
}
