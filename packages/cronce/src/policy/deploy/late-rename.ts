import { ending } from '../../model/outcome.ts'
import type { Instant, OpenFire, Retirement, ScheduleState } from '../../model/schedule.ts'
import { MAX_STEPS } from '../bounds.ts'
import type { Context, Decision } from '../decision.ts'
import { begin, type Draft, finish, set } from '../draft.ts'
import { endFire } from '../fires.ts'
import { excludedOf } from '../plan/excluded.ts'
import { type Known, missRetired } from '../plan/plan.ts'
import { canRead, markOf, nextUnskipped, seriesOf } from '../plan/series.ts'
import { isRunning } from '../records.ts'
import { addStretch, namesBefore, turnAfter, turnOf } from './continue-job.ts'

// `was` came one release late: the app has both names as jobs of their own. See docs/decisions/006-deployments.md, "Renames".

/** The active schedule that goes on when another name of its job is retired beside it. */
export type Beside = Pick<ScheduleState, 'id' | 'definition' | 'createdAt' | 'revision' | 'retirements'>

type Passed = Parameters<typeof markOf>[0] & Pick<ScheduleState, 'id' | 'retirements' | 'open'>

/**
 * What the old name has passed is its own: where the active one is behind, what that alone had due there is missed; and what waits under
 * the active one ends. `null`: nothing is left to do.
 */
export function passOver(
  state: ScheduleState,
  old: ScheduleState,
  by: Pick<Retirement, 'deployment' | 'number'>,
  context: Context,
): Decision | null {
  if (state.retiredAt !== null || !canRead(state.definition) || hasPassed(state, old)) return null
  const [mark, to] = [markOf(state), markOf(old)]
  const draft = begin(state, context)
  const known = recordOf(old)
  let hasMore = true
  for (let step = 0; hasMore && step < MAX_STEPS; step++) hasMore = missRetired(draft, to + 1, known)
  // The rest is passed over by the next decision.
  if (hasMore) return finish(draft)
  endOpen(draft, isLeftTo(old))
  // The clock may have been set back since the old name went so far.
  const plannedTo = Math.max(mark, to)
  const nextAt = nextUnskipped(draft.state, seriesOf(state.id, state.definition), plannedTo)
  const stretch: Retirement = {
    from: Math.min(mark, to),
    to,
    cause: 'renamed',
    ...by,
    renamedTo: old.id,
    turn: turnAfter(old),
  }
  set(draft, { plannedTo, nextAt, retirements: addStretch(state, stretch) })
  return finish(draft)
}

/** Whether the active name runs nothing that the old one has on record, and comes after it as a name of its job. */
export function hasPassed(state: Passed, old: ScheduleState): boolean {
  const isAfter = namesBefore(state).includes(old.id) && turnOf(state) > turnOf(old)
  return isAfter && markOf(state) >= markOf(old) && !state.open.some(isLeftTo(old))
}

/** The fires that wait under the active name although the old one may have run them. What waits under both ends under the old one. */
function isLeftTo(old: ScheduleState): (fire: OpenFire) => boolean {
  const mayBeThere = mayHave(old)
  const waiting = new Set(old.open.filter(isWaiting).map(({ dueAt }) => dueAt))
  const mark = markOf(old)
  return (fire) => isWaiting(fire) && fire.dueAt <= mark && mayBeThere(fire.dueAt) && !waiting.has(fire.dueAt)
}

function isWaiting(fire: OpenFire): boolean {
  return fire.kind === 'scheduled' && !isRunning(fire)
}

/** Leave to `beside` what it has planned, or will plan. What it may not have is missed; what waits here and may be there, too, ends. */
export function leaveTo(draft: Draft, beside: Beside): void {
  const known = recordOf(beside)
  let hasMore = canRead(draft.state.definition)
  for (let step = 0; hasMore && step < MAX_STEPS; step++) hasMore = missRetired(draft, null, known)
  const mayBeThere = mayHave(beside)
  endOpen(draft, (fire) => isWaiting(fire) && mayBeThere(fire.dueAt))
}

function endOpen(draft: Draft, isRepeated: (fire: OpenFire) => boolean): void {
  for (const fire of draft.open.filter(isRepeated)) endFire(draft, fire, ending('retired'))
}

/** The due times that are certainly on record under this name, or will be. */
function recordOf(state: Beside): Known {
  const isThere = mayHave(state)
  return { find: (dueAt) => (isCertain(state) && isThere(dueAt)) || undefined }
}

/** The due times that may be on record under this name. */
function mayHave(state: Beside): (dueAt: Instant) => boolean {
  const { id, definition, createdAt, retirements = [] } = state
  const series = isCertain(state) ? seriesOf(id, definition) : null
  const excluded = series === null ? null : excludedOf(definition)
  const isTime = (at: Instant): boolean =>
    series === null || series.next(at - 1) === at || excluded?.next(at - 1) === at
  const wasRetired = (at: Instant): boolean => retirements.some(({ from, to }) => at > from && to !== null && at <= to)
  return (dueAt) => dueAt >= createdAt && !wasRetired(dueAt) && isTime(dueAt)
}

/** Whether the definition tells which due times the name has had: it has never changed, and no limit ends them. */
function isCertain({ definition, revision }: Beside): boolean {
  return revision === 1 && definition.limit === null && canRead(definition)
}
