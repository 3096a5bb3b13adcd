// What the first schedule of a zone costs in a fresh process, where the engine builds its table of that zone.
import { cron } from 'cronce/cron'

/** What one process reports, in milliseconds. */
export interface ZoneTables {
  /** The very first zone: also loads what the runtime knows about time zones. */
  readonly first: number
  /** All zones after the first. */
  readonly each: readonly number[]
  readonly slowest: string
}

const EVERY = 8
const FROM = Date.UTC(2027, 0, 1)

// Every eighth canonical name: about fifty, from Abidjan to Wallis, with wild histories and without.
const zones = Intl.supportedValuesOf('timeZone').filter((_, i) => i % EVERY === 0)

const times = zones.map((tz) => {
  const start = process.hrtime.bigint()
  cron('0 12 * * *', { tz }).next(FROM)
  return Number(process.hrtime.bigint() - start) / 1e6
})
const [first, ...each] = times
const result: ZoneTables = { first: first!, each, slowest: zones[times.lastIndexOf(Math.max(...each))]! }
process.send!(result)
process.disconnect()
