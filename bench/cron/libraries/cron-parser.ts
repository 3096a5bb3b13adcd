import { type CronExpression, CronExpressionParser } from 'cron-parser'
import type { Library } from '../library.ts'

export const library: Library<CronExpression> = {
  zones: true,
  parse: (expression, zone) =>
    zone === undefined ? CronExpressionParser.parse(expression) : CronExpressionParser.parse(expression, { tz: zone }),
  next(schedule, from) {
    schedule.reset(new Date(from))
    return schedule.next().getTime()
  },
  prev(schedule, from) {
    schedule.reset(new Date(from))
    return schedule.prev().getTime()
  },
  rewind: (schedule, from) => schedule.reset(new Date(from)),
  step: (schedule) => schedule.next().getTime(),
}
