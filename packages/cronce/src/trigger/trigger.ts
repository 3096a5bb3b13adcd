/**
 * What every trigger can answer. A trigger denotes one fixed set of instants, in epoch milliseconds: nothing depends on
 * where a question started, so `prev(next(t))`, iteration and random access agree.
 */
export interface Timeline {
  /** The first instant strictly after `from`, or `null` if there is none. */
  next(from: Date | number): number | null
  /** The last instant strictly before `from`, or `null` if there is none. */
  prev(from: Date | number): number | null
  /** Whether the trigger has exactly this instant. */
  matches(at: Date | number): boolean
  /** Up to `count` instants after `from`, ascending; fewer when the trigger ends. */
  nextN(from: Date | number, count: number): number[]
  /** True when the set is empty: this trigger can never fire. */
  readonly never: boolean
}

/** Options of `cron()`. */
export interface CronOptions {
  /** Zone of the fields: an IANA name, `UTC`, or a fixed offset such as `+05:30`. A `CRON_TZ=` prefix wins. @default 'UTC' */
  readonly tz?: string | undefined
  /** What a zone change does to local times. @default 'auto' */
  readonly dst?: 'auto' | 'wall' | 'once' | 'shift' | undefined
  /** Local times that do not exist: fire when the gap ends, not at all, or as much later as the gap is long. @default 'auto' */
  readonly gap?: 'auto' | 'after' | 'skip' | 'shift' | undefined
  /** Local times that exist twice: which pass fires. @default 'auto' */
  readonly overlap?: 'auto' | 'first' | 'second' | 'both' | undefined
  /** How day of month and day of week combine when both are restricted. @default 'or' */
  readonly days?: 'or' | 'and' | 'vixie' | undefined
  /** Whose grammar the expression is written in. @default 'default' */
  readonly dialect?: 'default' | 'vixie' | 'ocps' | 'quartz' | 'eventbridge' | 'kubernetes' | undefined
  /** Accept ranges that wrap around, such as `22-2` or `FRI-MON`. @default false */
  readonly wrap?: boolean | undefined
  /** What `H` is hashed from, usually the schedule's name. Required when the expression uses `H`. */
  readonly seed?: string | undefined
  /** Days on which it does not fire, and what becomes of their fires. */
  readonly calendar?: CalendarData | undefined
}

/** The days that a calendar closes, as data. It is part of the trigger, so that all instances have the same days. */
export interface CalendarData {
  /** How people know it. */
  readonly name?: string | undefined
  /**
   * Entries with a space between them: weekdays (`SAT`), dates of every year (`12-25`), dates (`2026-04-03`), ranges with both ends
   * (`2026-12-24/2027-01-01`). With a `+` before it, a date or a range is open whatever the others say. At most 1,000.
   */
  readonly days: string
  /** What becomes of the fires of a closed day. @default 'skip' */
  readonly excluded?: ExcludedRule | undefined
  /** The instants are those that do not fire, instead of those that fire. */
  readonly only?: 'excluded' | undefined
}

/** What becomes of the fires of a closed day: dropped and recorded, or moved to an open day. */
export type ExcludedRule = 'skip' | 'next-working-day' | 'previous-working-day' | 'nearest'

/** A trigger as plain JSON data, so that a schedule can be stored. `trigger(data)` makes it live again. */
export type TriggerData = CronData | EveryData | AtData

/** A cron expression, as data. */
export interface CronData extends CronOptions {
  readonly kind: 'cron'
  readonly expression: string
}

/** An interval, as data. */
export interface EveryData {
  readonly kind: 'every'
  readonly everyMs: number
  /** Epoch milliseconds: the series is `anchor + k * everyMs` for every whole k. */
  readonly anchor: number
}

/** An instant, as data. */
export interface AtData {
  readonly kind: 'at'
  readonly at: number
}

/** When a schedule fires: a fixed set of instants. */
export type Trigger = CronTrigger | EveryTrigger | AtTrigger

/** Fires by a cron expression. */
export interface CronTrigger extends Timeline {
  readonly kind: 'cron'
  /** As it was written. */
  readonly expression: string
  /** The zone the fields are read in. */
  readonly tz: string
  /**
   * `fixed`: names times of day; in a gap it fires once when the gap ends, in an overlap once.
   * `interval`: repeats within the day and keeps its cadence through zone changes.
   * `event`: `@reboot`, which has no instants.
   */
  readonly timing: 'fixed' | 'interval' | 'event'
  /** What the timing or the options make of local times that do not exist, and of those that exist twice. */
  readonly gap: 'after' | 'skip' | 'shift'
  readonly overlap: 'first' | 'second' | 'both'
  /** What each field names. */
  readonly fields: CronFields
  /** The same local times in the default dialect and with default `days`: numbers, no macro, no `H`. */
  readonly normalized: string
  /** The instants of closed days that do not fire, on no other day either. `null`: there is no calendar. */
  readonly excluded: ExcludedTimes | null
  toJSON(): CronData
}

/** The instants that a calendar excludes. They are recorded as skipped. */
export interface ExcludedTimes extends Timeline {
  /** The last one on the same day as the first one after `from`. */
  lastOfDay(from: number): number | null
  /** Why it does not fire, for people. */
  why(at: number): string
}

/** The values of each field, ascending. All are empty for `@reboot`. */
export interface CronFields {
  readonly seconds: readonly number[]
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
  readonly days: DayField
  /** 1 is January. */
  readonly months: readonly number[]
  /** 0 is Sunday. */
  readonly weekdays: DayField
  /** `null` if every year will do. */
  readonly years: readonly number[] | null
  /** Where both day fields are restricted: both must match, rather than either. */
  readonly daysAnd: boolean
}

/** How day of month and day of week combine. */
export interface DayField {
  /** `*`, `?` or a star with step 1: leaves the day to the other field. */
  readonly open: boolean
  readonly values: readonly number[]
  readonly specials: readonly SpecialDay[]
}

/** Days that depend on the month's shape. */
export type SpecialDay =
  /** `L`, `L-3`: this number of days before the last. */
  | { readonly kind: 'last'; readonly before: number }
  /** `15W`: the Monday to Friday nearest to a day, inside the month. */
  | { readonly kind: 'nearest'; readonly day: number }
  /** `LW`, `L-3W`. */
  | { readonly kind: 'lastNearest'; readonly before: number }
  /** `5L`: the last such weekday. */
  | { readonly kind: 'lastWeekday'; readonly weekday: number }
  /** `5#3`: the n-th such weekday. */
  | { readonly kind: 'nthWeekday'; readonly weekday: number; readonly nth: number }

/** Fires at an interval. */
export interface EveryTrigger extends Timeline {
  readonly kind: 'every'
  readonly everyMs: number
  readonly anchor: number
  toJSON(): EveryData
}

/** Fires once. */
export interface AtTrigger extends Timeline {
  readonly kind: 'at'
  readonly at: number
  toJSON(): AtData
}
