import type { ScheduleView } from 'cronce'
import { trigger as makeTrigger } from 'cronce/cron'
import { upcomingInstants } from 'cronce/internal'

type Series = Pick<ScheduleView, 'trigger' | 'startAt' | 'endAt'>

/** The instants of a schedule after this one, within its window. There may be no end of them. */
export function* instantsAfter({ trigger, startAt, endAt }: Series, after: number): Generator<number, void> {
  if (trigger === null) return
  const live = makeTrigger(trigger)
  const end = endAt ?? Number.POSITIVE_INFINITY
  let at = live.next(Math.max(after, (startAt ?? Number.NEGATIVE_INFINITY) - 1))
  for (; at !== null && at < end; at = live.next(at)) yield at
}

/** The same without those that an operator skipped: what the schedule is going to fire at, as `nextAt` of it says. */
export function* unskippedAfter(
  schedule: Series & Pick<ScheduleView, 'skipped'>,
  after: number,
): Generator<number, void> {
  for (const at of instantsAfter(schedule, after)) if (!schedule.skipped.includes(at)) yield at
}

/** At most `count` of the instants after `from` at which the schedule will fire, as the HTTP API computes them. */
export function comingOf(schedule: ScheduleView, from: number, count: number, to = Number.POSITIVE_INFINITY): number[] {
  const coming: number[] = []
  if (count === 0) return coming
  for (const at of upcomingInstants(schedule, { from: from + 1, to })) {
    if (at === null) continue
    coming.push(at)
    if (coming.length === count) break
  }
  return coming
}

/** When the schedule fires next: past if no instance has planned it yet, `null` if never or not before an operator resumes it. */
export function nextFireOf(schedule: ScheduleView): number | null {
  return comingOf(schedule, Number.NEGATIVE_INFINITY, 1)[0] ?? null
}

/** Beyond this it is no longer of interest how many. */
export const MOST_COUNTED = 1_000

export interface Counted {
  readonly count: number
  /** There are more, which were not counted. */
  readonly more: boolean
}

/** How many instants the schedule has from one on (included) to another (not included). */
export function countInstants(schedule: Series, from: number, to: number): Counted {
  let count = 0
  for (const at of instantsAfter(schedule, from - 1)) {
    if (at >= to) break
    if (count === MOST_COUNTED) return { count, more: true }
    count++
  }
  return { count, more: false }
}
