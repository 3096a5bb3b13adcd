import type { AppRecord, Rename } from '../../model/app.ts'
import type { ScheduleState } from '../../model/schedule.ts'
import { markOf } from '../plan/series.ts'
import { turnOf } from './continue-job.ts'

export interface IgnoredRename extends Rename {
  readonly continuedBy: string
}

/**
 * For each renamed job, by each of its names, all names that it has in the releases on record. Two names that one deployment declares are
 * two jobs: the older link between them does not count. Nor does one to a name that another job continues.
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

/** The newest first, without those that are ignored. */
function linksOf(app: AppRecord): readonly Rename[] {
  const { deployments, renames = [] } = app
  const ignored = ignoredLinks(app)
  const newestFirst = deployments.toSorted((a, b) => b.number - a.number)
  const declared = newestFirst.flatMap((deployment) => deployment.renames ?? [])
  return [...declared.filter((link) => !ignored.has(link)), ...renames.toReversed()]
}

/** The renames of a deployment that are ignored, since another job that it declares continues the old name. */
export function ignoredRenames(app: AppRecord, deployment: string): readonly IgnoredRename[] {
  const { renames = [] } = app.deployments.find(({ id }) => id === deployment) ?? {}
  const ignored = ignoredLinks(app)
  return renames.flatMap((link) => {
    const continuedBy = ignored.get(link)
    return continuedBy === undefined ? [] : [{ ...link, continuedBy }]
  })
}

/**
 * A name is continued by one job only. Of two jobs of a deployment that were the same name, the one whose link is older continues it; the
 * link of the other one is ignored. By ignored link, the name that continues the old one.
 */
function ignoredLinks(app: AppRecord): ReadonlyMap<Rename, string> {
  const ignored = new Map<Rename, string>()
  // A rollback changes the number of a deployment, but not which link was first.
  const oldestFirst = app.deployments.toSorted((a, b) => a.firstReadyAt - b.firstReadyAt || a.number - b.number)
  const counted = [...(app.renames ?? [])]
  for (const { declares, renames = [] } of oldestFirst) {
    for (const link of renames) {
      const by = olderJob(app, link, declares, counted)
      if (by === undefined) counted.push(link)
      else ignored.set(link, by)
    }
  }
  return ignored
}

/** Of these declared names, the one whose job had the name `was` before the link was made. */
function olderJob(
  { deployments }: AppRecord,
  { was, id }: Rename,
  declared: readonly string[],
  older: readonly Rename[],
): string | undefined {
  for (const first of older.filter((link) => link.was === was)) {
    if (first.id === id) return undefined
    const names = namesAfter(first, older)
    // If a deployment declares the old name beside the job, it is another job, which may be renamed.
    const isReused = deployments.some(
      ({ declares }) => declares.includes(was) && names.some((name) => declares.includes(name)),
    )
    const by = isReused ? undefined : names.find((name) => name !== id && declared.includes(name))
    if (by !== undefined) return by
  }
  return undefined
}

/** The names that the job had after `was`, up to its return to that name. */
function namesAfter({ was, id }: Rename, links: readonly Rename[]): readonly string[] {
  const names = [id]
  for (const name of names) {
    const next = links.filter((link) => link.was === name && link.id !== was && !names.includes(link.id))
    names.push(...new Set(next.map((link) => link.id)))
  }
  return names
}

/** The other names of a job. */
export function otherNamesOf(app: AppRecord, name: string): readonly string[] {
  return [...(namesOfJobs(app).get(name) ?? [])].filter((other) => other !== name)
}

/**
 * The schedule that holds the job now: of all its names the active one, otherwise the one that was retired last. Instants that it
 * has not planned are those that the job has not planned.
 */
export function holderOf(states: readonly ScheduleState[]): ScheduleState | undefined {
  // Retired at the same turn and time: the one that has planned further, so that nothing is planned again.
  const compare = (a: ScheduleState, b: ScheduleState): number =>
    Number(a.retiredAt !== null) - Number(b.retiredAt !== null) ||
    turnOf(b) - turnOf(a) ||
    (b.retiredAt ?? 0) - (a.retiredAt ?? 0) ||
    markOf(b) - markOf(a) ||
    b.updatedAt - a.updatedAt
  return states.toSorted(compare)[0]
}
