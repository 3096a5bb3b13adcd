import { type ScheduleView, trigger } from 'cronce'
import type { Steps } from './steps.ts'

export interface Stretch {
  /** Included. */
  readonly from: number
  /** Not included. */
  readonly to: number
  /** At most so many instants. */
  readonly most: number
}

/**
 * The instants at which a schedule will be due, as things are: not while it is paused, not beyond its end or its limit. The
 * first one may have passed, if nobody has come to it yet. Ends early when the steps are spent.
 */
export async function* upcoming(
  schedule: ScheduleView,
  { from, to, most }: Stretch,
  steps: Steps,
): AsyncGenerator<number, void, undefined> {
  const { nextAt, pause, endAt, limit, fired } = schedule
  if (schedule.trigger === null || nextAt === null || schedule.retiredAt !== null) return
  if (pause !== null && pause.untilAt === null) return
  const line = trigger(schedule.trigger)
  const before = Math.min(to, endAt ?? Number.POSITIVE_INFINITY)
  const earliest = Math.max(from, pause?.untilAt ?? Number.NEGATIVE_INFINITY)
  // What falls into a pause or is not asked for counts towards the limit all the same.
  let at = limit === null && earliest > nextAt ? line.next(earliest - 1) : nextAt
  let left = limit === null ? Number.POSITIVE_INFINITY : limit - fired
  let given = 0
  for (; at !== null && at < before && left > 0; at = line.next(at), left--) {
    if (given === most || !(await steps.take())) return
    if (at < earliest) continue
    given++
    yield at
  }
}

export interface ForecastItem {
  readonly schedule: string
  readonly job: string
  readonly dueAt: number
}

/** The instants of many schedules in their order, and whether there are more than were looked at. */
export async function forecast(
  schedules: readonly ScheduleView[],
  { from, to, most }: Stretch,
  steps: Steps,
): Promise<{ readonly items: readonly ForecastItem[]; readonly cut: boolean }> {
  const lines: { name: string; job: string; instants: ReturnType<typeof upcoming>; dueAt: number }[] = []
  for (const schedule of schedules) {
    const { name, job } = schedule
    const instants = upcoming(schedule, { from, to, most: most + 1 }, steps)
    const first = await instants.next()
    if (first.done !== true) lines.push({ name, job, instants, dueAt: first.value })
  }
  const items: ForecastItem[] = []
  while (lines.length > 0) {
    // Among some hundred lines a look at each is cheaper than order.
    let earliest = 0
    for (let index = 1; index < lines.length; index++) {
      if (lines[index]!.dueAt < lines[earliest]!.dueAt) earliest = index
    }
    const line = lines[earliest]!
    if (items.length === most) return { items, cut: true }
    items.push({ schedule: line.name, job: line.job, dueAt: line.dueAt })
    const following = await line.instants.next()
    if (following.done === true) lines.splice(earliest, 1)
    else line.dueAt = following.value
  }
  return { items, cut: steps.isSpent }
}
