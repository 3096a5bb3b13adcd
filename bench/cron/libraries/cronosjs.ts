import { CronosExpression } from 'cronosjs'
import { type Library, NO_FIRE } from '../library.ts'

export const library: Library<CronosExpression> = {
  zones: true,
  parse: (expression, zone) =>
    zone === undefined ? CronosExpression.parse(expression) : CronosExpression.parse(expression, { timezone: zone }),
  next: (schedule, from) => schedule.nextDate(new Date(from))?.getTime() ?? NO_FIRE,
}
