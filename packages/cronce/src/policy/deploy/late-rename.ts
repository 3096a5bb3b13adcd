import { ending } from '../../model/outcome.ts'
import type { Instant, OpenFire, Retirement, ScheduleState } from '../../model/schedule.ts'
import { MAX_STEPS } from '../bounds.ts'
import type { Context, Decision } from '../decision.ts'
import { begin, type Draft, finish, set } from '../draft.ts'
import { endFire } from '../fires.ts'
import { type Known, missRetired } from '../plan/plan.ts'
import { canRead, markOf, nextUnskipped, seriesOf } from '../plan/series.ts'
import { isRunning } from '../records.ts'
import { addStretch, namesBefore } from './continue-job.ts'

// `was` came one release late: the app has both names as jobs of their own. See docs/decisions/006-deployments.md, "Renames".

/** The active schedule that goes on when another name of its job is retired beside it. */
export type Beside = Pick<ScheduleState, 'id' | 'definition' | 'createdAt' | 'revision' | 'retirements'>

type Passed = Parameters<typeof markOf>[0] & Parameters<typeof namesBefore>[0]

/**
 * The old name has gone further than the active one: what it has passed is its own. What the active name alone had due there is missed.
 * `null`: nothing is left to do.
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
  // The clock may have been set back since the old name went so far.
  const plannedTo = Math.max(mark, to)
  const nextAt = nextUnskipped(draft.state, seriesOf(state.id, state.definition), plannedTo)
  const stretch: Retirement = { from: Math.min(mark, to), to, cause: 'renamed', ...by, renamedTo: old.id }
  set(draft, { plannedTo, nextAt, retirements: addStretch(state, stretch) })
  return finish(draft)
}

/** Whether the active name has all of what the old one has on record, and names it as one that its job has had. */
export function hasPassed(state: Passed, old: ScheduleState): boolean {
  return markOf(state) >= markOf(old) && namesBefore(state).includes(old.id)
}

/** Leave to `beside` what it has planned, or will plan. What it may not have is missed; what waits here and may be there, too, ends. */
export function leaveTo(draft: Draft, beside: Beside): void {
  const known = recordOf(beside)
  for (let steps = 0; steps < MAX_STEPS && missRetired(draft, null, known); steps++);
  const mayBeThere = mayHave(beside)
  const isRepeated = (fire: OpenFire): boolean =>
    fire.kind === 'scheduled' && !isRunning(fire) && mayBeThere(fire.dueAt)
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
  const wasRetired = (at: Instant): boolean => retirements.some(({ from, to }) => at > from && to !== null && at <= to)
  return (dueAt) => dueAt >= createdAt && !wasRetired(dueAt) && (series === null || series.next(dueAt - 1) === dueAt)
}

/** Whether the definition tells which due times the name has had: it has never changed, and no limit ends them. */
function isCertain({ definition, revision }: Beside): boolean {
  return revision === 1 && definition.limit === null && canRead(definition)
}
