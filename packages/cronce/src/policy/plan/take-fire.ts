import { ending } from '../../model/outcome.ts'
import { policyOf } from '../../model/policy.ts'
import type { FireRecord } from '../../model/record.ts'
import type { Instant, OpenFire, ScheduleState } from '../../model/schedule.ts'
import { MAX_OPEN } from '../bounds.ts'
import type { Claimant, Context, Decision, Refusal } from '../decision.ts'
import { begin, type Draft, demandTime, finish } from '../draft.ts'
import { keptSince } from '../end/retention.ts'
import { openRound } from '../end/rounds.ts'
import { endFire, endUnrun, newFire, openFire } from '../fires.ts'
import { recordOf } from '../records.ts'
import { refuseFull, refuseOld } from '../refusals.ts'
import { inTheWay } from './on-time.ts'
import { giveUpWaiting } from './plan.ts'
import { startOne } from './start.ts'

export interface TakeWish {
  /** The identity of the fire: an instant, or now and a key. */
  readonly dueAt: Instant | null
  readonly nonce: string
  /** Whether it may begin while another fire of the schedule is active. */
  readonly beside: boolean
}

/** Another caller holds it. */
export const HELD = 'held'

type Taker = Pick<Claimant, 'instance' | 'claim'>

/**
 * Create a fire and start its run in one step, for an instance that wants exactly this fire: a lock, a leader's term, a slot of
 * another scheduler. No peer can come in between, and a fire that is on record is not created again.
 */
export function take(
  state: ScheduleState,
  wanted: TakeWish,
  claimant: Taker,
  context: Context,
): Decision | Refusal | typeof HELD {
  if (wanted.dueAt !== null) return takeInstant(state, { ...wanted, dueAt: wanted.dueAt }, claimant, context)
  const { open } = state
  if (open.some((fire) => fire.run !== null && (!wanted.beside || isWanted(fire, wanted)))) return HELD
  const waiting = open.find((fire) => fire.run === null && isWanted(fire, wanted))
  const draft = begin(state, context)
  if (waiting === undefined) {
    giveUpWaiting(draft)
    if (draft.open.length >= MAX_OPEN) return HELD
  }
  if (!wanted.beside) endOthers(draft, waiting)
  return started(draft, waiting ?? openNew(draft, wanted), claimant)
}

/**
 * An instant that another scheduler chose: by the store's clock it must have come, and must be recent enough that its record is
 * still kept. If a pause or another fire prevents the start, the fire is recorded as skipped, which is final for all callers.
 */
function takeInstant(
  state: ScheduleState,
  wanted: TakeWish & { readonly dueAt: Instant },
  claimant: Taker,
  context: Context,
): Decision | Refusal | typeof HELD {
  const { dueAt, nonce, beside } = wanted
  const { now } = context
  const { windowMs } = policyOf(state.definition.policy).misfire
  if (dueAt < Math.max(keptSince(state, now), now - windowMs)) return refuseOld(dueAt)
  const known = state.open.find((fire) => fire.dueAt === dueAt && fire.nonce === nonce)
  if (dueAt > now || (known !== undefined && known.run !== null)) return HELD
  const draft = begin(state, context)
  giveUpWaiting(draft)
  const waiting = draft.open.find((fire) => known !== undefined && isOf(fire, known))
  const active = draft.open.filter(({ run }) => run !== null)
  if (state.pause === null && (beside || active.length === 0)) {
    if (waiting === undefined && draft.open.length >= MAX_OPEN) return refuseFull(state)
    return started(draft, waiting ?? openNew(draft, wanted), claimant)
  }
  const why = state.pause === null ? ending('overlap', inTheWay(active)) : ending('paused')
  if (waiting !== undefined) endFire(draft, waiting, why)
  else endUnrun(draft, recordOf(draft, newFire({ dueAt, readyAt: dueAt, plannedAt: now, kind: 'scheduled' })), why)
  demandTime(draft, dueAt)
  return finish(draft)
}

/** The same for a fire that is on record without a result: another round of it. */
export function takeAgain(
  state: ScheduleState,
  record: FireRecord,
  claimant: Taker,
  context: Context,
): Decision | typeof HELD {
  const known = state.open.find((fire) => isOf(fire, record))
  if (known !== undefined && known.run !== null) return HELD
  const draft = begin(state, context)
  if (known !== undefined) return started(draft, known, claimant)
  const { dueAt, kind } = record
  openRound(draft, record, { dueAt, kind, readyAt: Math.max(context.now, dueAt), asked: undefined })
  return started(draft, draft.open.find((fire) => isOf(fire, record))!, claimant)
}

function started(draft: Draft, fire: OpenFire, claimant: Taker): Decision | typeof HELD {
  return startOne(draft, fire, claimant) ? finish(draft) : HELD
}

function openNew(draft: Draft, wanted: TakeWish): OpenFire {
  const { now } = draft.context
  const dueAt = wanted.dueAt ?? now
  const kind = wanted.nonce === '' ? 'scheduled' : 'manual'
  // Lateness counts from the due time, not from the call.
  const fire = newFire({ dueAt, readyAt: dueAt, plannedAt: now, kind })
  const made = { ...fire, nonce: wanted.nonce, ignoresOverlap: true }
  openFire(draft, made)
  return made
}

/**
 * Fires without a run: their caller never got the answer, or could not start them. No caller waits for them and no instance would
 * ever start them, so they must not block the caller that wants one now.
 */
function endOthers(draft: Draft, but: OpenFire | undefined): void {
  for (const fire of draft.open.filter((other) => other !== but)) endFire(draft, fire, ending('replaced'))
}

function isWanted(fire: OpenFire, { dueAt, nonce }: TakeWish): boolean {
  return fire.nonce === nonce && (dueAt === null ? nonce !== '' : fire.dueAt === dueAt)
}

function isOf(fire: Pick<FireRecord, 'dueAt' | 'nonce'>, record: Pick<FireRecord, 'dueAt' | 'nonce'>): boolean {
  return fire.dueAt === record.dueAt && fire.nonce === record.nonce
}
