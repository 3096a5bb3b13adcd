import { type Ending, ending } from '../model/outcome.ts'
import type { FireKey, FireRecord, RunRecord } from '../model/record.ts'
import { type Instant, NOBODY, type OpenFire, type ScheduleState } from '../model/schedule.ts'
import { counterOf, isNewerToken } from '../model/token.ts'
import type { Context, Decision } from './decision.ts'
import { begin, type Draft, finish, keyOf, putRecord, set } from './draft.ts'
import { countFailure, lastAfter } from './fires.ts'
import { covers } from './ledger.ts'
import { isRunning, recordOf, runRecordOf } from './records.ts'
import { canRead, nextUnskipped, seriesOf } from './series.ts'

/** What an instance knows of a fire of which a run began or ended lately: as it was when that was acknowledged. */
export interface KnownFire {
  readonly fire: FireKey
  /** Of the last such run: every run of the fire that is newer began without this one being known, or after it had ended. */
  readonly token: string
  /** `null`: it has ended. */
  readonly open: OpenFire | null
  /** `null`: as `open` says. */
  readonly record: FireRecord | null
  readonly runs: readonly RunRecord[]
  /** The run is open elsewhere: how it ended since is known there. */
  readonly isElsewhere: boolean
}

/** What the store has of it, in the state that is decided on. */
export interface StoredFire {
  /** That of its instant; may be a range. */
  readonly records: readonly FireRecord[]
  readonly runs: readonly RunRecord[]
}

export interface Restoration {
  /** `null`: nothing is to be written. */
  readonly decision: Decision | null
  readonly restored: readonly KnownFire[]
  /** Somebody began them again, or they are on record as something else: nothing is written about them. */
  readonly doubtful: readonly KnownFire[]
}

type Verdict = 'same' | 'restored' | 'doubtful'

/** Whether the store has all that is known, so that no more needs to be read about it. `stored`: its runs of these tokens. */
export function isIntact({ token, runs }: KnownFire, stored: readonly RunRecord[]): boolean {
  const isThere = (token: string): boolean => stored.some((run) => run.token === token)
  return isThere(token) && runs.every((run) => isSame(run, stored))
}

/** How an open run ended since is not known here. Of two who ended it, one after the other, the first was right. */
function isSame(known: RunRecord, stored: readonly RunRecord[]): boolean {
  const run = stored.find(({ token }) => token === known.token)
  // That it was parked was lost: its instance would be asked for a run that it no longer executes.
  if (known.endedAt === null && known.instance === NOBODY && run?.endedAt === null) return run.instance === NOBODY
  if (run === undefined || known.endedAt === null) return run !== undefined
  return run.endedAt !== null && run.endedAt <= known.endedAt
}

/**
 * A store that went back in time: put back what is known of these fires and what the store has forgotten. All of it was decided
 * and acknowledged before, so nothing is decided anew and nothing is told twice. Counters only grow.
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
  const isLatest = run !== undefined && known.runs.every((one) => one.token !== token || isSame(one, stored.runs))
  // What came before it may be missing all the same.
  if (isLatest) return putRuns(draft, known, stored)
  // Somebody has ended the run meanwhile, taking its instance for dead: if it is not run again yet, it need not be.
  if (run !== undefined && run.ending !== null && !(open === null && isWaiting)) return 'same'
  const record = stored.records.find((one) => keyOf(one) === keyOf(known.fire))
  if (record === undefined && stored.records.some((one) => isAbout(one, known.fire))) return 'doubtful'
  if (isRivalled(known, record, stored)) return 'doubtful'
  endOthers(draft, known, stored)
  putRuns(draft, known, stored)
  passOver(draft, known)
  if (open === null) endKnown(draft, known, record)
  else reopen(draft, known, open, record)
  return 'restored'
}

/** Whether this later run is what was to follow: the next attempt after one that had ended, or another round. */
function isFollowing({ open, record, isElsewhere }: KnownFire, run: RunRecord): boolean {
  const round = open?.round ?? record?.round ?? 1
  if (run.round > round) return true
  if (open === null) return false
  const mayHaveEnded = open.run === null || isElsewhere
  return mayHaveEnded && run.attempt > open.attempt
}

/** Whether an older run that nobody here knows has done the same, or ended the fire: taken for dead, and back since. */
function isRivalled(known: KnownFire, record: FireRecord | undefined, stored: StoredFire): boolean {
  const { attempt, round } = known.open ?? known.record!
  if (record !== undefined && record.ending !== null && record.round === round && record.attempt > 0) return true
  const isUnknown = ({ token }: RunRecord): boolean =>
    token !== known.token && known.runs.every((one) => one.token !== token)
  return stored.runs.some((run) => isUnknown(run) && run.round === round && run.attempt >= attempt)
}

function isAbout(record: FireRecord, { dueAt, nonce }: FireKey): boolean {
  return record.nonce === '' && nonce === '' && covers(record, dueAt)
}

/** Records of runs are about nobody else: those that are missing or were ended otherwise are written as they were. */
function putRuns(draft: Draft, { open, token, runs }: KnownFire, stored: StoredFire): Verdict {
  let verdict: Verdict = 'same'
  const put = (run: RunRecord): void => {
    if (isSame(run, stored.runs)) return
    draft.runs.set(run.token, run)
    set(draft, { tokens: Math.max(draft.state.tokens, counterOf(run.token)) })
    verdict = 'restored'
  }
  for (const run of runs) put(run)
  if (open !== null && isRunning(open) && runs.every((run) => run.token !== token)) put(runRecordOf(draft, open))
  return verdict
}

/**
 * An earlier run of the fire, whose end was lost as well: its instance knows how it ended, if that lives. Whatever is written
 * about it meanwhile, it was over before the next one began.
 */
function endOthers(draft: Draft, { open, runs, token }: KnownFire, stored: StoredFire): void {
  const lost = ending('crashed', 'how it ended was lost by the store')
  const later = open === null || open.run === null ? runs : [...runs, open.run]
  for (const run of stored.runs) {
    const followers = later.filter((one) => isNewerToken(one.token, run.token))
    const endedAt = Math.min(draft.context.now, ...followers.map(({ startedAt }) => startedAt))
    const isOver = run.ending !== null && (run.endedAt ?? 0) <= endedAt
    if (isOver || run.token === token || runs.some((known) => known.token === run.token)) continue
    draft.runs.set(run.token, { ...run, ending: run.ending ?? lost, endedAt })
  }
}

/** An instant that the schedule has not got to again is on record now: whoever plans must not find it in the way. */
function passOver(draft: Draft, { fire, open, record }: KnownFire): void {
  const { id, definition, nextAt, skipped = [], fired } = draft.state
  const kind = open?.kind ?? record?.kind
  if (kind !== 'scheduled' || nextAt === null || fire.dueAt < nextAt || skipped.includes(fire.dueAt)) return
  set(draft, { skipped: [...skipped, fire.dueAt].sort((one, other) => one - other), fired: fired + 1 })
  if (canRead(definition)) set(draft, { nextAt: nextUnskipped(draft.state, seriesOf(id, definition), nextAt - 1) })
}

function reopen(draft: Draft, { fire }: KnownFire, open: OpenFire, record: FireRecord | undefined): void {
  removeOpen(draft, fire)
  draft.open.push(open)
  putRecord(draft, recordOf(draft, open), record === undefined)
}

function endKnown(draft: Draft, { fire, record: known }: KnownFire, record: FireRecord | undefined): void {
  if (known === null || known.ending === null || known.endedAt === null) return
  removeOpen(draft, fire)
  const number = record?.number ?? draft.state.ended + 1
  set(draft, { ended: Math.max(draft.state.ended, number) })
  putRecord(draft, { ...known, number }, record === undefined)
  count(draft, known, known.ending, known.endedAt)
}

function count(draft: Draft, known: FireRecord, end: Ending, endedAt: Instant): void {
  set(draft, { last: lastAfter(draft.state.last, known, end.outcome, endedAt) })
  countFailure(draft, end.outcome)
}

function removeOpen(draft: Draft, fire: FireKey): void {
  draft.open = draft.open.filter((one) => keyOf(one) !== keyOf(fire))
}
