import type { AppRecord } from '../../model/app.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import type { Context } from '../../policy/decision.ts'
import { hasSameTiming, isRenamedTo } from '../../policy/deploy/continue-job.ts'
import { findDeployment, newestExplicit, outrankedBy } from '../../policy/deploy/deployment.ts'
import type { RetireWish } from '../../policy/deploy/retire.ts'
import { define } from '../../policy/operate/define.ts'
import { canRead, markOf } from '../../policy/plan/series.ts'
import { isRefusal } from '../../policy/refusals.ts'
import type { Wish } from './declarations.ts'
import { findElsewhere, type Named, otherHolder } from './other-names.ts'

/** What has to be written before the declared names can take over from the old ones. */
export interface RenamePlan {
  /** By old name that is active, what replaces it. */
  readonly stops: Map<string, Pick<RetireWish, 'renamedTo' | 'leavesDue' | 'beside'>>
  /** Holders whose timing differs from the declared one: what they hold is settled first. */
  readonly held: string[]
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
  const plan: RenamePlan = { stops: new Map(), held: [], passed: new Map(), adopted: new Map() }
  for (const wish of named.several) planRename(wish, isDeciding, found, plan)
  return plan
}

function planRename(wish: Wish, isDeciding: boolean, found: Found, { stops, held, passed, adopted }: RenamePlan): void {
  const { states } = found.named
  const own = states.get(wish.id) ?? null
  const isActive = own !== null && own.retiredAt === null
  if (isBlocked(wish, own, found)) return
  const [first, ...others] = isDeciding ? namesToStop(wish, isActive, found) : []
  if (first !== undefined) {
    if (isAhead(own, first, found.context)) return
    const renamedTo = wish.id
    const [beside, besides] = isActive ? [own, [first, ...others]] : [first, others]
    const further = besides.find((name) => markOf(name) > markOf(beside))
    if (further !== undefined) {
      // Both go on until a runtime that can read the rule passes over what the other one has.
      if (canRead(beside.definition)) passed.set(beside.id, further)
      return
    }
    for (const { id } of besides) stops.set(id, { renamedTo, beside })
    // Retired last: it holds the job.
    if (besides.length === 0)
      stops.set(first.id, { renamedTo, leavesDue: hasSameTiming(first.definition, wish.definition) })
    return
  }
  const holder = isActive ? undefined : otherHolder(wish, own, found.named)
  if (holder === undefined) return
  if (!hasSameTiming(holder.definition, wish.definition)) held.push(holder.id)
  if (!isRenamedTo(holder, wish.id)) adopted.set(holder.id, wish.id)
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
