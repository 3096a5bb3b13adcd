import type { AppRecord } from '../../model/app.ts'
import { counts, findDeployment, hasOtherForm, hasSchedule, isOfEachHost, newestExplicit } from './deployment.ts'
import { type DeclaringInstance, mayDeclare } from './retirement.ts'

/**
 * Schedules that live processes of older explicit deployments declare and the newest explicit one does not, each with those
 * processes. What a live process without an id declares is not contested: it is never retired.
 */
export function contestedSchedules(
  app: AppRecord,
  instances: readonly DeclaringInstance[],
): ReadonlyMap<string, readonly DeclaringInstance[]> {
  const newest = newestExplicit(app)
  if (newest === null || !counts(newest)) return new Map()
  const isImplicit = ({ deployment }: DeclaringInstance): boolean => findDeployment(app, deployment)?.explicit !== true
  const kept = new Set(
    instances.filter(isImplicit).flatMap((instance) => instance.jobs.filter((job) => mayDeclare(app, instance, job))),
  )
  const contested = new Map<string, DeclaringInstance[]>()
  for (const instance of instances) {
    if (instance.deployment === newest.id) continue
    const release = findDeployment(app, instance.deployment)
    for (const schedule of instance.jobs) {
      // An instance has more job names than schedules.
      if (release === undefined || !release.declares.includes(schedule)) continue
      if (kept.has(schedule) || hasSchedule(newest, schedule)) continue
      // Its job goes on in another form.
      if (hasOtherForm(newest, schedule, isOfEachHost(release, schedule))) continue
      contested.set(schedule, [...(contested.get(schedule) ?? []), instance])
    }
  }
  return contested
}

/** Live processes of other deployments that declare none of the schedules of this one, one for each deployment. */
export function disjointProcesses(
  own: DeclaringInstance,
  instances: readonly DeclaringInstance[],
): readonly DeclaringInstance[] {
  const byDeployment = new Map<string, DeclaringInstance>()
  for (const other of instances) {
    if (other.deployment === own.deployment || byDeployment.has(other.deployment)) continue
    if (!other.jobs.some((job) => own.jobs.includes(job))) byDeployment.set(other.deployment, other)
  }
  return [...byDeployment.values()]
}
