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
  // A schedule that is due every second must not use up what the others need.
  const most = Math.max(STEPS_EACH, Math.floor(STEPS / Math.max(1, schedules.length)))
  let cut = false
  for (const schedule of schedules) {
    let found = 0
    for await (const dueAt of upcoming(schedule, { from, to, most }, steps)) {
      found++
      const hour = Math.floor(dueAt / HOUR_MS) * HOUR_MS
      hours.set(hour, (hours.get(hour) ?? 0) + 1)
      join(moments, dueAt, schedule.name)
    }
    if (found === most) cut = true
  }
  const crowds = [...moments.values()].filter(({ count }) => count > 1).sort((one, other) => other.count - one.count)
  return {
    hours: [...hours].map(([at, count]) => ({ at, count })).sort((one, other) => one.at - other.at),
    crowds: crowds.slice(0, CROWDS),
    cut: cut || steps.isSpent,
  }
}

function join(moments: Map<number, Crowd>, dueAt: number, name: string): void {
  const crowd = moments.get(dueAt) ?? { dueAt, count: 0, schedules: [] }
  moments.set(dueAt, crowd)
  crowd.count++
  if (crowd.schedules.length < CROWD_NAMES) crowd.schedules.push(name)
}
