import { Cron } from 'croner'
import { type Library, NO_FIRE } from '../library.ts'

export const library: Library<Cron> = {
  zones: true,
  parse: (expression, zone) =>
    zone === undefined
      ? new Cron(expression, { paused: true })
      : new Cron(expression, { paused: true, timezone: zone }),
  next: (schedule, from) => schedule.nextRun(new Date(from))?.getTime() ?? NO_FIRE,
  prev: (schedule, from) => schedule.previousRuns(1, new Date(from))[0]?.getTime() ?? NO_FIRE,
}
