import {
  type Definition,
  type Instant,
  type Last,
  MAX_RETIREMENTS,
  type Retirement,
  type ScheduleState,
} from '../../model/schedule.ts'
import { isEqual } from '../equal.ts'
import { markOf } from '../plan/series.ts'

type Carried = 'plannedTo' | 'pause' | 'skipped' | 'fired' | 'failedInRow' | 'last'

/**
 * What a job takes along when it goes on under another of its names, in either direction. `from` held it last, `to` is the schedule that
 * takes over, `null` if there was none. `mark`: the instants after it are planned by `to`.
 */
export function continueJob(
  from: ScheduleState,
  to: ScheduleState | null,
  mark: Instant,
): Required<Pick<ScheduleState, Carried>> {
  const { pause, skipped = [], fired, failedInRow } = from
  return {
    plannedTo: to === null ? mark : Math.max(mark, markOf(to)),
    ...{ pause, skipped, fired, failedInRow },
    last: to === null ? from.last : laterLast(from.last, to.last),
  }
}

/** The stretch in which the job had the name of `from`, and earlier ones, for a schedule that takes over from it at its first declaration. */
export function stretchBefore(
  from: ScheduleState,
  { to: planned, deployment, number }: { readonly to: Instant; readonly deployment: string; readonly number: number },
): Retirement {
  const earlier = (from.retirements ?? []).filter(({ renamedTo }) => renamedTo !== undefined)
  const since = Math.min(from.createdAt, ...earlier.map((stretch) => stretch.from))
  const to = Math.max(since, planned)
  return { from: since, to, cause: 'renamed', deployment, number, renamedTo: from.id, turn: turnAfter(from) }
}

/** How often the job had changed its name when it got this one: the highest of its names had it last, whatever the clock said. */
export function turnOf({ retirements = [] }: Pick<ScheduleState, 'retirements'>): number {
  return Math.max(0, ...retirements.map(({ turn = 0 }) => turn))
}

/** The turn of the name that the job has after `old`. */
export function turnAfter(old: Pick<ScheduleState, 'retirements'>): number {
  return turnOf(old) + 1
}

/**
 * The stretches of a schedule and one more. Of too many, the oldest are dropped, but not the last one of each name: a job whose name is
 * forgotten would be taken for another job, and run beside itself.
 */
export function addStretch(
  { retirements = [] }: Pick<ScheduleState, 'retirements'>,
  stretch: Retirement,
): readonly Retirement[] {
  const isLastOfName = ({ renamedTo }: Retirement, index: number): boolean =>
    renamedTo !== undefined && retirements.findLastIndex((one) => one.renamedTo === renamedTo) === index
  const recentFrom = retirements.length + 1 - MAX_RETIREMENTS
  const kept = retirements.filter((one, index) => index >= recentFrom || isLastOfName(one, index))
  return [...kept, stretch]
}

/** The other names that a schedule has had. */
export function namesBefore({ id, retirements = [] }: Pick<ScheduleState, 'id' | 'retirements'>): readonly string[] {
  return [...new Set(retirements.flatMap(({ renamedTo }) => renamedTo ?? []))].filter((name) => name !== id)
}

/** Whether this is an old name of a job that has another one now. */
export function isOldName({ retiredAt, retirements }: ScheduleState): boolean {
  return retiredAt !== null && retirements?.at(-1)?.renamedTo !== undefined
}

/** Whether this is the name that the job had before it was renamed to `name`. */
export function isRenamedTo({ retiredAt, retirements }: ScheduleState, name: string): boolean {
  return retiredAt !== null && retirements?.at(-1)?.renamedTo === name
}

/** The retirements of an old name whose job has left the code under this name. */
export function withoutRename(retirements: readonly Retirement[] = [], by: Partial<Retirement>): readonly Retirement[] {
  const { renamedTo: _, ...last } = retirements.at(-1)!
  return [...retirements.slice(0, -1), { ...last, ...by }]
}

/** Whether `next` has continued the job of `old` since that was renamed. */
export function hasContinued(next: ScheduleState, old: ScheduleState): boolean {
  const since = old.retirements?.at(-1)?.from ?? 0
  const isAfter = ({ renamedTo, to }: Retirement): boolean => renamedTo === old.id && to !== null && to >= since
  return next.retirements?.some(isAfter) === true
}

/** Whether two definitions have the same instants. */
export function hasSameTiming(a: Definition, b: Definition): boolean {
  return hasSameInstants(a, b) && a.limit === b.limit
}

/** Apart from the limit, which only says how many of them count. */
export function hasSameInstants(a: Definition, b: Definition): boolean {
  return isEqual(a.trigger, b.trigger) && a.start === b.start && a.end === b.end
}

function laterLast(a: Last, b: Last): Last {
  const succeeded = (a.succeededDueAt ?? 0) >= (b.succeededDueAt ?? 0) ? a : b
  const { succeededDueAt, succeededAt } = succeeded
  const dueAt = a.dueAt === null || b.dueAt === null ? (a.dueAt ?? b.dueAt) : Math.max(a.dueAt, b.dueAt)
  return { dueAt, succeededDueAt, succeededAt }
}
