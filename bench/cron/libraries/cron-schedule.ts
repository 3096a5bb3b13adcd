import { type Cron, parseCronExpression } from 'cron-schedule'
import type { Library } from '../library.ts'

export const library: Library<Cron> = {
  zones: false,
  parse: (expression) => parseCronExpression(expression),
  next: (schedule, from) => schedule.getNextDate(new Date(from)).getTime(),
  prev: (schedule, from) => schedule.getPrevDate(new Date(from)).getTime(),
}
