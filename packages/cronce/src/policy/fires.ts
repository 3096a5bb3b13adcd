import { copyJson, type Json } from '../model/json.ts'
import { type Ending, ending, type Outcome } from '../model/outcome.ts'
import { policyOf } from '../model/policy.ts'
import type { ErrorRecord, FireRecord, HistoryRecord } from '../model/record.ts'
import type { Asked, CancelRequest, Instant, Last, OpenFire, Pause, Wait } from '../model/schedule.ts'
import { append, type Draft, keyOf, policyOfFire, set } from './draft.ts'
import { keepMs } from './end/retention.ts'
import { isActive } from './plan/turn.ts'
import { openFiresOf, waitAfterTurn } from './plan/waiting.ts'
import { aboutSchedule, isRunning, type RunningFire, recordOf, runRecordOf } from './records.ts'

/** The fire whose current run has this token. Any other token is an old one. */
export function findRunning(draft: Draft, token: string): RunningFire | undefined {
  return draft.open.filter(isRunning).find((fire) => fire.run.token === token)
}

export function newFire(fire: Pick<OpenFire, 'dueAt' | 'readyAt' | 'plannedAt' | 'kind'>): OpenFire {
  return {
    dueAt: fire.dueAt,
    nonce: '',
    kind: fire.kind,
    round: 1,
    plannedAt: fire.plannedAt,
    readyAt: fire.readyAt,
    ignoresOverlap: false,
    attempt: 0,
    failures: 0,
    crashes: 0,
    run: null,
    own: null,
  }
}

/** Stores nothing if neither an author nor a note was given. */
export function askedBy(asked: Asked | undefined): { readonly asked?: Asked } {
  if (asked === undefined || (asked.author === null && asked.note === null)) return {}
  return { asked: { author: asked.author, note: asked.note } }
}

/**
 * A fire is opened once, even if a bug elsewhere opens it again. `isNew`: it must not be on record, which only the store can
 * tell.
 */
export function openFire(draft: Draft, fire: OpenFire, isNew = true): void {
  if (placeOf(draft, fire) < 0) draft.open.push(fire)
  const { id: schedule, definition } = draft.state
  const { dueAt, nonce } = fire
  if (isNew) draft.creates.push({ schedule, dueAt, nonce })
  set(draft, {})
  draft.events.push({ type: 'fire.planned', schedule, job: definition.job, dueAt, nonce })
}

/** Found by identity: the caller may hold a copy from an earlier list that has been replaced since. */
function placeOf(draft: Draft, { dueAt, nonce }: OpenFire): number {
  return draft.open.findIndex((other) => other.dueAt === dueAt && other.nonce === nonce)
}

function demandPlace(draft: Draft, fire: OpenFire): number {
  const place = placeOf(draft, fire)
  if (place < 0) throw new Error(`The fire ${keyOf(fire)} of ${draft.state.id} is not open.`)
  return place
}

export function changeFire(draft: Draft, fire: OpenFire, changed: OpenFire): void {
  draft.open[demandPlace(draft, fire)] = changed
  set(draft, {})
}

/** Ends the fire: records it, counts it and emits the event. */
export function endFire(draft: Draft, fire: OpenFire, end: Ending): void {
  endTurn(draft, fire)
  draft.open.splice(demandPlace(draft, fire), 1)
  if (!endWithRun(draft, fire, end)) append(draft, ended(draft, recordOf(draft, fire), end))
  set(draft, { last: lastAfter(draft.state.last, fire, end.outcome, draft.context.now) })
  const { id: schedule, definition } = draft.state
  draft.events.push({
    type: 'fire.ended',
    schedule,
    job: definition.job,
    dueAt: fire.dueAt,
    nonce: fire.nonce,
    outcome: end.outcome,
    reason: end.reason,
    detail: end.detail,
    attempt: fire.attempt,
  })
  countFailure(draft, end.outcome)
}

/** Whether the run whose end was just appended ended for the same reason: then its line is the fire's, too. */
function endWithRun(draft: Draft, fire: OpenFire, end: Ending): boolean {
  const place = draft.history.findLastIndex(({ run }) => run !== null && run.token === fire.run?.token)
  const line = draft.history[place]
  if (line === undefined || line.ending.reason !== end.reason || line.ending.detail !== end.detail) return false
  draft.history[place] = { ...line, isFinal: true }
  return true
}

/** What waits for an active fire is not late for that. */
function endTurn(draft: Draft, fire: OpenFire): void {
  if (!isActive(fire) || draft.open.length < 2) return
  const before = openFiresOf(draft.open, draft.state.definition.policy)
  noteWaits(draft, (other) => waitAfterTurn(other, before, draft.context.now))
}

/** An instant, or a range of them, that ends without having been run. */
export function endUnrun(draft: Draft, record: FireRecord, end: Ending): void {
  const { schedule, job, dueAt, nonce, range } = record
  draft.creates.push({ schedule, dueAt, nonce })
  append(draft, ended(draft, record, end))
  draft.events.push({
    type: end.outcome === 'missed' ? 'fire.missed' : 'fire.skipped',
    ...{ schedule, job, dueAt, nonce },
    reason: end.reason,
    detail: end.detail,
    count: range?.count ?? 1,
    untilAt: range?.untilAt ?? dueAt,
  })
}

/** Ends only the run; the caller decides whether its fire ends or is retried. */
export function endRun(
  draft: Draft,
  fire: RunningFire,
  end: Ending,
  left: { readonly error: ErrorRecord | null; readonly result: Json } = { error: null, result: null },
): void {
  const { now } = draft.context
  const { error, result } = left
  const record = runRecordOf(draft, fire)
  const { token, instance, startedAt, cause, cancel } = fire.run
  const run = { token, instance, startedAt, ...(cause === undefined ? {} : { cause }), cancel, error, result }
  const line = ended(draft, recordOf(draft, fire), end)
  // A run that was claimed ahead may be removed before its start.
  append(draft, { ...line, endedAt: Math.max(now, startedAt), isFinal: false, run })
  draft.events.push({
    type: 'run.ended',
    schedule: record.schedule,
    job: record.job,
    dueAt: record.dueAt,
    nonce: record.nonce,
    token: record.token,
    attempt: record.attempt,
    instance: record.instance,
    outcome: end.outcome,
    reason: end.reason,
    durationMs: Math.max(0, now - record.startedAt),
    error: copyJson(error),
  })
}

/** Ask a run to end. An earlier request stands: it was promised when the run would be over. */
export function cancelRun(draft: Draft, fire: RunningFire, why: Pick<CancelRequest, 'reason' | 'detail'>): void {
  if (fire.run.cancel !== null) return
  const { now } = draft.context
  // No instance executes a parked run, so it ends at once.
  if (fire.run.parkedUntil !== undefined) {
    const end = ending(why.reason, why.detail)
    endRun(draft, fire, end)
    endFire(draft, fire, end)
    return
  }
  // A run that was claimed ahead is revoked after its start at the earliest: only its holder knows that it has not started.
  const revokeAt = Math.max(now, fire.run.startedAt) + policyOfFire(draft, fire).timeout.graceMs
  const cancel = { at: now, reason: why.reason, detail: why.detail, revokeAt }
  const changed = { ...fire, run: { ...fire.run, cancel } }
  changeFire(draft, fire, changed)
}

/** How a cancelled run and its fire end. */
export function cancelEnding(cancel: CancelRequest): Ending {
  return ending(cancel.reason, cancel.detail)
}

/** The time of a pause does not count against the deadline of a retry. */
export function freezeFire(draft: Draft, fire: OpenFire): void {
  const { giveUp: _, ...rest } = fire
  draft.open[demandPlace(draft, fire)] = rest
}

/** Note what fires wait for. Their records do not change with it. */
export function noteWaits(draft: Draft, waitOf: (fire: OpenFire) => Wait | undefined): void {
  draft.open = draft.open.map((fire) => {
    const wait = waitOf(fire)
    if (wait === fire.wait || wait === undefined) return fire
    set(draft, {})
    return { ...fire, wait }
  })
}

export function pauseFires(draft: Draft, pause: Pause): void {
  for (const fire of draft.open.filter(({ run }) => run === null)) freezeFire(draft, fire)
  set(draft, { pause })
  const { note, author, until } = pause
  draft.events.push({ type: 'schedule.paused', ...aboutSchedule(draft), note, author, until })
}

function ended(draft: Draft, record: FireRecord, end: Ending): Omit<HistoryRecord, 'number'> {
  const { now } = draft.context
  // Retention is the schedule's, not the fire's: what may be backfilled is judged by the schedule's.
  const keptMs = keepMs(policyOf(draft.state.definition.policy), end.outcome)
  // The record of an instant that was skipped ahead of time is kept from its due time on.
  const expiresAt = Math.max(now, record.range?.untilAt ?? record.dueAt) + keptMs
  return { ...record, ending: end, endedAt: now, expiresAt, isFinal: true, run: null }
}

/** Never moved back: a backfill of last year must not make an incremental job start over. */
export function lastAfter(
  last: Last,
  fire: Pick<OpenFire, 'dueAt' | 'attempt'>,
  outcome: Outcome,
  endedAt: Instant,
): Last {
  if (fire.attempt === 0) return last
  const dueAt = later(last.dueAt, fire.dueAt)
  if (outcome !== 'succeeded') return { ...last, dueAt }
  const succeededDueAt = later(last.succeededDueAt, fire.dueAt)
  return { dueAt, succeededDueAt, succeededAt: later(last.succeededAt, endedAt) }
}

function later(known: Instant | null, at: Instant): Instant {
  return known === null ? at : Math.max(known, at)
}

export function countFailure(draft: Draft, outcome: Outcome): void {
  if (outcome === 'succeeded' && draft.state.failedInRow > 0) set(draft, { failedInRow: 0 })
  if (outcome !== 'failed' && outcome !== 'abandoned') return
  const failedInRow = draft.state.failedInRow + 1
  set(draft, { failedInRow })
  const { pauseAfter } = policyOf(draft.state.definition.policy)
  if (pauseAfter === null || failedInRow < pauseAfter || draft.state.pause !== null) return
  const note = failedInRow === 1 ? 'paused after a failed fire' : `paused after ${failedInRow} failed fires in a row`
  pauseFires(draft, { at: draft.context.now, until: null, note, author: 'cronce', missed: 'skip' })
}
