import { type Ending, ending } from '../../model/outcome.ts'
import { DEFAULT_POLICY } from '../../model/policy.ts'
import type { Instant, OpenFire } from '../../model/schedule.ts'
import { MAX_OPEN } from '../bounds.ts'
import type { Draft } from '../draft.ts'
import { isClaimedAhead } from '../end/claimed-ahead.ts'
import { cancelRun, endFire, openFire } from '../fires.ts'
import { isRunning } from '../records.ts'
import { decideOverlap, type OverlapVerdict } from './overlap.ts'
import { isActive } from './turn.ts'
import { isLate, isUnasked, onTimeWaiters, openFiresOf } from './waiting.ts'

/**
 * The state when a planning step began: fires planned in one step do not count against each other. Nor does an active backfill:
 * it may take days, and a fire that is on time meanwhile waits instead of being skipped.
 */
export interface Step {
  readonly active: readonly OpenFire[]
  /** Fires that count for overlap although they have not started. */
  readonly stalled: readonly OpenFire[]
  /** Whether the fires of this step were requested: fires that only wait do not prevent them from waiting, too. */
  readonly isAsked: boolean
}

/** For the instants of the schedule. */
export function stepOf(draft: Draft): Step {
  return { active: activeOf(draft), stalled: stalledOf(draft), isAsked: false }
}

function stalledOf(draft: Draft): readonly OpenFire[] {
  const { policy } = draft.state.definition
  const { overlap = DEFAULT_POLICY.overlap, misfire = DEFAULT_POLICY.misfire } = policy
  if (overlap.kind === 'queue-all') return draft.open.filter(isWaiting)
  // Under `all` every instant must run: fires that wait for a slot do not end the new ones.
  return misfire.late === 'all' ? [] : onTimeWaiters(openFiresOf(draft.open, policy), draft.context.now)
}

/** For a fire that a person or another system requested. */
export function askedStepOf(draft: Draft): Step {
  return { active: activeOf(draft), stalled: [], isAsked: true }
}

function activeOf(draft: Draft): readonly OpenFire[] {
  return draft.open.filter((fire) => isActive(fire) && fire.kind !== 'backfill')
}

function isWaiting(fire: OpenFire): boolean {
  return !isActive(fire) && fire.kind !== 'backfill'
}

/** Open a fire that is on time, or return how overlap ends it. */
export function openOnTime(draft: Draft, step: Step, fire: OpenFire): Ending | null {
  if (draft.open.length >= MAX_OPEN) return ending('queue-full', `${MAX_OPEN} fires of the schedule are open`)
  const verdict = verdictOn(draft, step, fire)
  if (verdict === 'skip') return ending('overlap', inTheWay(countedFor(step, fire)))
  if (verdict === 'queue-full') return ending('queue-full', inTheWay(countedFor(step, fire)))
  if (verdict === 'replace') replaceOthers(draft, step, fire)
  openFire(draft, fire)
  return null
}

/** How overlap treats a fire that is on time. */
export function verdictOn(draft: Draft, step: Step, fire: OpenFire): OverlapVerdict {
  if (fire.ignoresOverlap) return 'start'
  // Planned ahead, because the following rule will not plan it: which fires will be active then is not known yet.
  if (fire.readyAt > draft.context.now) return 'wait'
  const { overlap = DEFAULT_POLICY.overlap } = draft.state.definition.policy
  const waiting = draft.open.filter((other) => isWaiting(other) && !(step.isAsked && isUnasked(other))).length
  const counts = countsFor(step, fire)
  return decideOverlap(overlap, {
    active: step.active.filter(counts).length,
    stalled: step.stalled.filter(counts).length,
    waiting,
  })
}

function countedFor(step: Step, fire: OpenFire): readonly OpenFire[] {
  return [...step.active, ...step.stalled].filter(countsFor(step, fire))
}

/**
 * Whether another fire counts for the overlap of this one. Of the instants of a schedule, one that was planned when this one was
 * already ready does not: they came due together because planning was late.
 */
function countsFor({ isAsked }: Step, { readyAt }: OpenFire): (other: OpenFire) => boolean {
  return (other) => isAsked || !isUnasked(other) || countsFrom(other) < readyAt
}

/** A fire that is claimed ahead counts as planned when it starts, which may be late. */
function countsFrom(fire: OpenFire): Instant {
  return isRunning(fire) && isClaimedAhead(fire) ? fire.run.startedAt : fire.plannedAt
}

/**
 * Ask active fires to end, and end waiting ones: the new fire takes their place. Requested fires that were not claimed yet stay;
 * late fires are left to the misfire policy.
 */
function replaceOthers(draft: Draft, step: Step, by: OpenFire): void {
  const among = openFiresOf(draft.open, draft.state.definition.policy)
  const detail = `replaced by the fire due ${text(by.dueAt)}`
  for (const other of draft.open.filter(({ kind }) => kind !== 'backfill')) {
    const isOnTime = !isLate(other, among, draft.context.now)
    const isEnded = isActive(other) ? !isNewRound(other) : isUnasked(other) && (step.isAsked || isOnTime)
    if (isRunning(other)) cancelRun(draft, other, { reason: 'replaced', detail })
    else if (isEnded) endFire(draft, other, ending('replaced', detail))
  }
}

/** Whether an operator's retry has opened another round, and no run of it has ended yet. */
function isNewRound({ round, failures, crashes }: OpenFire): boolean {
  return round > 1 && failures === 0 && crashes === 0
}

/** Of fires that count for overlap, and there is one. */
export function inTheWay(others: readonly OpenFire[]): string {
  const first = others.find(isRunning)
  if (first !== undefined) {
    const { token, instance, startedAt, parkedUntil } = first.run
    const where = parkedUntil === undefined ? `on ${instance}` : 'waiting for its call-back'
    return `run ${token} ${where}, running since ${text(startedAt)}`
  }
  const fire = others.find(isActive) ?? others[0]!
  if (!isActive(fire)) return `the fire due ${text(fire.dueAt)}, which waits to start`
  return `the fire due ${text(fire.dueAt)}, between two attempts until ${text(fire.readyAt)}`
}

function text(at: number): string {
  return new Date(at).toISOString()
}
