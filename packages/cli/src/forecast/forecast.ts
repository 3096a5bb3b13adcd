import type { ScheduleView } from 'cronce'
import { comingOf } from '../schedule-times.ts'
import { offsetAt } from '../zone.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** A schedule with more fires than this in the whole stretch is counted for a day, and taken to go on like that. */
const MOST_FIRES = 20_000
/** Moments at which more than one schedule is due: the fullest of them are kept. */
const MOST_MOMENTS = 500_000

export interface Hour {
  readonly at: number
  /** The same on the wall clock, as if it were UTC. */
  readonly wall: number
  readonly fires: number
}

export interface Moment {
  readonly at: number
  readonly names: readonly string[]
  /** With the expressions that could be changed. */
  readonly schedules: readonly ScheduleView[]
}

export interface Forecast {
  readonly schedules: number
  readonly days: number
  readonly tz: string
  readonly fires: number
  /** Names of those that were only counted in part. */
  readonly estimated: readonly string[]
  readonly hours: readonly Hour[]
  /** Moments with several schedules, the fullest first. */
  readonly busiest: readonly Moment[]
}

export function forecastOf(
  schedules: readonly ScheduleView[],
  { from, days, tz, onSchedule }: { from: number; days: number; tz: string; onSchedule?: () => void },
): Forecast {
  const begin = Math.floor(from / HOUR_MS) * HOUR_MS
  const end = begin + days * DAY_MS
  const counts = new Array<number>(days * 24).fill(0)
  const moments = new Map<number, ScheduleView[]>()
  const estimated: string[] = []
  for (const schedule of schedules) {
    // The load after all pauses have ended.
    const fires = comingOf({ ...schedule, pause: null }, begin - 1, MOST_FIRES + 1, end)
    if (fires.length <= MOST_FIRES) {
      for (const at of fires) {
        counts[Math.floor((at - begin) / HOUR_MS)]!++
        addMoment(moments, at, schedule)
      }
    } else {
      estimated.push(schedule.name)
      addEstimate(counts, fires)
    }
    onSchedule?.()
  }
  const busiest = [...moments]
    .filter(([, together]) => together.length > 1)
    .map(([at, together]) => ({ at, names: together.map(({ name }) => name), schedules: together }))
    .sort((a, b) => b.names.length - a.names.length || a.at - b.at)
  return {
    schedules: schedules.length,
    days,
    tz,
    fires: counts.reduce((sum, count) => sum + count, 0),
    estimated,
    hours: counts.map((fires, index) => {
      const at = begin + index * HOUR_MS
      return { at, wall: at + offsetAt(tz, at), fires }
    }),
    busiest,
  }
}

function addMoment(moments: Map<number, ScheduleView[]>, at: number, schedule: ScheduleView): void {
  const together = moments.get(at)
  if (together !== undefined) together.push(schedule)
  else if (moments.size < MOST_MOMENTS) moments.set(at, [schedule])
}

/** What is due so often is due about as often in every hour. */
function addEstimate(counts: number[], fires: readonly number[]): void {
  const spanMs = fires.at(-1)! - fires[0]!
  const perHour = Math.round(((fires.length - 1) / spanMs) * HOUR_MS)
  for (let index = 0; index < counts.length; index++) counts[index]! += perHour
}
