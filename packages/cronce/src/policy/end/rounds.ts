import type { FireRecord } from '../../model/record.ts'
import type { Asked, FireKind, Instant, OpenFire } from '../../model/schedule.ts'
import { lineOf } from '../../model/views.ts'
import { append, type Draft, rewrite } from '../draft.ts'
import { askedBy, newFire, openFire } from '../fires.ts'
import { splitRange } from '../ledger.ts'

export interface RoundWish {
  readonly dueAt: Instant
  readonly kind: FireKind
  readonly readyAt: Instant
  readonly asked: Asked | undefined
}

/**
 * Open another round of an ended fire. An instant inside a range gets its own record, and the range is split around it. Returns
 * the rest of the range.
 */
export function openRound(draft: Draft, record: FireRecord, wanted: RoundWish): readonly FireRecord[] {
  const { schedule, dueAt, nonce, range } = record
  const { before, after } = splitRange(record, wanted.dueAt)
  const left: FireRecord[] = []
  // Parts that this draft has split off are not in the store yet: `reopens` would not find them.
  const isOwn = [...draft.history, ...draft.rewrites].some(({ number }) => number === record.number)
  if (range === null && !isOwn) draft.reopens.push({ schedule, dueAt, nonce })
  else rewrite(draft, before === null ? { ...lineOf(record), range: null, isFinal: false } : lineOf(before))
  if (before !== null) left.push(before)
  if (after !== null) {
    // A separate line, which expires when its range would have expired.
    draft.creates.push({ schedule, dueAt: after.dueAt, nonce })
    append(draft, lineOf(after))
    left.push({ ...after, number: draft.state.ended })
  }
  // The key of a range is that of its first instant: if that one is wanted, its key is already on record.
  openFire(draft, roundOf(draft, record, wanted), wanted.dueAt !== dueAt)
  return left
}

function roundOf(draft: Draft, record: FireRecord, wanted: RoundWish): OpenFire {
  const { input, givenNull = false } = record
  return {
    ...newFire({ ...wanted, plannedAt: draft.context.now }),
    nonce: record.nonce,
    round: record.round + 1,
    attempt: record.attempt,
    ...askedBy(wanted.asked),
    ...(record.tenant === draft.state.definition.tenant ? {} : { tenant: record.tenant }),
    own: input === null && !givenNull ? null : { input, policy: draft.state.definition.policy },
  }
}
