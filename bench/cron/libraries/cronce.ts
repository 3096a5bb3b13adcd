import { type CronTrigger, cron, type EveryTrigger } from 'cronce/cron'
import { type Library, NO_FIRE } from '../library.ts'

export const library: Library<CronTrigger | EveryTrigger> = {
  zones: true,
  parse: (expression, zone) => (zone === undefined ? cron(expression) : cron(expression, { tz: zone })),
  next: (schedule, from) => schedule.next(from) ?? NO_FIRE,
  prev: (schedule, from) => schedule.prev(from) ?? NO_FIRE,
}
