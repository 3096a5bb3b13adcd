import type { ScheduleView } from 'cronce'
import { trigger as makeTrigger } from 'cronce/cron'
import { counted } from './say.ts'

/** Beyond this it is no longer of interest how many. */
export const MOST_COUNTED = 1_000

export interface Counted {
  readonly count: number
  /** There are more, which were not counted. */
  readonly more: boolean
}

type Series = Pick<ScheduleView, 'trigger' | 'startAt' | 'endAt'>

/** How many instants the schedule has from one on (included) to another (not included). */
export function countInstants(schedule: Series, from: number, to: number): Counted {
  let count = 0
  for (let at = nextInstant(schedule, from - 1); at !== null && at < to; at = nextInstant(schedule, at)) {
    if (count === MOST_COUNTED) return { count, more: true }
    count++
  }
  return { count, more: false }
}

/** The first one after this, within the schedule's window. */
export function nextInstant({ trigger, startAt, endAt }: Series, after: number): number | null {
  if (trigger === null) return null
  const at = makeTrigger(trigger).next(Math.max(after, (startAt ?? Number.NEGATIVE_INFINITY) - 1))
  return at === null || (endAt !== null && at >= endAt) ? null : at
}

/** `no instant`, `1 instant`, `more than 1,000 instants`. */
export function instantsWords({ count, more }: Counted): string {
  if (more) return `more than ${counted(count, 'instant')}`
  return count === 0 ? 'no instant' : counted(count, 'instant')
}
