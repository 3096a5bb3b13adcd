import { type Ending, ending } from '../../model/outcome.ts'
import type { FireKey, FireRecord, HistoryRecord, RunRecord } from '../../model/record.ts'
import { type Instant, isRunning, NOBODY, type OpenFire, type ScheduleState } from '../../model/schedule.ts'
import { counterOf, isNewerToken } from '../../model/token.ts'
import type { Context, Decision } from '../decision.ts'
import { append, begin, type Draft, finish, keyOf, rewrite, set } from '../draft.ts'
import { countFailure, lastAfter } from '../fires.ts'
import { covers } from '../ledger.ts'
import { canRead, nextUnskipped, seriesOf } from '../plan/series.ts'
import { isClaimedAhead } from './claimed-ahead.ts'

/** What an instance knows about a fire of which a run started or ended recently: its state when that was acknowledged. */
export interface KnownFire {
  readonly fire: FireKey
  /** Token of the last such run: every newer run of the fire started without knowledge of this one, or after it had ended. */
  readonly token: string
  /** `null`: it has ended. */
  readonly open: OpenFire | null
  /** The known lines of its history, by number. */
  readonly history: readonly HistoryRecord[]
  /** The run is open on another instance, which knows how it ended since. */
  readonly isElsewhere: boolean
}

/** What the store has about the fire, in the state that is decided on. */
export interface StoredFire {
  /** The record of its instant; may be a range. */
  readonly records: readonly FireRecord[]
  readonly runs: readonly RunRecord[]
}

export interface Restoration {
  /** `null`: nothing is to be written. */
  readonly decision: Decision | null
  readonly restored: readonly KnownFire[]
  /** Fires that a peer started again, or whose records differ: nothing is written about them. */
  readonly doubtful: readonly KnownFire[]
}

type Verdict = 'same' | 'restored' | 'doubtful'

/** Whether the store has everything that is known, so that no more needs to be read. `stored`: its runs with these tokens. */
export function isIntact(known: KnownFire, stored: readonly RunRecord[]): boolean {
  return stored.some(({ token }) => token === known.token) && runsOf(known).every((run) => isSame(run, stored))
}

interface KnownRun {
  readonly token: string
  readonly instance: string
  readonly startedAt: Instant
  readonly endedAt: Instant | null
}

/** The runs that ended, and the one that is open here. */
function runsOf({ open, history, isElsewhere }: KnownFire): readonly KnownRun[] {
  const ended = history.flatMap(({ run, endedAt }) => (run === null ? [] : [{ ...run, endedAt }]))
  if (open === null || !isRunning(open) || isElsewhere) return ended
  return [...ended, { ...open.run, endedAt: null }]
}

/** How an open run ended since is not known here. Of two instances that ended it, the first was right. */
function isSame(known: KnownRun, stored: readonly RunRecord[]): boolean {
  const run = stored.find(({ token }) => token === known.token)
  // The store lost that the run was parked: its instance would be asked for a run that it no longer executes.
  if (known.endedAt === null && known.instance === NOBODY && run?.endedAt === null) return run.instance === NOBODY
  if (run === undefined || known.endedAt === null) return run !== undefined
  return run.endedAt !== null && run.endedAt <= known.endedAt
}

/**
 * Restores what the store has lost about these fires after it went back in time. All of it was decided and acknowledged before,
 * so nothing is decided again and no event is emitted twice. Counters only grow.
 */
export function restore(
  state: ScheduleState,
  found: readonly { readonly known: KnownFire; readonly stored: StoredFire }[],
  context: Context,
): Restoration {
  const draft = begin(state, context)
  const restored: KnownFire[] = []
  const doubtful: KnownFire[] = []
  for (const { known, stored } of found) {
    const verdict = restoreFire(draft, known, stored)
    if (verdict === 'restored') restored.push(known)
    if (verdict === 'doubtful') doubtful.push(known)
  }
  const decision = restored.length === 0 ? null : finish(draft)
  return { decision, restored, doubtful }
}

function restoreFire(draft: Draft, known: KnownFire, stored: StoredFire): Verdict {
  const { token, open } = known
  const newer = stored.runs.filter((run) => isNewerToken(run.token, token))
  if (newer.length > 0)
    return newer.every((run) => isFollowing(known, run)) ? putRuns(draft, known, stored) : 'doubtful'
  const run = stored.runs.find((one) => one.token === token)
  const isWaiting = draft.open.some((fire) => keyOf(fire) === keyOf(known.fire) && fire.run === null)
  const isLatest = run !== undefined && runsOf(known).every((one) => one.token !== token || isSame(one, stored.runs))
  // Earlier records may still be missing.
  if (isLatest) return putRuns(draft, known, stored)
  // Another instance has ended the run meanwhile, assuming that its instance was dead: if the fire has not run again yet, it need
  // not.
  if (run !== undefined && run.ending !== null && !(open === null && isWaiting)) return 'same'
  const record = stored.records.find((one) => keyOf(one) === keyOf(known.fire))
  if (record === undefined && stored.records.some((one) => isAbout(one, known.fire))) return 'doubtful'
  if (isRivalled(draft, known, record, stored)) return 'doubtful'
  endOthers(draft, known, stored)
  putRuns(draft, known, stored)
  passOver(draft, known)
  makeRoom(draft, known.fire, record)
  if (open === null) endKnown(draft, known)
  else draft.open.push(open)
  return 'restored'
}

/** The fire as known here: its round, its attempts, its kind. */
function lastOf({ open, history }: KnownFire): Pick<OpenFire, 'round' | 'attempt' | 'kind'> {
  return open ?? history.at(-1)!
}

/** Whether this later run is the expected successor: the next attempt after an ended run, or another round. */
function isFollowing(known: KnownFire, run: RunRecord): boolean {
  const { open, isElsewhere } = known
  if (run.round > lastOf(known).round) return true
  if (open === null) return false
  const mayHaveEnded = open.run === null || isElsewhere
  return mayHaveEnded && run.attempt > open.attempt
}

/**
 * Whether an older run that is unknown here has done the same, or ended the fire: its instance was declared dead, and is back.
 */
function isRivalled(draft: Draft, known: KnownFire, record: FireRecord | undefined, stored: StoredFire): boolean {
  const { attempt, round } = lastOf(known)
  if (record !== undefined && record.ending !== null && record.round === round && record.attempt > 0) return true
  const isUnknown = ({ token }: RunRecord): boolean =>
    token !== known.token && runsOf(known).every((one) => one.token !== token)
  return stored.runs.some((run) => {
    return isUnknown(run) && run.round === round && run.attempt >= attempt && !isUnstarted(draft, known, run)
  })
}

/**
 * It was claimed ahead and never started: a later first run of the same fire is known, and the store has lost that the claim was
 * undone.
 */
function isUnstarted(draft: Draft, known: KnownFire, run: RunRecord): boolean {
  if (run.ending !== null || lastOf(known).attempt !== run.attempt || !isNewerToken(known.token, run.token))
    return false
  return draft.open.some((fire) => isRunning(fire) && fire.run.token === run.token && isClaimedAhead(fire))
}

function isAbout(record: FireRecord, { dueAt, nonce }: FireKey): boolean {
  return record.nonce === '' && nonce === '' && covers(record, dueAt)
}

/** Missing runs, and runs with another outcome, are written as they were. None of these lines ends the fire: see `endKnown`. */
function putRuns(draft: Draft, known: KnownFire, stored: StoredFire): Verdict {
  let verdict: Verdict = 'same'
  for (const run of runsOf(known)) {
    if (isSame(run, stored.runs)) continue
    set(draft, { tokens: Math.max(draft.state.tokens, counterOf(run.token)) })
    verdict = 'restored'
    const line = known.history.find((one) => one.run?.token === run.token)
    const number = stored.runs.find(({ token }) => token === run.token)?.number ?? null
    if (line !== undefined) putLine(draft, { ...line, isFinal: false }, number)
  }
  return verdict
}

/** Replaces the store's line about this run, or is appended. */
function putLine(draft: Draft, line: HistoryRecord, number: number | null): void {
  if (number === null) append(draft, line)
  else rewrite(draft, { ...line, number })
}

/**
 * An earlier run of the fire, whose end was lost as well: its instance, if it lives, knows how it ended. It certainly ended
 * before the next one started.
 */
function endOthers(draft: Draft, known: KnownFire, stored: StoredFire): void {
  const lost = ending('crashed', 'how it ended was lost by the store')
  const runs = runsOf(known)
  for (const run of stored.runs) {
    const followers = runs.filter((one) => isNewerToken(one.token, run.token))
    const endedAt = Math.min(draft.context.now, ...followers.map(({ startedAt }) => startedAt))
    const isOver = run.ending !== null && (run.endedAt ?? 0) <= endedAt
    if (isOver || run.token === known.token || runs.some(({ token }) => token === run.token)) continue
    if (isUnstarted(draft, known, run)) continue
    putLine(draft, { ...lineOfRun(draft, known, run), ending: run.ending ?? lost, endedAt }, run.number)
  }
}

function lineOfRun(draft: Draft, known: KnownFire, run: RunRecord): HistoryRecord {
  const { token, instance, startedAt, cause, cancel, error, result, ...rest } = run
  const { now } = draft.context
  return {
    ...rest,
    ...{ tenant: draft.state.definition.tenant, kind: lastOf(known).kind, plannedAt: rest.readyAt, input: null },
    ...{
      number: run.number ?? 0,
      isFinal: false,
      ending: run.ending ?? ending('crashed'),
      endedAt: run.endedAt ?? now,
    },
    ...{ expiresAt: now, range: null },
    run: { token, instance, startedAt, ...(cause === undefined ? {} : { cause }), cancel, error, result },
  }
}

/** The instant is on record before the schedule reaches it again: mark it as skipped, so that planning does not create it twice. */
function passOver(draft: Draft, known: KnownFire): void {
  const { id, definition, nextAt, skipped = [], fired } = draft.state
  const { dueAt } = known.fire
  if (lastOf(known).kind !== 'scheduled' || nextAt === null || dueAt < nextAt || skipped.includes(dueAt)) return
  set(draft, { skipped: [...skipped, dueAt].sort((one, other) => one - other), fired: fired + 1 })
  if (canRead(definition)) set(draft, { nextAt: nextUnskipped(draft.state, seriesOf(id, definition), nextAt - 1) })
}

/** The store's record of the fire is not final. */
function makeRoom(draft: Draft, fire: FireKey, record: FireRecord | undefined): void {
  draft.open = draft.open.filter((one) => keyOf(one) !== keyOf(fire))
  set(draft, {})
  if (record === undefined) draft.creates.push(fire)
  else if (record.ending !== null) draft.reopens.push(fire)
}

/** The line that ends the fire: that of its last run, which `putRuns` has just written, or a separate one. */
function endKnown(draft: Draft, { history }: KnownFire): void {
  const last = history.at(-1)
  if (last === undefined || !last.isFinal) return
  const isLast = ({ run }: HistoryRecord): boolean => run !== null && run.token === last.run?.token
  const lines = draft.history.some(isLast) ? draft.history : draft.rewrites
  const place = lines.findIndex(isLast)
  if (place < 0) append(draft, last)
  else lines[place] = { ...lines[place]!, isFinal: true }
  count(draft, last, last.ending, last.endedAt)
}

function count(draft: Draft, fire: Pick<OpenFire, 'dueAt' | 'attempt'>, end: Ending, endedAt: Instant): void {
  set(draft, { last: lastAfter(draft.state.last, fire, end.outcome, endedAt) })
  countFailure(draft, end.outcome)
}
