import { getFutureMatches } from '@datasert/cronjs-matcher'
import { type CronExprs, parse } from '@datasert/cronjs-parser'
import { type Library, NO_FIRE } from '../library.ts'

/** The parsed form has no room for a zone; it is an option of every question. */
interface Zoned {
  readonly expression: CronExprs
  readonly zone: string
}

export const library: Library<Zoned> = {
  zones: true,
  // Luxon, which it uses, calls the zone of the host `system`.
  parse: (expression, zone) => ({ expression: parse(expression), zone: zone ?? 'system' }),
  next(schedule, from) {
    // `startAt` is inclusive, so the question starts a second later.
    const startAt = new Date(from + 1000).toISOString()
    const [first] = getFutureMatches(schedule.expression, { timezone: schedule.zone, startAt, matchCount: 1 })
    return first === undefined ? NO_FIRE : Date.parse(first)
  },
}
