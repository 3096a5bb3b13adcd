import { DEFAULT_POLICY, type PolicyChoices } from '../../model/policy.ts'
import type { Instant, OpenFire, ScheduleState } from '../../model/schedule.ts'
import { canMaterialise, isSpent } from '../bounds.ts'
import { excludedWakeAt } from './excluded.ts'
import { readyAtOf } from './series.ts'
import { takeTurns } from './turn.ts'
import { isJudged, lateAfter, openFiresOf } from './waiting.ts'

/** From its second crash on a fire runs alone on its instance. */
const SUSPECT_CRASHES = 2
/** How long a suspect fire waits for an idle instance. After that any instance runs it, since other fires queue behind it. */
const SUSPECT_PATIENCE_MS = 10_000
/** How long busy instances wait before they look at a suspect fire again. */
const SUSPECT_PAUSE_MS = 1_000

export function isSuspect(fire: OpenFire): boolean {
  return fire.crashes >= SUSPECT_CRASHES
}

export function isOutOfPatience(fire: OpenFire, now: Instant): boolean {
  return now - fire.readyAt > SUSPECT_PATIENCE_MS
}

/** Whether a pause or the end of its job keeps a fire from starting. */
export function isFrozen(state: ScheduleState, fire: OpenFire): boolean {
  return isEnded(state) || (state.pause !== null && fire.kind !== 'manual')
}

/** Retired, and not renamed: under a new name the job goes on, so what waits under the old one still runs. */
export function isEnded({ retiredAt, retirements }: ScheduleState): boolean {
  return retiredAt !== null && retirements?.at(-1)?.renamedTo === undefined
}

/** When an instance must look at the schedule again, if nothing happens to it; `null`: never. */
export function wakeAtOf(state: ScheduleState, now: Instant): Instant | null {
  let earliest = Number.POSITIVE_INFINITY
  const add = (at: Instant): void => {
    earliest = Math.min(earliest, at)
  }
  addOpen(state, now, add)
  if (state.retiredAt !== null) {
    addFrozen(state, state.retiredAt, add)
    if (isEnded(state)) return finite(earliest)
  }
  if (state.pause !== null) {
    if (state.pause.until !== null) add(state.pause.until)
    return finite(earliest)
  }
  // Ends in time, even behind a run that never ends: other fires wait behind it.
  for (const { run, giveUp } of state.open) if (run === null && giveUp !== undefined) add(giveUp.at + 1)
  for (const at of lateTimes(state)) add(at)
  if (state.retiredAt !== null) return finite(earliest)
  addPlanned(state, add)
  if (canMaterialise(state) || isSpent(state)) add(now)
  return finite(earliest)
}

/** When the next instant may start, and when the calendar excludes one before it. */
function addPlanned(state: ScheduleState, add: (at: Instant) => void): void {
  if (state.nextAt !== null) add(readyAtOf(state.id, state.definition, state.nextAt))
  const excludedAt = excludedWakeAt(state)
  if (excludedAt !== null) add(excludedAt)
}

/** When runs are revoked, and when waiting fires may start. */
function addOpen(state: ScheduleState, now: Instant, add: (at: Instant) => void): void {
  for (const { run } of state.open) {
    if (run?.cancel) add(run.cancel.revokeAt)
    if (run?.parkedUntil !== undefined) add(run.parkedUntil)
  }
  takeTurns(state.open, state.definition.policy, (fire, mayStart) => {
    if (mayStart && !isFrozen(state, fire)) add(startableAt(fire, now))
    return false
  })
}

/** When what a retired schedule has frozen ends. */
function addFrozen(
  { open, backfills, definition }: ScheduleState,
  retiredAt: Instant,
  add: (at: Instant) => void,
): void {
  if (backfills.length > 0) add(frozenUntil(retiredAt, definition.policy))
  for (const { run, own } of open) if (run === null) add(frozenUntil(retiredAt, own?.policy ?? definition.policy))
}

/** When the waiting fires of a retired schedule end: until then the retirement can be undone. */
export function frozenUntil(retiredAt: Instant, { misfire = DEFAULT_POLICY.misfire }: PolicyChoices): Instant {
  return retiredAt + misfire.windowMs
}

/** When fires that wait for others become late: misfire may end them then. */
function lateTimes({ open, definition }: ScheduleState): readonly Instant[] {
  if (open.length < 2) return []
  const among = openFiresOf(open, definition.policy)
  return open.flatMap((fire) => {
    const after = fire.wait?.late || !isJudged(fire, definition.policy) ? null : lateAfter(fire, among)
    return after === null ? [] : [after + 1]
  })
}

function startableAt(fire: OpenFire, now: Instant): Instant {
  if (!isSuspect(fire) || now <= fire.readyAt) return fire.readyAt
  const patientUntil = fire.readyAt + SUSPECT_PATIENCE_MS + 1
  return now >= patientUntil ? fire.readyAt : Math.min(now + SUSPECT_PAUSE_MS, patientUntil)
}

function finite(at: number): Instant | null {
  return at === Number.POSITIVE_INFINITY ? null : at
}
