import { type Ending, ending } from '../model/outcome.ts'
import { DEFAULT_POLICY } from '../model/policy.ts'
import type { OpenFire } from '../model/schedule.ts'
import { MAX_OPEN } from './bounds.ts'
import type { Draft } from './draft.ts'
import { cancelRun, endFire, openFire } from './fires.ts'
import { decideOverlap } from './overlap.ts'
import { isRunning } from './records.ts'
import { isActive } from './turn.ts'

/**
 * What a step of planning found when it began: fires planned in one step are not in each other's way. Nor is a backfill: it
 * may take days, and what is on time meanwhile waits its turn rather than being skipped.
 */
export interface Step {
  readonly active: readonly OpenFire[]
  /** Fires that it opened so far. */
  opened: number
}

export function stepOf(draft: Draft): Step {
  return { active: draft.open.filter((fire) => isActive(fire) && fire.kind !== 'backfill'), opened: 0 }
}

/** Open a fire that is on time, or say how overlap ends it. */
export function openOnTime(draft: Draft, step: Step, fire: OpenFire): Ending | null {
  if (draft.open.length >= MAX_OPEN) return ending('queue-full', `${MAX_OPEN} fires of the schedule are open`)
  const verdict = verdictOn(draft, step, fire)
  if (verdict === 'skip') return ending('overlap', inTheWay(step.active))
  if (verdict === 'queue-full') return ending('queue-full', inTheWay(step.active))
  if (verdict === 'replace') replaceOthers(draft, fire)
  const isBehind = step.opened > 0 || draft.open.some((other) => other.kind === 'backfill' || isQueued(other))
  openFire(draft, { ...fire, queued: verdict !== 'start' || isBehind })
  step.opened++
  return null
}

function verdictOn(draft: Draft, step: Step, fire: OpenFire) {
  if (fire.ignoresOverlap) return 'start'
  // Planned before its time, because what comes after would not plan it: nobody knows yet what will be active then.
  if (fire.readyAt > draft.context.now) return 'wait'
  const { overlap = DEFAULT_POLICY.overlap } = draft.state.definition.policy
  const waiting = draft.open.filter((other) => !isActive(other) && other.kind !== 'backfill').length
  return decideOverlap(overlap, { active: step.active.length, waiting })
}

function isQueued(fire: OpenFire): boolean {
  return fire.run === null && fire.queued
}

/** Ask what runs to end, and end what waits: the new fire stands in for all of them, but for what somebody wants filled in. */
function replaceOthers(draft: Draft, by: OpenFire): void {
  const detail = `replaced by the fire due ${text(by.dueAt)}`
  for (const other of draft.open.filter(({ kind }) => kind !== 'backfill')) {
    if (isRunning(other)) cancelRun(draft, other, { reason: 'replaced', detail })
    else endFire(draft, other, ending('replaced', detail))
  }
}

/** Of fires that are active, and there is one. */
export function inTheWay(active: readonly OpenFire[]): string {
  const first = active.find(isRunning)
  if (first !== undefined) {
    const { token, instance, startedAt, parkedUntil } = first.run
    const where = parkedUntil === undefined ? `on ${instance}` : 'waiting for its call-back'
    return `run ${token} ${where}, running since ${text(startedAt)}`
  }
  return `the fire due ${text(active[0]!.dueAt)}, between two attempts until ${text(active[0]!.readyAt)}`
}

function text(at: number): string {
  return new Date(at).toISOString()
}
