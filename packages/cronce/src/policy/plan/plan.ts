import { type Ending, ending } from '../../model/outcome.ts'
import { DEFAULT_POLICY } from '../../model/policy.ts'
import type { Instant, MissedChoice, Wait } from '../../model/schedule.ts'
import { HANDFUL, MAX_OPEN, MAX_PLANNED } from '../bounds.ts'
import { type Draft, demandTime, set } from '../draft.ts'
import { endFire, endUnrun, newFire, noteWaits, openFire } from '../fires.ts'
import type { Ledger } from '../ledger.ts'
import { recordOf } from '../records.ts'
import { excludedOf, excludedUntil, hasExcluded, rangeOf } from './excluded.ts'
import { decideLate, isOnTime, keepCount } from './misfire.ts'
import { openOnTime, type Step, stepOf, verdictOn } from './on-time.ts'
import { markOf, nextOf, type Series, seriesOf, zoneDataOf } from './series.ts'
import { judgeLate, openFiresOf } from './waiting.ts'

/**
 * `ready`: fires that may start by now. `due`: also those that jitter still delays, since the following rule will not plan them.
 */
export type Reach = 'ready' | 'due'

interface DueInstant {
  readonly dueAt: Instant
  readonly readyAt: Instant
  /** The previous instant is already on record: no range may span both. */
  readonly isApart: boolean
}

/** Instants that are not planned again. `find` answers `undefined` for all others. */
export interface Known {
  find(dueAt: Instant): unknown
}

interface Stretch {
  readonly instants: readonly DueInstant[]
  /** What the calendar excludes, up to now: recorded as far as the instants before it are planned. */
  readonly excluded: readonly DueInstant[]
  readonly series: Series
  readonly isDue: (at: Instant) => boolean
  /** The last one looked at. */
  readonly to: Instant | null
  readonly nextAt: Instant | null
  /** True: more instants are due than one step plans. */
  readonly more: boolean
}

/**
 * Plan the due instants: run, skip or miss each. `most`: how many of those that are on time; the others stay unplanned. `end`: only
 * those before it. True: more are due than one step plans.
 */
export function plan(
  draft: Draft,
  reach: Reach,
  ledger: Ledger | null,
  most = Number.POSITIVE_INFINITY,
  end: Instant | null = null,
): boolean {
  const found = dueStretch(draft, reach, ledger, end)
  if (isEmpty(found)) return false
  const { misfire = DEFAULT_POLICY.misfire } = draft.state.definition.policy
  const { now } = draft.context
  const lateness = found.instants.map(({ readyAt }) => now - readyAt)
  const onTimeFrom = lateness.findIndex((ms) => isOnTime(misfire, ms))
  const leavesLate = found.more && onTimeFrom < 0
  const stretch = leavesLate ? leaveLatest(found) : leaveOnTime(found, onTimeFrom < 0 ? Infinity : onTimeFrom + most)
  const late = lateness.slice(0, onTimeFrom < 0 ? stretch.instants.length : onTimeFrom)
  const step = stepOf(draft)
  const newer = leavesLate ? hasNewer(stretch) : opensNewer(draft, step, stretch.instants.slice(late.length))
  const ahead = stretch.more && misfire.late === 'all' ? countAhead(draft, stretch, misfire.limit) : 0
  const verdicts = decideLate(misfire, late, { newer, ahead, room: MAX_OPEN - draft.open.length })
  write(draft, stretch, (instant, index) => {
    const verdict = verdicts[index]
    if (verdict === undefined) return openOnTime(draft, step, fireOf(draft, instant))
    if (verdict !== 'run') return ending(verdict)
    return openLate(draft, instant, { cause: 'caught-up', late: true })
  })
  return stretch.more
}

/**
 * Leave the latest instant to the next step. That step decides whether it runs, or a newer one makes up for it and for those of
 * this step.
 */
function leaveLatest(stretch: Stretch): Stretch {
  const { instants } = stretch
  // A step must make progress.
  if (instants.length < 2) return stretch
  const { dueAt } = instants.at(-1)!
  return { ...stretch, instants: instants.slice(0, -1), to: dueAt - 1, nextAt: dueAt }
}

/** Leave instants that are on time to later steps, one of which makes up for the late ones of this step. */
function leaveOnTime(stretch: Stretch, count: number): Stretch {
  const { instants } = stretch
  const next = instants[count]
  if (next === undefined) return stretch
  return { ...stretch, instants: instants.slice(0, count), to: instants[count - 1]?.dueAt ?? null, nextAt: next.dueAt }
}

/** Whether one of the instants that are on time will be open and ready: then it makes up for the late ones. */
function opensNewer(draft: Draft, step: Step, onTime: readonly DueInstant[]): boolean {
  const ready = onTime.find(({ readyAt }) => readyAt <= draft.context.now)
  if (ready === undefined || draft.open.length >= MAX_OPEN) return false
  const verdict = verdictOn(draft, step, fireOf(draft, ready))
  return verdict !== 'skip' && verdict !== 'queue-full'
}

/** Decide about the instants of a pause as chosen: those before its end. True: there are more than one step plans. */
export function planPaused(draft: Draft, choice: MissedChoice, ledger: Ledger | null): boolean {
  // Also instants whose jitter ends after the pause: their due time fell into it.
  const stretch = dueStretch(draft, 'due', ledger, draft.state.pause?.until ?? null)
  if (isEmpty(stretch)) return false
  const { limit } = draft.state.definition.policy.misfire ?? DEFAULT_POLICY.misfire
  const ahead = stretch.more && choice === 'all' ? countAhead(draft, stretch, limit) : 0
  const beyond = { newer: hasNewer(stretch), ahead, room: MAX_OPEN - draft.open.length }
  const firstKept = stretch.instants.length - keepCount(choice, limit, beyond)
  write(draft, stretch, (instant, index) => {
    return index < firstKept ? ending('paused') : openLate(draft, instant, { cause: 'asked' })
  })
  return stretch.more
}

/**
 * Record the instants that a retirement left unplanned, up to `end` or now. `elsewhere`: those that another schedule plans, which are not
 * recorded here. True: there are more than one step plans.
 */
export function missRetired(draft: Draft, end: Instant | null, elsewhere: Known | null = null): boolean {
  const stretch = dueStretch(draft, 'due', elsewhere, end)
  if (isEmpty(stretch)) return false
  write(draft, stretch, () => ending('while-retired'))
  return stretch.more
}

/** Record one instant that is too old to be planned. */
export function missInstant(draft: Draft, dueAt: Instant): void {
  const { id, definition } = draft.state
  const series = seriesOf(id, definition)
  if (series.next(dueAt - 1) !== dueAt) return
  const fire = fireOf(draft, { dueAt, readyAt: series.readyAt(dueAt), isApart: false })
  endUnrun(draft, recordOf(draft, fire), ending('too-late'))
}

/** Decide about the fires that wait for their first claim: the misfire policy ends the late ones, or keeps them. */
export function missWaiting(draft: Draft): void {
  const among = openFiresOf(draft.open, draft.state.definition.policy)
  const kept = new Map<Instant, Wait>()
  for (const { fire, verdict } of judgeLate(among, draft.context.now)) {
    if ('outcome' in verdict) endFire(draft, fire, verdict)
    else kept.set(fire.dueAt, verdict)
  }
  if (kept.size > 0) noteWaits(draft, (fire) => (fire.nonce === '' && kept.get(fire.dueAt)) || fire.wait)
}

/** Ends fires whose retry no instance started in time. */
export function giveUpWaiting(draft: Draft): void {
  for (const fire of [...draft.open]) {
    const { giveUp, run } = fire
    if (run === null && giveUp !== undefined && draft.context.now > giveUp.at)
      endFire(draft, fire, ending(giveUp.reason))
  }
}

function openLate(draft: Draft, instant: DueInstant, wait: Wait): null {
  openFire(draft, { ...fireOf(draft, instant), wait })
  return null
}

function fireOf(draft: Draft, { dueAt, readyAt }: DueInstant) {
  return newFire({ dueAt, readyAt, plannedAt: draft.context.now, kind: 'scheduled' })
}

function dueStretch(draft: Draft, reach: Reach, known: Known | null, end: Instant | null): Stretch {
  const { state, context } = draft
  const series = seriesOf(state.id, state.definition)
  const excluded = hasExcluded(state) ? dueExcluded(draft, known, end) : NONE
  const instants: DueInstant[] = []
  let isApart = false
  let to: Instant | null = null
  let at = state.nextAt
  const isDue = (dueAt: Instant): boolean =>
    dueAt <= context.now && dueAt < (end ?? Infinity) && (reach === 'due' || series.readyAt(dueAt) <= context.now)
  const found = { instants, excluded, series, isDue }
  const cutAt = excluded.length === MAX_PLANNED ? excluded.at(-1)!.dueAt : Infinity
  for (let looked = 0; at !== null && isDue(at); looked++) {
    if (looked === MAX_PLANNED || at > cutAt) return { ...found, to, nextAt: at, more: true }
    to = at
    if (known?.find(at) === undefined && !state.skipped?.includes(at)) {
      instants.push({ dueAt: at, readyAt: series.readyAt(at), isApart })
      isApart = false
    } else {
      isApart = true
    }
    at = nextOf(series, state.definition, state.fired + instants.length, at)
  }
  while (at !== null && state.skipped?.includes(at)) at = series.next(at)
  return { ...found, to, nextAt: at, more: cutAt !== Infinity }
}

const NONE: readonly never[] = []

/** What the calendar excludes after the mark, up to now and before `end`. */
function dueExcluded({ state, context }: Draft, known: Known | null, end: Instant | null): readonly DueInstant[] {
  const excluded = excludedOf(state.definition)
  const found: DueInstant[] = []
  const isDue = (at: Instant): boolean => at <= context.now && at < (end ?? Infinity)
  let isApart = false
  let at = excluded?.next(markOf(state)) ?? null
  for (; at !== null && isDue(at) && found.length < MAX_PLANNED; at = excluded!.next(at)) {
    const isOnRecord = known?.find(at) !== undefined || state.skipped?.includes(at) === true
    if (!isOnRecord) found.push({ dueAt: at, readyAt: at, isApart })
    isApart = isOnRecord
  }
  return found
}

/** Without fires in it, what the calendar excludes comes before the next one. */
function isEmpty({ to, excluded, nextAt }: Stretch): boolean {
  return to === null && (excluded.length === 0 || (nextAt !== null && excluded[0]!.dueAt > nextAt))
}

/** Whether a due instant follows the stretch. */
function hasNewer({ nextAt, isDue }: Stretch): boolean {
  return nextAt !== null && isDue(nextAt)
}

/** Number of due instants after the stretch, up to `most`. */
function countAhead({ state }: Draft, stretch: Stretch, most: number): number {
  const bound = Math.min(most, MAX_OPEN)
  let count = 0
  let at = stretch.nextAt
  while (at !== null && count < bound && stretch.isDue(at)) {
    count++
    at = nextOf(stretch.series, state.definition, state.fired + stretch.instants.length + count, at)
  }
  return count
}

/** Let `judge` open or end each instant, record those that end and what the calendar excludes, and move the mark. */
function write(draft: Draft, stretch: Stretch, judge: (instant: DueInstant, index: number) => Ending | null): void {
  const { state, context } = draft
  const { definition } = state
  let alike: DueInstant[] = []
  let end: Ending | null = null
  const flush = (): void => {
    if (end !== null) recordAlike(draft, alike, end)
    alike = []
  }
  const add = (instant: DueInstant, judged: Ending | null): void => {
    if (judged === null || instant.isApart || !isAlike(judged, end)) flush()
    end = judged
    if (judged !== null) alike.push(instant)
  }
  const fired = state.fired + stretch.instants.length
  const until = excludedUntil(definition, fired, stretch.to ?? markOf(state), stretch.nextAt)
  const excluded = stretch.excluded.filter(({ dueAt }) => dueAt <= until)
  const calendar = excluded.length === 0 ? null : excludedOf(definition)
  let passed = 0
  const exclude = (before: Instant): void => {
    for (; passed < excluded.length && excluded[passed]!.dueAt < before; passed++) {
      add(excluded[passed]!, calendar!.endingOf(excluded[passed]!.dueAt))
    }
  }
  stretch.instants.forEach((instant, index) => {
    exclude(instant.dueAt)
    add(instant, judge(instant, index))
  })
  exclude(Number.POSITIVE_INFINITY)
  flush()
  for (const { dueAt, readyAt } of [...stretch.instants.slice(-1), ...excluded.slice(-1)]) {
    demandTime(draft, readyAt <= context.now ? readyAt : dueAt)
  }
  const plannedTo = Math.max(stretch.to ?? markOf(state), ...excluded.slice(-1).map(({ dueAt }) => dueAt))
  // Instants that were skipped ahead of time are kept until the mark passes them.
  const isAhead = (at: Instant): boolean => at > context.now || at > plannedTo
  if (state.skipped?.length) set(draft, { skipped: state.skipped.filter(isAhead) })
  set(draft, { nextAt: stretch.nextAt, plannedTo, fired, zoneData: zoneDataOf(definition, context.zoneData) })
}

/** A few one by one; more as one range. */
function recordAlike(draft: Draft, instants: readonly DueInstant[], end: Ending): void {
  const [first] = instants
  const { trigger } = draft.state.definition
  if (first === undefined || trigger === null) return
  if (instants.length <= HANDFUL) {
    for (const instant of instants) endUnrun(draft, recordOf(draft, fireOf(draft, instant)), end)
    return
  }
  const isExcluded = end.reason === 'calendar' && trigger.kind === 'cron'
  const data = isExcluded ? rangeOf(trigger) : trigger
  const range = { untilAt: instants.at(-1)!.dueAt, count: instants.length, trigger: data }
  endUnrun(draft, { ...recordOf(draft, fireOf(draft, first)), range }, end)
}

function isAlike(a: Ending, b: Ending | null): boolean {
  return b !== null && a.reason === b.reason && a.detail === b.detail
}
