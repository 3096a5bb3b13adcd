import fc from 'fast-check'
import type { OracleOptions } from '../../../checker/src/oracle/ask-oracle.ts'
import { calendarDate } from '../../../checker/src/oracle/day-rules.ts'
import type { OracleSchedule } from '../../../checker/src/oracle/read-expression.ts'
import {
  findTransitions,
  type OffsetChange,
  offsetOf,
  scanZone,
  type ZoneWindow,
} from '../../../checker/src/oracle/zone-clock.ts'
import { expressions, type HotValues } from './generate-expression.ts'
import { FIXED_ZONES, ZONES } from './zones.ts'

const DAY = 86_400

/** A place on a zone's time line, with everything the oracle needs to know about the days around it. */
export interface Spot {
  readonly tz: string
  /** Epoch second: an offset change, or any instant. */
  readonly at: number
  readonly window: ZoneWindow
  readonly hot: HotValues
  readonly [fc.toStringMethod]: () => string
}

export interface GeneratedCase {
  readonly spot: Spot
  readonly expression: string
  readonly options: OracleOptions
  /** Offsets from the spot in milliseconds, to ask from. */
  readonly probes: readonly number[]
}

/** Makes the same spots for the same seed: a few transitions of every zone, the odd ones before the ordinary ones. */
export function transitionSpots(perZone: number, random: () => number): Spot[] {
  return ZONES.flatMap((tz) => {
    const all = [...findTransitions(tz, 1970, 2046), ...findTransitions(tz, 2196, 2199)]
    const odd = all.filter(isOdd)
    const picked = [...pick(odd, perZone, random), ...pick(all, perZone, random)]
    const unique = [...new Map(picked.map((change) => [change.at, change])).values()]
    return unique.map((change) => spotAt(tz, change.at, change))
  })
}

/** Instants anywhere from 1970 to 2199, in any zone. */
export function ordinarySpots(count: number, random: () => number): Spot[] {
  const zones = [...ZONES, ...FIXED_ZONES, ...FIXED_ZONES]
  const first = Date.UTC(1970, 0, 1) / 1000
  const last = Date.UTC(2200, 0, 1) / 1000
  return Array.from({ length: count }, () => {
    const tz = zones[Math.floor(random() * zones.length)]!
    return spotAt(tz, Math.floor(first + random() * (last - first)))
  })
}

/** How far around the spot the oracle enumerates, in seconds: less for expressions that fire every few seconds. */
export function reachOf(schedule: OracleSchedule): number {
  const perDay = schedule.seconds.length * schedule.minutes.length * schedule.hours.length
  return perDay > 3000 ? 9 * 3600 : 2 * DAY
}

export function cases(spots: readonly Spot[]): fc.Arbitrary<GeneratedCase> {
  return fc.tuple(fc.nat(spots.length - 1), fc.boolean()).chain(([index, mayWrap]) => {
    const spot = spots[index]!
    return fc.record({
      spot: fc.constant(spot),
      expression: expressions(spot.hot, mayWrap),
      options: optionsFor(spot.tz, mayWrap),
      probes: fc.array(
        fc.oneof(
          fc.constantFrom(-3600_000, -1000, -1, 0, 1, 999, 1000, 3600_000),
          fc.integer({ min: -DAY * 1000, max: DAY * 1000 }),
        ),
        { minLength: 4, maxLength: 12 },
      ),
    })
  })
}

function optionsFor(tz: string, wrap: boolean): fc.Arbitrary<OracleOptions> {
  const rarely = <T>(...values: T[]): fc.Arbitrary<T | undefined> =>
    fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.constantFrom(...values) })
  return fc
    .record({
      dst: rarely('auto', 'wall', 'once', 'shift'),
      gap: rarely('auto', 'after', 'skip', 'shift'),
      overlap: rarely('auto', 'first', 'second', 'both'),
      days: rarely('or', 'and', 'vixie'),
    })
    .map((options) => {
      const given = Object.entries(options).filter(([, value]) => value !== undefined)
      return { tz, ...(wrap ? { wrap } : {}), ...Object.fromEntries(given) }
    })
}

/** A repeatable source of numbers in [0, 1): mulberry32. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Not one hour, or not on the hour of either clock: where engines break. */
function isOdd({ at, before, after }: OffsetChange): boolean {
  return Math.abs(after - before) !== 3600 || (at + before) % 3600 !== 0
}

function pick<T>(all: readonly T[], count: number, random: () => number): T[] {
  if (all.length <= count) return [...all]
  return Array.from({ length: count }, () => all[Math.floor(random() * all.length)]!)
}

function spotAt(tz: string, at: number, change?: OffsetChange): Spot {
  const window = scanZone(tz, at - 4 * DAY, at + 4 * DAY)
  const offsets = change ? [change.before, change.after] : [offsetOf(tz, at)]
  // The wall clock on both sides of the change: one second before it, at it, and in the middle of what it skips or repeats.
  const walls = offsets.flatMap((offset) => [at + offset - 1, at + offset, at + offset + 1800])
  const shift = change ? Math.trunc((change.after - change.before) / 2) : 0
  walls.push(at + offsets[0]! + shift, at + offsets[0]! + DAY)
  const dates = walls.map((wall) => calendarDate(Math.floor(wall / DAY)))
  const clock = walls.map((wall) => ((wall % DAY) + DAY) % DAY)
  return {
    tz,
    at,
    window,
    // A counterexample must fit on a screen.
    [fc.toStringMethod]: () => `${tz} at ${new Date(at * 1000).toISOString()}`,
    hot: {
      second: [0, 0, 30, ...clock.map((wall) => wall % 60)],
      minute: [0, 15, 30, 45, ...clock.map((wall) => Math.floor(wall / 60) % 60)],
      hour: clock.map((wall) => Math.floor(wall / 3600)),
      dom: dates.map(({ day }) => day),
      month: dates.map(({ month }) => month),
      dow: dates.map(({ weekday }) => weekday),
      year: dates.map(({ year }) => Math.min(2199, Math.max(1970, year))),
    },
  }
}
