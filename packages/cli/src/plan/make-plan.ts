import type { ScheduleView, Store } from 'cronce'
import type { Declaration } from 'cronce/internal'
import { type Collision, collisionsOf } from '../forecast/collisions.ts'
import { type Forecast, forecastOf } from '../forecast/forecast.ts'
import { comingOf } from '../schedule-times.ts'
import { compareFires } from './compare-fires.ts'
import { copyStore, madeAtRunTime, type StoreCopy } from './copy-store.ts'
import { differencesOf } from './differences.ts'
import { type FoundChange, findChanges } from './find-changes.ts'
import { clockChanges, findRemarks, type Remark } from './find-remarks.ts'
import type { PlannedChange } from './planned-change.ts'
import { type Rehearsed, rehearse } from './rehearse.ts'

export interface Plan {
  readonly now: number
  /** Not included. */
  readonly until: number
  readonly days: number
  readonly app: string
  readonly deployment: string
  /** No id was given, so the plan is for a new explicit one, as the app has now. */
  readonly isIdAssumed: boolean
  readonly unchanged: number
  readonly changes: readonly PlannedChange[]
  readonly remarks: readonly Remark[]
  readonly load: { readonly before: Forecast; readonly after: Forecast }
  /** Schedules that are due at the same moments afterwards, with what would spread them. */
  readonly collisions: readonly Collision[]
  readonly verdict: Verdict
  readonly holdDownMs: number
}

export type Verdict = 'nothing' | 'changes' | 'risk'

export interface PlanOptions {
  readonly days: number
  /** Due times to list. */
  readonly count: number
  /** Zone of the hours of the load. */
  readonly tz: string
}

const DAY_MS = 86_400_000
/** The load is forecast for a week: longer repeats it. */
const LOAD_DAYS = 7

/** Compare what the code declares with what the store has. Reads the store, and writes nothing to it. */
export async function makePlan(
  store: Store,
  declarations: readonly Declaration[],
  options: PlanOptions,
): Promise<Plan> {
  const [{ settings }] = declarations as readonly [Declaration, ...Declaration[]]
  const copy = await copyStore(store, settings.app, declarations)
  const assumed = assumedId(copy, settings)
  const rehearsed = await rehearse(declarations, copy, assumed ?? undefined)
  const found = findChanges(copy, rehearsed, declarations)
  const until = copy.now + options.days * DAY_MS
  const changes = found.changes.map((change) => described(change, { ...options, now: copy.now, until }))
  const gone = changes.flatMap(({ kind, before }) => (kind === 'retired' && before !== null ? [before.job] : []))
  const remarks = findRemarks({
    ...{ now: copy.now, until, changes, activeBefore: found.before.length, holdDownMs: rehearsed.holdDownMs },
    needed: await madeAtRunTime(store, gone),
    outrankedBy: newerOf(rehearsed, assumed ?? settings.deployment),
  })
  const hours = { from: copy.now, days: LOAD_DAYS, tz: options.tz }
  const load = { before: forecastOf(found.before, hours), after: forecastOf(found.after, hours) }
  const isRisky = remarks.some(({ level }) => level === 'risk')
  return {
    ...{ now: copy.now, until, days: options.days, app: copy.app, holdDownMs: rehearsed.holdDownMs },
    ...{ deployment: assumed ?? settings.deployment, isIdAssumed: assumed !== null },
    unchanged: found.before.filter(({ name }) => !changes.some((change) => touches(change, name))).length,
    ...{ changes, remarks, load, collisions: collisionsOf(load.after.busiest, options.tz) },
    verdict: isRisky ? 'risk' : changes.length > 0 ? 'changes' : 'nothing',
  }
}

function touches({ name, was }: PlannedChange, schedule: string): boolean {
  return name === schedule || was === schedule
}

/** Processes of one app all have ids or none has: without one here, the deployment will have one. */
function assumedId({ apps, app }: StoreCopy, { isExplicit, deployment }: Declaration['settings']): string | null {
  if (isExplicit) return null
  const known = apps.get(app)?.deployments.filter(({ lost }) => !lost) ?? []
  return known.some(({ explicit }) => explicit) ? `plan-${deployment}` : null
}

/** The release that defines the schedules, if that is not this one. */
function newerOf({ app }: Rehearsed, deployment: string): string | null {
  return app.active === null || app.active === deployment ? null : app.active
}

interface Horizon extends PlanOptions {
  readonly now: number
  readonly until: number
}

function described(change: FoundChange, horizon: Horizon): PlannedChange {
  const { now, until, count } = horizon
  const { before, after } = withoutRetired(change)
  const coming = (schedule: ScheduleView | null): readonly number[] =>
    schedule === null ? [] : comingOf(schedule, now, count)
  return {
    ...change,
    differences: before === null || after === null ? [] : differencesOf(before, after),
    next: { before: coming(before), after: coming(after) },
    fires: compareFires(before, after, horizon),
    clockChanges: after === null ? [] : clockChanges(after, now, until, ['moved']),
  }
}

/** A schedule that was retired was not due; one that is refused stays as it is, for the app that has it. */
function withoutRetired({ kind, before, after }: FoundChange): Pick<FoundChange, 'before' | 'after'> {
  if (kind === 'refused') return { before: null, after: null }
  const isDue = before !== null && before.retiredAt === null
  // What no process declares waits for one, and is missed.
  return { before: isDue && kind !== 'added' ? before : null, after: kind === 'undeclared' ? null : after }
}
