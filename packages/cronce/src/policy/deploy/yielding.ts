import type { InstanceRecord } from '../../model/instance.ts'
import { ending } from '../../model/outcome.ts'
import { type Instant, MAX_RETIREMENTS, type ScheduleState } from '../../model/schedule.ts'
import { MAX_STEPS } from '../bounds.ts'
import type { Context, Decision } from '../decision.ts'
import { begin, type Draft, finish, set } from '../draft.ts'
import { endFire } from '../fires.ts'
import { type DefineWish, define, refuseTaking } from '../operate/define.ts'
import { missRetired } from '../plan/plan.ts'
import { canRead } from '../plan/series.ts'
import { isRunning } from '../records.ts'
import { isRefusal } from '../refusals.ts'
import { isOldName } from './continue-job.ts'

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

/**
 * Which app has the schedule that an old name was renamed to. `none`: there is no such schedule, or it was renamed back to the old name,
 * so the old name still holds the job.
 */
export type NextOwner = 'taker' | 'other' | 'none'

/** Whether a schedule is free for another app that declares it as `id`, which may be another name of its job. */
export function isYielded(state: ScheduleState, id: string, owner: Owner, next: NextOwner): boolean {
  const { source, retiredAt } = state
  if (source.kind !== 'code' || source.app !== owner.app) return false
  const isGone = owner.isGone && owner.instances.length === 0
  // An old name of a renamed job goes where the job has gone: what waits under it still runs.
  if (isOldName(state)) {
    const isDeclared = owner.instances.some(({ jobs }) => jobs.includes(id) || jobs.includes(state.id))
    return next === 'none' ? isGone : next === 'taker' && !isDeclared
  }
  return isGone || retiredAt !== null
}

/** Processes that only call `runDue` come and go: their app counts as gone a day after the last call. */
export function mayReturn(ended: readonly Pick<InstanceRecord, 'transient' | 'renewedAt'>[], now: Instant): boolean {
  return ended.some(({ transient, renewedAt }) => transient === true && now - renewedAt < DAY_MS)
}

/**
 * Make a yielded schedule the taker's. What is open and what is due stays; its definition follows when the taker declares it. `null`:
 * the taker may not have it. `wanted` is declared as `id`: the name of the schedule, or another name of its job.
 */
export function takeSchedule(state: ScheduleState, id: string, wanted: DefineWish, context: Context): Decision | null {
  const { source, standing, holder } = wanted
  if (source.kind !== 'code' || standing === undefined || refuseTaking(id, wanted, standing) !== null) return null
  const isHeld = holder !== undefined && holder.retiredAt === null
  // An old name stays one, with what waits under it, until the job is renamed back to it.
  const isDeclared = state.id === id && !isOldName(state)
  if (isDeclared && state.retiredAt !== null && !isHeld) {
    const decision = define(state, id, wanted, context)
    return decision === null || isRefusal(decision) ? null : decision
  }
  const draft = begin(state, context)
  // Below every deployment: the taker's own may define it otherwise.
  set(draft, { source: { ...source, number: 0 } })
  if (isDeclared && isHeld) {
    retireBeside(draft, holder.id, { deployment: standing.deployment, number: source.number })
  }
  return finish(draft)
}

/** The job goes on under another name until it is renamed: what this name has not planned belonged to the other app's job. */
function retireBeside(draft: Draft, name: string, by: { readonly deployment: string; readonly number: number }): void {
  const { now } = draft.context
  const isPlanned = draft.state.retiredAt === null && canRead(draft.state.definition)
  for (let steps = 0; isPlanned && steps < MAX_STEPS && missRetired(draft, null); steps++);
  for (const fire of draft.open.filter((open) => !isRunning(open))) endFire(draft, fire, ending('retired'))
  const earlier = (draft.state.retirements ?? []).map((known) => (known.to === null ? { ...known, to: now } : known))
  const stretch = { from: now, to: null, cause: 'renamed', ...by, renamedTo: name } as const
  set(draft, {
    backfills: [],
    retiredAt: now,
    retirements: [...earlier, stretch].slice(-MAX_RETIREMENTS),
  })
}
