import type { ScheduleView } from 'cronce'
import { trigger as makeTrigger } from 'cronce/cron'

/** Up to so many of the instants of a schedule after `from`, within its window and its limit, whether or not it is paused. */
export function comingOf(schedule: ScheduleView, from: number, count: number, to = Number.POSITIVE_INFINITY): number[] {
  const { trigger, startAt, endAt, limit, fired, state } = schedule
  if (trigger === null || state === 'retired' || state === 'finished') return []
  const room = limit === null ? count : Math.min(count, Math.max(0, limit - fired))
  const after = startAt === null ? from : Math.max(from, startAt - 1)
  const end = Math.min(endAt ?? Number.POSITIVE_INFINITY, to)
  const live = makeTrigger(trigger)
  const coming: number[] = []
  let at = live.next(after)
  while (at !== null && at < end && coming.length < room) {
    coming.push(at)
    at = live.next(at)
  }
  return coming
}
