import { closedDays } from './closed-days.ts'
import { type CronSet, MONTHS } from './cron-set.ts'
import { CompiledCron, type CompiledCronInput } from './cron-trigger.ts'
import { excludedTimes } from './excluded-times.ts'
import { MovedDays } from './moved-days.ts'
import type { CalendarData } from './trigger.ts'

/** A cron expression whose days a calendar moves. Its times of day, and what its zone makes of them, are those of any other. */
export function withCalendar(input: CompiledCronInput, calendar: CalendarData): CompiledCron {
  const named = input.set
  const days = new MovedDays(named, closedDays(calendar.days), calendar.excluded ?? 'skip')
  const setOf = (daysIn: (month: number) => number): CronSet => ({
    ...named,
    // A day may move to a month that the month field does not name.
    rules: named.rules | MONTHS,
    rare: { days: [], weekdays: [], years: null, daysIn },
  })
  const times = new CompiledCron({ ...input, set: setOf(days.excludedIn) })
  const excluded = excludedTimes({ times, fires: () => fires, days, calendar })
  const fires: CompiledCron = new CompiledCron({ ...input, set: setOf(days.firesIn), calendar: { named, excluded } })
  return fires
}
