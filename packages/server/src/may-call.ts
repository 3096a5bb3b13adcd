import type { Asker, Route } from './routes/route.ts'

/** Whether a caller who may read, or more, may use a route. */
export function mayCall(
  { access, right, isOfAll }: Pick<Route, 'access' | 'right' | 'isOfAll'>,
  asker: Asker,
): boolean {
  if (access === 'operate' && right !== undefined) return asker.rights.has(right)
  // The rest concerns schedules that the caller may not see: the fleet, alerts, metrics of all jobs.
  if (access === 'operate') return asker.level === 'operate' && asker.isVisible === null
  return asker.isVisible === null || (access !== 'metrics' && isOfAll !== true)
}
