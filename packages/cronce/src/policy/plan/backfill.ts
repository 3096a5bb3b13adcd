import type { FireRecord } from '../../model/record.ts'
import type { Asked, Backfill, Instant, ScheduleState } from '../../model/schedule.ts'
import { canMaterialise, HANDFUL, MAX_BACKFILLS, MAX_OPEN, MAX_PLANNED } from '../bounds.ts'
import type { Context, Decision, Refusal } from '../decision.ts'
import { begin, type Draft, finish, set } from '../draft.ts'
import { keptSince } from '../end/retention.ts'
import { openRound } from '../end/rounds.ts'
import { askedBy, newFire, openFire } from '../fires.ts'
import { type Ledger, ledgerOf } from '../ledger.ts'
import { refuseRetired } from '../refusals.ts'
import { seriesOf } from './series.ts'

export { keptSince } from '../end/retention.ts'

/** Page size for reading records. */
export const BACKFILL_PAGE = 1_000
/** Most instants that one step looks at. */
const LOOK = 1_000

export interface BackfillWish {
  readonly from: Instant
  readonly to: Instant
  readonly id: string
  readonly author: string | null
  readonly note?: string | null
  /** Also instants before the schedule was created, and from when its job had another name. */
  readonly force: boolean
}

export interface BackfillPreview {
  /** Past instants of the schedule in the range. */
  readonly instants: number
  readonly toRun: number
  /** On record with another outcome than skipped or missed, or open: not run again. */
  readonly alreadyRun: number
  /** There are more, which were not looked at. */
  readonly more: boolean
}

/** Request that the instants of a range run, both ends included, where they have not. Future instants run by themselves. */
export function requestBackfill(state: ScheduleState, wanted: BackfillWish, context: Context): Decision | Refusal {
  const { from, id, author, note = null } = wanted
  const to = Math.min(wanted.to, context.now)
  const refusal = refuse(state, { ...wanted, to }, context.now)
  if (refusal !== null) return refusal
  const draft = begin(state, context)
  set(draft, {
    backfills: [...state.backfills, { id, from, to, askedAt: context.now, author, ...(note === null ? {} : { note }) }],
  })
  return finish(draft)
}

/**
 * What a backfill would do. `existing`: the records from `from` to `to`, earliest first, up to `BACKFILL_PAGE`; beyond the last
 * one of a full page nothing is counted.
 */
export function previewBackfill(
  state: ScheduleState,
  range: { readonly from: Instant; readonly to: Instant },
  existing: readonly FireRecord[],
  context: Context,
): BackfillPreview {
  const series = seriesOf(state.id, state.definition)
  const ledger = ledgerOf(existing)
  const to = Math.min(range.to, context.now, lastSettled(state))
  const known = knownTo(existing, range.from)
  let instants = 0
  let toRun = 0
  let at = series.next(range.from - 1)
  for (; at !== null && at <= Math.min(to, known) && instants < MAX_PLANNED; at = series.next(at)) {
    instants++
    if (isWanted(ledger.find(at))) toRun++
  }
  return { instants, toRun, alreadyRun: instants - toRun, more: at !== null && at <= to }
}

/**
 * Which records `advance` must be given as `existing`: all that overlap this stretch, the earliest first. `null`: none.
 *
 * One page of `BACKFILL_PAGE` records will do. If the page is full it may not reach `to`; then `advance` goes no further than
 * the instant of its last record, and the rest has its turn in the next step. A decision on fewer records than there are
 * would run what has been run.
 */
export function nextBackfillStretch(state: ScheduleState): { readonly from: Instant; readonly to: Instant } | null {
  const [backfill] = state.backfills
  if (backfill === undefined || !canMaterialise(state)) return null
  const to = Math.min(backfill.to, lastSettled(state))
  if (backfill.from > to) return null
  const series = seriesOf(state.id, state.definition)
  let last = backfill.from
  for (let looked = 0; looked < LOOK; looked++) {
    const at = series.next(looked === 0 ? backfill.from - 1 : last)
    if (at === null || at > to) return { from: backfill.from, to }
    last = at
  }
  return { from: backfill.from, to: last }
}

/** Open the next few instants of the first backfill. Decides only on instants whose records were read. */
export function materialise(draft: Draft, ledger: Ledger, existing: readonly FireRecord[]): void {
  const [backfill, ...others] = draft.state.backfills
  if (backfill === undefined || !canMaterialise(draft.before)) return
  const stretch = nextBackfillStretch(draft.before)
  const from = stretch === null ? backfill.from : openNext(draft, backfill, stretch.to, ledger, existing)
  const isDone = from > Math.min(backfill.to, lastSettled(draft.state))
  if (!isDone && from === backfill.from) return
  set(draft, { backfills: isDone ? others : [{ ...backfill, from }, ...others] })
}

/** Returns the first instant that was not looked at. */
function openNext(
  draft: Draft,
  backfill: Backfill,
  to: Instant,
  ledger: Ledger,
  existing: readonly FireRecord[],
): Instant {
  const series = seriesOf(draft.state.id, draft.state.definition)
  const end = Math.min(to, knownTo(existing, backfill.from))
  const since = keptSince(draft.state, draft.context.now)
  let room = HANDFUL - draft.open.filter((fire) => fire.kind === 'backfill').length
  let at = series.next(backfill.from - 1)
  for (; at !== null && at <= end; at = series.next(at)) {
    const record = ledger.find(at)
    // A backfill may take long: an instant whose record has expired meanwhile may have run.
    if (!isWanted(record) || (record === undefined && at < since)) continue
    if (room <= 0 || draft.open.length >= MAX_OPEN) return at
    openInstant(draft, at, record, ledger, { author: backfill.author, note: backfill.note ?? null })
    room--
  }
  return end + 1
}

function openInstant(draft: Draft, dueAt: Instant, record: FireRecord | undefined, ledger: Ledger, asked: Asked): void {
  const { now } = draft.context
  const wanted = { dueAt, kind: 'backfill', readyAt: Math.max(now, dueAt), asked } as const
  if (record === undefined) openFire(draft, { ...newFire({ ...wanted, plannedAt: now }), ...askedBy(asked) })
  else ledger.replace(record, openRound(draft, record, wanted))
}

function isWanted(record: FireRecord | undefined): boolean {
  if (record === undefined) return true
  return record.ending?.outcome === 'missed' || record.ending?.outcome === 'skipped'
}

/** Later instants are planned by the schedule itself. */
function lastSettled(state: ScheduleState): Instant {
  return (state.nextAt ?? Number.POSITIVE_INFINITY) - 1
}

/** How far a page of records reaches. */
function knownTo(existing: readonly FireRecord[], from: Instant): Instant {
  if (existing.length < BACKFILL_PAGE) return Number.POSITIVE_INFINITY
  return existing.reduce((latest, { dueAt }) => Math.max(latest, dueAt), from)
}

function refuse(state: ScheduleState, { from, to, force }: BackfillWish, now: Instant): Refusal | null {
  const { id, definition } = state
  if (state.retiredAt !== null) return refuseRetired(state)
  if (definition.trigger === null) {
    const message = `The schedule ${id} has no trigger, and so no instants.`
    return { refused: 'TRIGGER_MISSING', message, hint: 'Trigger it with the input it needs instead.' }
  }
  if (from > to) {
    const message = 'The range is empty: it begins after its end, or in the future.'
    return { refused: 'RANGE_EMPTY', message, hint: 'Give a range of the past, the earlier end first.' }
  }
  const since = keptSince(state, now)
  if (from < since) {
    const message = `What ran before ${new Date(since).toISOString()} may be off the record, and could be run twice.`
    return { refused: 'BACKFILL_TOO_OLD', message, hint: 'Start later, or trigger the job with the input it needs.' }
  }
  if (from < state.createdAt && !force) {
    const since = new Date(state.createdAt).toISOString()
    const message = `The schedule ${id} was made at ${since}: what an earlier one of its name ran may be off the record.`
    return { refused: 'BACKFILL_BEFORE_CREATION', message, hint: 'Start later, or use force if there was none.' }
  }
  const renamed = (state.retirements ?? []).find(
    (stretch) => stretch.renamedTo !== undefined && stretch.from < to && from <= (stretch.to ?? now),
  )
  if (renamed !== undefined && !force) {
    const [since, until] = [renamed.from, renamed.to ?? now].map((at) => new Date(at).toISOString())
    const message = `From ${since} to ${until} the job of the schedule ${id} had the name ${renamed.renamedTo}: what ran then could be run twice.`
    return {
      refused: 'BACKFILL_RENAMED',
      message,
      hint: 'Leave that stretch out, or force it to run those fires again.',
    }
  }
  if (state.backfills.length < MAX_BACKFILLS) return null
  const message = `The schedule ${id} has ${MAX_BACKFILLS} backfills under way.`
  return { refused: 'BACKFILLS_FULL', message, hint: 'Wait until one is done.' }
}
