import type { ScheduleView } from 'cronce'
import { upcoming } from './forecast.ts'
import { Steps } from './steps.ts'

const HOUR_MS = 3_600_000
/** Due times that one request computes. */
const STEPS = 100_000
/** No schedule gets fewer than this, however many there are. */
const STEPS_EACH = 1_000
const CROWDS = 20
const CROWD_NAMES = 10

interface Crowd {
  readonly dueAt: number
  count: number
  /** The first of them. */
  readonly schedules: string[]
}

/** Fires to come by hour, and the moments with the most fires. `cut`: some due times were not computed. */
export async function calendarOf(schedules: readonly ScheduleView[], from: number, to: number) {
  const hours = new Map<number, number>()
  const moments = new Map<number, Crowd>()
  const steps = new Steps(STEPS)
  let cut = false
  let left = STEPS
  for (const [index, schedule] of schedules.toSorted(seldomFirst).entries()) {
    // A schedule that is due every second must not use up what the others need; what they leave is for those that come last.
    const share = Math.floor(left / (schedules.length - index))
    const most = Math.max(STEPS_EACH, Math.min(STEPS / 2, share))
    let found = 0
    for await (const dueAt of upcoming(schedule, { from, to, most }, steps)) {
      found++
      const hour = Math.floor(dueAt / HOUR_MS) * HOUR_MS
      hours.set(hour, (hours.get(hour) ?? 0) + 1)
      join(moments, dueAt, schedule.name)
    }
    if (found === most) cut = true
    left = Math.max(0, left - found)
  }
  const crowds = [...moments.values()].filter(({ count }) => count > 1).sort((one, other) => other.count - one.count)
  return {
    hours: [...hours].map(([at, count]) => ({ at, count })).sort((one, other) => one.at - other.at),
    crowds: crowds.slice(0, CROWDS),
    cut: cut || steps.isSpent,
  }
}

/** Intervals may be short; expressions are due every minute at most, as a rule. */
function seldomFirst({ trigger: one }: ScheduleView, { trigger: other }: ScheduleView): number {
  const rate = (trigger: ScheduleView['trigger']): number => (trigger?.kind === 'every' ? 1 / trigger.everyMs : 0)
  return rate(one) - rate(other)
}

function join(moments: Map<number, Crowd>, dueAt: number, name: string): void {
  const crowd = moments.get(dueAt) ?? { dueAt, count: 0, schedules: [] }
  moments.set(dueAt, crowd)
  crowd.count++
  if (crowd.schedules.length < CROWD_NAMES) crowd.schedules.push(name)
}
