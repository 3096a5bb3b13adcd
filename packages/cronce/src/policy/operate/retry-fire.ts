import { policyOf } from '../../model/policy.ts'
import type { FireRecord } from '../../model/record.ts'
import type { Asked, Instant, ScheduleState } from '../../model/schedule.ts'
import { MAX_OPEN } from '../bounds.ts'
import type { Context, Decision, Refusal } from '../decision.ts'
import { begin, finish } from '../draft.ts'
import { keptSince } from '../end/retention.ts'
import { openRound } from '../end/rounds.ts'
import { covers } from '../ledger.ts'
import { seriesOf } from '../plan/series.ts'
import { refuseFull, refuseRetired } from '../refusals.ts'

export interface RetryWish {
  /** Also if it succeeded, or has started and must not start twice. */
  readonly force: boolean
  readonly asked?: Asked | undefined
  /** The wanted instant, which may be inside the record's range. */
  readonly dueAt: Instant
}

/** An operator retries an ended fire: another round of the same fire. */
export function retryFire(
  state: ScheduleState,
  record: FireRecord,
  { force, dueAt, asked }: RetryWish,
  context: Context,
): Decision | Refusal {
  const refusal = refuse(state, record, dueAt, context.now) ?? (force ? null : refuseRepeat(state, record))
  if (refusal !== null) return refusal
  const draft = begin(state, context)
  // Skipped ahead of time, and not due yet.
  const isAhead = record.nonce === '' && dueAt > context.now
  const readyAt = isAhead ? seriesOf(state.id, state.definition).readyAt(dueAt) : Math.max(context.now, dueAt)
  openRound(draft, record, { dueAt, kind: record.kind, readyAt, asked })
  return finish(draft)
}

function refuse(state: ScheduleState, record: FireRecord, dueAt: Instant, now: Instant): Refusal | null {
  const what = `The fire of ${state.id} due ${new Date(dueAt).toISOString()}`
  if (state.retiredAt !== null) return refuseRetired(state)
  if (!covers(record, dueAt)) {
    return { refused: 'FIRE_NOT_FOUND', message: `${what} is not on record.`, hint: 'Look at the list of fires again.' }
  }
  const isOpen = state.open.some((fire) => fire.dueAt === dueAt && fire.nonce === record.nonce)
  if (record.ending === null || isOpen) {
    return { refused: 'FIRE_OPEN', message: `${what} has not ended.`, hint: 'Wait for it, or cancel it first.' }
  }
  if (dueAt < keptSince(state, now)) {
    const hint = 'Trigger the job with the input it needs instead.'
    return { refused: 'FIRE_TOO_OLD', message: `${what} is older than the records that are kept.`, hint }
  }
  return state.open.length >= MAX_OPEN ? refuseFull(state) : null
}

function refuseRepeat(state: ScheduleState, record: FireRecord): Refusal | null {
  const what = `The fire of ${state.id} due ${new Date(record.dueAt).toISOString()}`
  if (record.ending?.outcome === 'succeeded') {
    return { refused: 'FIRE_SUCCEEDED', message: `${what} succeeded.`, hint: 'Use force to run it again all the same.' }
  }
  const mustNotRepeat = policyOf(state.definition.policy).guarantee === 'at-most-once'
  if (!mustNotRepeat || record.attempt === 0) return null
  const hint = 'Find out what it did, then use force to run it again.'
  return { refused: 'FIRE_STARTED', message: `${what} has started, and its job must not start twice.`, hint }
}
