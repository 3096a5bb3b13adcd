import type { ScheduleView } from 'cronce'
import { upcomingInstants } from 'cronce/internal'
import type { Steps } from './steps.ts'

export interface Stretch {
  /** Included. */
  readonly from: number
  /** Not included. */
  readonly to: number
  /** The maximum number of instants. */
  readonly most: number
}

/** The instants of `upcomingInstants`, at most `most` of them. Ends early when the steps are used up. */
export async function* upcoming(
  schedule: ScheduleView,
  { from, to, most }: Stretch,
  steps: Steps,
): AsyncGenerator<number, void, undefined> {
  let given = 0
  for (const at of upcomingInstants(schedule, { from, to })) {
    if (given === most || !(await steps.take())) return
    if (at === null) continue
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
