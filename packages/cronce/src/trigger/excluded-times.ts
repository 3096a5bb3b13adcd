import { DAY_MS } from './calendar.ts'
import type { CompiledCron } from './cron-trigger.ts'
import { collect, toInstant } from './instant.ts'
import { MAX_SHIFT, type MovedDays } from './moved-days.ts'
import type { CalendarData, ExcludedTimes } from './trigger.ts'

interface Parts {
  /** The times of the excluded days. */
  readonly times: CompiledCron
  /** The times that fire: where a gap makes one of the others up at the same instant, the fire counts. */
  readonly fires: () => CompiledCron
  readonly days: MovedDays
  readonly calendar: CalendarData
}

export function excludedTimes({ times, fires, days, calendar }: Parts): ExcludedTimes {
  const next = (from: Date | number): number | null => {
    let at = times.next(from)
    while (at !== null && fires().matches(at)) at = times.next(at)
    return at
  }
  const prev = (from: Date | number): number | null => {
    let at = times.prev(from)
    while (at !== null && fires().matches(at)) at = times.prev(at)
    return at
  }
  const dayOf = (at: number): number => Math.floor((at + times.zone.at(at).offset) / DAY_MS)
  return Object.freeze({
    next,
    prev,
    matches: (at: Date | number) => times.matches(at) && !fires().matches(at),
    nextN: (from: Date | number, count: number) => collect(next, from, count),
    get never() {
      return next(0) === null
    },
    lastOfDay(from: number): number | null {
      const first = next(from)
      if (first === null) return null
      // On the day of a zone change this is off by the change, and the rest of the day is asked for later.
      const midnight = (dayOf(first) + 1) * DAY_MS - times.zone.at(first).offset
      return Math.max(first, prev(midnight) ?? first)
    },
    why: (at: number) => why(days, dayOf(toInstant(at)), calendar),
  })
}

function why(days: MovedDays, day: number, { name, excluded }: CalendarData): string {
  // What a gap at midnight skips fires on the following date.
  const closed = days.isExcluded(day) ? day : day - 1
  const closes = `${name === undefined ? 'its calendar' : `the calendar ${name}`} closes ${dateOf(closed)}`
  if (excluded === undefined || excluded === 'skip') return closes
  const target = days.targetOf(closed)
  if (target < 0) return `${closes}, and no day within ${MAX_SHIFT} days of it is open`
  return `${closes}, and the fire of ${dateOf(target)} stands for it`
}

function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10)
}
