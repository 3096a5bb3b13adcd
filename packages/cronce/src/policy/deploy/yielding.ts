import type { InstanceRecord } from '../../model/instance.ts'
import type { Instant, Retirement, ScheduleState } from '../../model/schedule.ts'
import { MAX_STEPS } from '../bounds.ts'
import type { Context, Decision } from '../decision.ts'
import { begin, type Draft, finish, set } from '../draft.ts'
import { type DefineWish, define, endWaiting, RECORD_UNREAD, refuseTaking } from '../operate/define.ts'
import { missRetired } from '../plan/plan.ts'
import { canRead, markOf, nextUnskipped, seriesOf } from '../plan/series.ts'
import { isRefusal } from '../refusals.ts'
import { addStretch, isOldName, isRenamedTo, withoutRename } from './continue-job.ts'

// How the name of a schedule passes from the app that declared it to another app. See docs/decisions/006-deployments.md, "Apps".

const DAY_MS = 86_400_000

/** What the taker knows about the app that declared a schedule. */
export interface Owner {
  readonly app: string
  /** It has had no live instance for the hold-down. */
  readonly isGone: boolean
  /** Its live and draining instances that declare something, listed after its record was read. */
  readonly instances: readonly Pick<InstanceRecord, 'jobs'>[]
}

/** Whether a schedule is free for another app that wants it. */
export function isYielded(state: ScheduleState, owner: Owner): boolean {
  const { source, retiredAt } = state
  if (source.kind !== 'code' || source.app !== owner.app) return false
  const isGone = owner.isGone && owner.instances.length === 0
  // While its app lives, an old name belongs to the renamed job: what waits under it still runs.
  return isGone || (retiredAt !== null && !isOldName(state))
}

/** Processes that only call `runDue` come and go: their app counts as gone a day after the last call. */
export function mayReturn(ended: readonly Pick<InstanceRecord, 'transient' | 'renewedAt'>[], now: Instant): boolean {
  return ended.some(({ transient, renewedAt }) => transient === true && now - renewedAt < DAY_MS)
}

/**
 * Make a yielded schedule the taker's. What is open and what is due stays; its definition follows when the taker declares it. An old name
 * leaves its job, which stays with its app, and begins anew. `null`: the taker may not have it. `wanted` is declared as `id`: the name of
 * the schedule, or a name that continues it.
 */
export function takeSchedule(state: ScheduleState, id: string, wanted: DefineWish, context: Context): Decision | null {
  const { source, standing } = wanted
  if (source.kind !== 'code' || standing === undefined || refuseTaking(id, wanted, standing) !== null) return null
  const by = { deployment: standing.deployment, number: source.number }
  // Otherwise the rename to `id` has stopped half-way: the taker finishes it.
  const leavesJob = isOldName(state) && !isRenamedTo(state, id)
  const found = leavesJob ? leaveJob(state, by, context.now) : state
  const holder = state.id === id ? wanted.holder : undefined
  if (state.id === id && comesBack(state, holder, leavesJob)) {
    const decision = declareTaken(found, id, wanted, context)
    if (decision !== RECORD_UNREAD) return decision
  }
  const draft = begin(found, context)
  // Below every deployment: the taker's own may define it otherwise.
  set(draft, { source: { ...source, number: 0 } })
  if (leavesJob) endWaiting(draft)
  if (holder?.retiredAt === null) retireBeside(draft, holder.id, by)
  return finish(draft)
}

/** `RECORD_UNREAD`: the declaration that follows reads what is on record at its one instant. */
function declareTaken(
  found: ScheduleState,
  id: string,
  wanted: DefineWish,
  context: Context,
): Decision | null | typeof RECORD_UNREAD {
  const decision = define(found, id, wanted, context)
  if (decision === null || !isRefusal(decision)) return decision
  return decision.refused === RECORD_UNREAD ? RECORD_UNREAD : null
}

/** The rename of a taken name stopped half-way: its job has gone on nowhere, and is as one that no process declared in between. */
export function undoRename(state: ScheduleState): ScheduleState {
  return { ...state, retirements: withoutRename(state.retirements, { cause: 'absent' }) }
}

/** Whether the declared name is retired, and no active name of the taker holds its job. One that has left its job needs a holder to continue. */
function comesBack({ retiredAt }: ScheduleState, holder: ScheduleState | undefined, leavesJob: boolean): boolean {
  if (retiredAt === null || holder?.retiredAt === null) return false
  return !leavesJob || holder !== undefined
}

type By = Pick<Retirement, 'deployment' | 'number'>

/** What a renamed job left to its next name is planned there, in the other app: under this name nothing is due until now. */
function leaveJob(state: ScheduleState, by: By, now: Instant): ScheduleState {
  const retirements = retiredAnew(state, { from: now, to: null, cause: 'dropped', ...by })
  const left = { ...state, retirements }
  if (!canRead(state.definition)) return left
  const plannedTo = Math.max(now, markOf(state))
  return { ...left, plannedTo, nextAt: nextUnskipped(state, seriesOf(state.id, state.definition), plannedTo) }
}

/** The job goes on under another name until it is renamed: what this name has not planned belonged to the other app's job. */
function retireBeside(draft: Draft, name: string, by: By): void {
  const { now } = draft.context
  const isPlanned = draft.state.retiredAt === null && canRead(draft.state.definition)
  for (let steps = 0; isPlanned && steps < MAX_STEPS && missRetired(draft, null); steps++);
  endWaiting(draft)
  const stretch: Retirement = { from: now, to: null, cause: 'renamed', ...by, renamedTo: name }
  set(draft, { retiredAt: now, retirements: retiredAnew(draft.state, stretch) })
}

function retiredAnew({ retirements = [] }: ScheduleState, stretch: Retirement): readonly Retirement[] {
  const earlier = retirements.map((known) => (known.to === null ? { ...known, to: stretch.from } : known))
  return addStretch({ retirements: earlier }, stretch)
}
