import type { AppRecord } from '../../model/app.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import type { Context } from '../../policy/decision.ts'
import { hasSameTiming, isRenamedTo } from '../../policy/deploy/continue-job.ts'
import { findDeployment, newestExplicit, outrankedBy } from '../../policy/deploy/deployment.ts'
import { hasPassed } from '../../policy/deploy/late-rename.ts'
import type { RetireWish } from '../../policy/deploy/retire.ts'
import { define } from '../../policy/operate/define.ts'
import { canRead, markOf } from '../../policy/plan/series.ts'
import { isRefusal } from '../../policy/refusals.ts'
import { isOf, type Wish } from './declarations.ts'
import { findElsewhere, isOvertaken, lastOwnName, type Named, otherHolder } from './other-names.ts'

/** What has to be written before the declared names can take over from the old ones. */
export interface RenamePlan {
  /** By old name that is active, what replaces it. */
  readonly stops: Map<string, Pick<RetireWish, 'renamedTo' | 'leavesDue' | 'beside'>>
  /** Holders whose timing differs from the declared one: what they hold is settled first. */
  readonly held: string[]
  /** Old names that were stopped for a declared name which another app or a client has by now: the job goes on under them. */
  readonly lost: string[]
  /** By active schedule that another name of the job is to be retired beside, that name: it has gone further. */
  readonly passed: Map<string, ScheduleState>
  /** By holder that was not renamed to it, the declared name that takes over from it. */
  readonly adopted: Map<string, string>
}

interface Found {
  readonly record: AppRecord
  readonly deployment: string
  readonly named: Named
  readonly context: Context
}

/** Decides about all declared names of jobs that have several, from the schedules that exist. */
export function planRenames(found: Found): Readonly<RenamePlan> {
  const { record, deployment, named } = found
  // If deployments have ids, the newest one alone decides what is retired.
  const isDeciding = !findDeployment(record, deployment)!.explicit || newestExplicit(record)?.id === deployment
  const plan: RenamePlan = { stops: new Map(), held: [], lost: [], passed: new Map(), adopted: new Map() }
  for (const wish of named.several) planRename(wish, isDeciding, found, plan)
  return plan
}

function planRename(wish: Wish, isDeciding: boolean, found: Found, plan: RenamePlan): void {
  const own = found.named.states.get(wish.id) ?? null
  const isActive = own !== null && own.retiredAt === null
  if (isBlocked(wish, own, found)) {
    if (isDeciding) plan.lost.push(...namesToTakeBack(wish, own, found))
    return
  }
  const active = isDeciding ? namesToStop(wish, isActive, found) : []
  if (active.length > 0) {
    planStops(wish, own, active, found.context, plan)
    return
  }
  const holder = isActive ? undefined : otherHolder(wish, own, found.named)
  if (holder === undefined) return
  if (!hasSameTiming(holder.definition, wish.definition)) plan.held.push(holder.id)
  if (!isRenamedTo(holder, wish.id)) plan.adopted.set(holder.id, wish.id)
}

/** `active`: what `namesToStop` found. */
function planStops(
  wish: Wish,
  own: ScheduleState | null,
  active: readonly ScheduleState[],
  context: Context,
  { stops, passed }: RenamePlan,
): void {
  const [first, ...others] = active as readonly [ScheduleState, ...ScheduleState[]]
  if (isAhead(own, first, context)) return
  const renamedTo = wish.id
  const [beside, besides] = own !== null && own.retiredAt === null ? [own, active] : [first, others]
  const further = besides.find((name) => !hasPassed(beside, name))
  if (further !== undefined) {
    // Both go on until a runtime that can read the rule passes over what the other one has.
    if (canRead(beside.definition)) passed.set(beside.id, further)
    return
  }
  for (const { id } of besides) stops.set(id, { renamedTo, beside })
  if (besides.length > 0) return
  // Retired last: it holds the job.
  stops.set(first.id, { renamedTo, leavesDue: hasSameTiming(first.definition, wish.definition) })
}

/** The old name of a job that lost its new name in the middle of the rename: no name has continued the job. */
function namesToTakeBack(wish: Wish, own: ScheduleState | null, { record, deployment, named }: Found): string[] {
  if (own === null || isOf(own, named.app)) return []
  const last = lastOwnName(wish, named)
  if (last === undefined || !isOvertaken(last, own, named)) return []
  return [wish.id, last.id].some((name) => outrankedBy(record, deployment, name) !== null) ? [] : [last.id]
}

/** Whether the declared name will be refused, or another app has the job: if the old name were stopped, no name would have the job. */
function isBlocked(wish: Wish, own: ScheduleState | null, { named, context }: Found): boolean {
  // Only whether it is accepted matters here, which does not depend on what is on record.
  const accepted = define(own, wish.id, { ...wish, onRecord: [] }, context)
  return (accepted !== null && isRefusal(accepted)) || findElsewhere(wish, named) !== undefined
}

/**
 * The new name has gone further, in another app: the old name continues until it has planned what is due. No process plans it
 * while the new one is active.
 */
function isAhead(own: ScheduleState | null, first: ScheduleState, context: Context): boolean {
  return own !== null && own.retiredAt !== null && markOf(own) > markOf(first) && isBehind(first, context.now)
}

function isBehind({ pause, nextAt }: ScheduleState, now: number): boolean {
  return pause !== null || (nextAt !== null && nextAt <= now)
}

/** The active schedules whose job goes on as `id`: the one that it continues first. */
function namesToStop(
  { id, was, otherNames }: Wish,
  isActive: boolean,
  { record, deployment, named }: Found,
): readonly ScheduleState[] {
  const active = otherNames
    .flatMap((name) => named.states.get(name) ?? [])
    .filter(({ retiredAt }) => retiredAt === null)
  // A job that is active under both names goes on under the declared one only if the code says so.
  const wanted = active.filter((state) => !isActive || state.id === was)
  // A newer deployment that declares either name decides about both.
  const isOutranked = [id, ...wanted.map((state) => state.id)].some(
    (name) => outrankedBy(record, deployment, name) !== null,
  )
  if (isOutranked) return []
  return wanted.toSorted((a, b) => Number(b.id === was) - Number(a.id === was) || b.updatedAt - a.updatedAt)
}
