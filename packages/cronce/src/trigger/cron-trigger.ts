import { DAY_MS } from './calendar.ts'
import type { DayRules } from './cron-days.ts'
import { normalize } from './cron-normalize.ts'
import { type CronSet, nextLocal, prevLocal } from './cron-set.ts'
import { fieldsOf } from './cron-values.ts'
import { collect, toInstant } from './instant.ts'
import type { CronData, CronFields, CronOptions, CronTrigger, ExcludedTimes } from './trigger.ts'
import { type Segment, ZONE_END, ZONE_START, type Zone } from './zone.ts'

export type GapRule = CronTrigger['gap']
export type OverlapRule = CronTrigger['overlap']

/** Flags in `rules`, above those of the set. */
const IS_INTERVAL = 1 << 22
const GAP_AT = 23
const OVERLAP_AT = 25
const GAPS: readonly GapRule[] = ['skip', 'after', 'shift']
const OVERLAPS: readonly OverlapRule[] = ['first', 'second', 'both']

export interface CompiledCronInput {
  readonly expression: string
  readonly zone: Zone
  readonly set: CronSet
  readonly isInterval: boolean
  readonly gap: GapRule
  readonly overlap: OverlapRule
  /** The options other than `tz` that were given, if any. */
  readonly options: CronOptions | null
  /** Where a calendar has moved the days of the set. */
  readonly calendar?: CalendarParts | undefined
}

interface CalendarParts {
  /** What the fields name. */
  readonly named: CronSet
  readonly excluded: ExcludedTimes
}

/**
 * A cron expression in a zone. All fields are small integers or shared, which keeps one under 150 bytes.
 *
 * The idea: local times of the set are found by bits, without a zone. Where the zone is calm (see Segment) the local time
 * found is the answer. Only around a change do the gap and overlap rules have to be looked at, segment by segment.
 */
export class CompiledCron implements CronTrigger, CronSet {
  readonly expression: string
  readonly zone: Zone
  readonly secondsLow: number
  readonly secondsHigh: number
  readonly minutesLow: number
  readonly minutesHigh: number
  readonly hours: number
  readonly days: number
  readonly rules: number
  readonly rare: RareParts | null

  constructor(input: CompiledCronInput) {
    const { set, options } = input
    this.expression = input.expression
    this.zone = input.zone
    this.secondsLow = set.secondsLow
    this.secondsHigh = set.secondsHigh
    this.minutesLow = set.minutesLow
    this.minutesHigh = set.minutesHigh
    this.hours = set.hours
    this.days = set.days
    this.rules =
      set.rules |
      (input.isInterval ? IS_INTERVAL : 0) |
      (GAPS.indexOf(input.gap) << GAP_AT) |
      (OVERLAPS.indexOf(input.overlap) << OVERLAP_AT)
    const isPlain = set.rare === null && options === null
    this.rare = isPlain
      ? null
      : Object.freeze({ ...(set.rare ?? NO_DAY_RULES), options, calendar: input.calendar ?? null })
    // Equal expressions share one trigger: one user of it must not be able to change the fires of another.
    Object.freeze(this)
  }

  next(from: Date | number): number | null {
    let ms = toInstant(from)
    if (ms < ZONE_START) ms = ZONE_START
    else if (ms >= ZONE_END) return null

    const here = this.zone.at(ms)
    if (ms < here.calmFrom || ms >= here.calmTo) return this.#nextByWalking(ms)
    const local = nextLocal(this, ms + here.offset)
    let at = local - here.offset
    if (at < here.calmTo) return at
    if (!(at < ZONE_END)) return null
    // Somewhere else, then. Local time never falls back behind the calm instant we came from, so what was found first
    // comes first; if it comes in the calm, that is the answer.
    const there = this.zone.at(at)
    at = local - there.offset
    return at >= there.calmFrom && at < there.calmTo ? at : this.#nextByWalking(ms)
  }

  prev(from: Date | number): number | null {
    let ms = toInstant(from)
    if (ms < ZONE_START) return null
    if (ms >= ZONE_END) ms = ZONE_END - 1

    const here = this.zone.at(ms)
    if (ms < here.calmFrom || ms >= here.calmTo) return this.#prevByWalking(ms)
    const local = prevLocal(this, ms + here.offset)
    let at = local - here.offset
    if (at >= here.calmFrom) return at
    if (!(at >= ZONE_START)) return null
    const there = this.zone.at(at)
    at = local - there.offset
    return at >= there.calmFrom && at < there.calmTo ? at : this.#prevByWalking(ms)
  }

  matches(at: Date | number): boolean {
    const ms = toInstant(at)
    return ms >= ZONE_START && Number.isInteger(ms) && this.next(ms - 1) === ms
  }

  nextN(from: Date | number, count: number): number[] {
    return collect((after) => this.next(after), from, count)
  }

  get kind(): 'cron' {
    return 'cron'
  }

  get never(): boolean {
    return this.next(ZONE_START) === null
  }

  get timing(): CronTrigger['timing'] {
    if (this.hours === 0) return 'event'
    return (this.rules & IS_INTERVAL) !== 0 ? 'interval' : 'fixed'
  }

  get tz(): string {
    return this.zone.id
  }

  get gap(): GapRule {
    return GAPS[(this.rules >>> GAP_AT) & 3]!
  }

  get overlap(): OverlapRule {
    return OVERLAPS[(this.rules >>> OVERLAP_AT) & 3]!
  }

  get fields(): CronFields {
    return fieldsOf(this.rare?.calendar?.named ?? this)
  }

  get excluded(): ExcludedTimes | null {
    return this.rare?.calendar?.excluded ?? null
  }

  get normalized(): string {
    return this.timing === 'event' ? '@reboot' : normalize(this.fields, this.timing === 'interval')
  }

  toJSON(): CronData {
    const { kind, expression, tz } = this
    return { kind, expression, tz, ...this.rare?.options }
  }

  /** Segment by segment, for the few instants around a change. */
  #nextByWalking(from: number): number | null {
    const ms = Math.floor(from)
    let here = this.zone.at(ms)
    // Each round leaves a segment or a local time of the set behind, and both come to an end in 2199.
    for (;;) {
      const found = this.#firstIn(here, ms)
      if (found !== null) return found
      if (here.end >= ZONE_END) return null
      const ahead = this.zone.at(here.end)
      const local = nextLocal(this, here.end + Math.min(here.offset, ahead.offset) - 1)
      if (Number.isNaN(local)) return null
      // Nothing before this local time, so segments that end well before it need no look.
      const near = local - ahead.offset - 2 * DAY_MS
      here = near < ahead.end ? ahead : this.zone.at(Math.min(near, ZONE_END - 1))
    }
  }

  #prevByWalking(from: number): number | null {
    const ms = Math.ceil(from)
    let here = this.zone.at(Math.max(ms - 1, ZONE_START))
    for (;;) {
      const found = this.#lastIn(here, ms)
      if (found !== null) return found
      if (here.start <= ZONE_START) return null
      const behind = this.zone.at(here.start - 1)
      const local = prevLocal(this, here.start + behind.offset)
      if (Number.isNaN(local)) return null
      const near = local - behind.offset + 2 * DAY_MS
      here = near >= behind.start ? behind : this.zone.at(Math.max(near, ZONE_START))
    }
  }

  /** The first fire of a segment that is after `ms`. */
  #firstIn(here: Segment, ms: number): number | null {
    const { from, to } = this.#naturalRange(here)
    const natural = nextLocal(this, Math.max(ms, from - 1) + here.offset) - here.offset
    const found = Math.min(natural < to ? natural : Number.POSITIVE_INFINITY, this.#firstFromGap(here, ms))
    return found === Number.POSITIVE_INFINITY ? null : found
  }

  /** The last fire of a segment that is before `ms`. */
  #lastIn(here: Segment, ms: number): number | null {
    const { from, to } = this.#naturalRange(here)
    const natural = prevLocal(this, Math.min(ms, to) + here.offset) - here.offset
    const found = Math.max(natural >= from ? natural : Number.NEGATIVE_INFINITY, this.#lastFromGap(here, ms))
    return found === Number.NEGATIVE_INFINITY ? null : found
  }

  /** The part of a segment in which its local times fire: without the pass of an overlap that does not count. */
  #naturalRange(here: Segment): { from: number; to: number } {
    const { overlap } = this
    const skipsHead = overlap === 'first' && repeatsTimes(here.shift)
    const skipsTail = overlap === 'second' && repeatsTimes(here.nextShift)
    return { from: skipsHead ? here.calmFrom : here.start, to: skipsTail ? here.calmTo : here.end }
  }

  /** The first instant after `ms` owed to local times that the gap at the segment's start skipped. */
  #firstFromGap(here: Segment, ms: number): number {
    if (this.gap === 'skip' || !skipsTimes(here.shift)) return Number.POSITIVE_INFINITY
    const { from, to, before } = gapAt(here)
    const isShift = this.gap === 'shift'
    const local = nextLocal(this, isShift ? Math.max(from - 1, ms + before) : from - 1)
    if (!(local < to)) return Number.POSITIVE_INFINITY
    const at = isShift ? local - before : here.start
    return at > ms ? at : Number.POSITIVE_INFINITY
  }

  #lastFromGap(here: Segment, ms: number): number {
    if (this.gap === 'skip' || !skipsTimes(here.shift)) return Number.NEGATIVE_INFINITY
    const { from, to, before } = gapAt(here)
    const isShift = this.gap === 'shift'
    const local = prevLocal(this, isShift ? Math.min(to, ms + before) : to)
    if (!(local >= from)) return Number.NEGATIVE_INFINITY
    const at = isShift ? local - before : here.start
    return at < ms ? at : Number.NEGATIVE_INFINITY
  }
}

/** The local times [from, to) that the change at a segment's start skipped, and the offset that was in force before. */
function gapAt(here: Segment): { from: number; to: number; before: number } {
  const before = here.offset - here.shift
  return { from: here.start + before, to: here.start + here.offset, before }
}

interface RareParts extends DayRules {
  readonly options: CronOptions | null
  readonly calendar: CalendarParts | null
}

const NO_DAY_RULES: DayRules = { days: [], weekdays: [], years: null, daysIn: null }

/** A day or more is a move of the date line: the date does not exist, or exists twice, and nothing is made up. */
export function skipsTimes(shift: number): boolean {
  return shift > 0 && shift < DAY_MS
}

export function repeatsTimes(shift: number): boolean {
  return shift < 0 && shift > -DAY_MS
}
