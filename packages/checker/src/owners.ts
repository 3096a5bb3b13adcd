import type { Ownership } from './history.ts'
import type { Times } from './store-clock.ts'

export interface Owners {
  /**
   * Whether nodes of this app were entitled to the schedule for all of these times. A schedule that a client made is run by the app that
   * owns the schedule of its job: other apps have another job of that name.
   */
  mayRun(app: string | null, schedule: string, job: string, times: Times): boolean
}

/** Absent: apps are not distinguished, and every node is entitled to everything. */
export function ownersOf(ownerships: readonly Ownership[] | undefined): Owners {
  if (ownerships === undefined) return { mayRun: () => true }
  const bySchedule = new Map<string, Ownership[]>()
  for (const ownership of ownerships) {
    const known = bySchedule.get(ownership.schedule)
    if (known === undefined) bySchedule.set(ownership.schedule, [ownership])
    else known.push(ownership)
  }
  /** `undefined`: none, or more than one in these times. */
  const onlyOwner = (schedule: string, { from, to }: Times): string | null | undefined => {
    const known = bySchedule.get(schedule) ?? []
    const last = known.findLast(({ at }) => at <= to)
    if (last === undefined) return undefined
    const isChanged = known.some(({ at, app }, index) => {
      const until = known[index + 1]?.at ?? Number.POSITIVE_INFINITY
      return at <= to && until > from && app !== last.app
    })
    return isChanged || known[0]!.at > from ? undefined : last.app
  }
  return {
    mayRun(app, schedule, job, times) {
      const owner = onlyOwner(schedule, times)
      return owner === null ? onlyOwner(job, times) === app : owner === app
    },
  }
}
