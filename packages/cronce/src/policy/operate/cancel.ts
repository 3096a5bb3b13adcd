import { ending } from '../../model/outcome.ts'
import type { FireKey } from '../../model/record.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import { type Context, type Decision, type Refusal, STALE, type Stale } from '../decision.ts'
import { begin, finish } from '../draft.ts'
import { cancelRun, endFire, findRunning } from '../fires.ts'
import { isRunning } from '../records.ts'

export interface CancelWish {
  readonly author: string | null
  readonly note: string | null
}

/** Ask the run that the operator saw to end. After its grace period any instance ends it. */
export function requestCancel(
  state: ScheduleState,
  token: string,
  wanted: CancelWish,
  context: Context,
): Decision | Stale {
  const draft = begin(state, context)
  const fire = findRunning(draft, token)
  if (fire === undefined) return STALE
  cancelRun(draft, fire, { reason: 'cancelled-by-operator', detail: detailOf(wanted) })
  return finish(draft)
}

/** Cancel a fire whether it waits or runs. */
export function cancelFire(
  state: ScheduleState,
  key: Pick<FireKey, 'dueAt' | 'nonce'>,
  wanted: CancelWish,
  context: Context,
): Decision | Refusal {
  const draft = begin(state, context)
  const fire = draft.open.find(({ dueAt, nonce }) => dueAt === key.dueAt && nonce === key.nonce)
  if (fire === undefined) {
    return {
      refused: 'FIRE_NOT_OPEN',
      message: `The schedule ${state.id} has no open fire due ${new Date(key.dueAt).toISOString()}.`,
      hint: 'Look again: it may have ended.',
    }
  }
  const detail = detailOf(wanted)
  if (isRunning(fire)) cancelRun(draft, fire, { reason: 'cancelled-by-operator', detail })
  else endFire(draft, fire, ending('cancelled-by-operator', detail))
  return finish(draft)
}

/** The recorded author and note of the request. */
export function detailOf({ author, note }: CancelWish): string | null {
  if (author === null) return note
  return note === null ? `by ${author}` : `by ${author}: ${note}`
}
