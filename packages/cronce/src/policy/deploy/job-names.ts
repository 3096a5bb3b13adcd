import type { AppRecord, Rename } from '../../model/app.ts'
import type { ScheduleState } from '../../model/schedule.ts'

/**
 * For each renamed job, by each of its names, all names that it has in the releases on record. Two names that one deployment declares are
 * two jobs: the older link between them does not count.
 */
export function namesOfJobs(app: AppRecord): ReadonlyMap<string, ReadonlySet<string>> {
  const names = new Map<string, ReadonlySet<string>>()
  for (const { was, id } of linksOf(app)) {
    const joined = new Set([was, id].flatMap((name) => [...(names.get(name) ?? [name])]))
    const isOneJob = app.deployments.every(({ declares }) => declares.filter((name) => joined.has(name)).length < 2)
    if (isOneJob) for (const name of joined) names.set(name, joined)
  }
  return names
}

/** The newest first. */
function linksOf({ deployments, renames = [] }: AppRecord): readonly Rename[] {
  const newestFirst = deployments.toSorted((a, b) => b.number - a.number)
  return [...newestFirst.flatMap((deployment) => deployment.renames ?? []), ...renames.toReversed()]
}

/** The other names of a job. */
export function otherNamesOf(app: AppRecord, name: string): readonly string[] {
  return [...(namesOfJobs(app).get(name) ?? [])].filter((other) => other !== name)
}

/**
 * The schedule that holds the job now: of all its names the active one, otherwise the one that was retired last. What it has not planned
 * is what the job has not planned.
 */
export function holderOf(states: readonly ScheduleState[]): ScheduleState | undefined {
  const heldTo = ({ retiredAt }: ScheduleState): number => retiredAt ?? Number.POSITIVE_INFINITY
  return states.toSorted((a, b) => heldTo(b) - heldTo(a) || b.updatedAt - a.updatedAt)[0]
}
