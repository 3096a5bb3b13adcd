import type { Json } from '../model/json.ts'
import type { Outcome } from '../model/outcome.ts'
import type { Guarantee, MisfirePolicy, OverlapPolicy } from '../model/policy.ts'
import type { CalendarData, CronOptions } from '../trigger/trigger.ts'
import type { AnyInputs, InputIn } from './inputs.ts'
import type { CalendarDays } from './read-calendar.ts'

type Unit = 'ms' | 's' | 'm' | 'h' | 'd' | 'w'

/** One to three numbers with units, the largest unit first: `'5m'`, `'1h30m'`, `'1d12h30m'`. */
export type DurationText =
  | `${number}${Unit}`
  | `${number}${Unit}${number}${Unit}`
  | `${number}${'w' | 'd' | 'h'}${number}${'d' | 'h' | 'm'}${number}${'h' | 'm' | 's'}`

/**
 * A duration: `'5m'`, `'1h30m'`, `'500ms'`, or milliseconds. For a text that the compiler does not know, such as an environment
 * variable, write `process.env.TIMEOUT as Duration`: it is checked when the job is declared.
 *
 * @example
 * app.job('report', { every: '1h30m', timeout: '5m' }, async (run) => {})
 */
export type Duration = DurationText | number

/** A Date, epoch milliseconds, or an ISO text with Z or an offset. */
export type When = string | number | Date

/** What to do when things are not simple. All of it holds for the fleet, not per process. */
export interface PolicyOptions {
  /** `at-most-once` is not run again after a crash, `exactly-once` needs a store with transactions. @default 'at-least-once' */
  readonly guarantee?: Guarantee | undefined
  /**
   * When a fire is due while an earlier one is active. `limit`: of `allow`, active at a time; of `queue-all`, waiting.
   * @default 'skip'; limit 100 for `allow`, 1,000 for `queue-all`
   */
  readonly overlap?: OverlapPolicy['kind'] | OverlapOptions | undefined
  /** When a fire is noticed late. @default 'latest' */
  readonly misfire?: MisfirePolicy['late'] | MisfireOptions | undefined
  /** Further runs after a failed one: how many, or how. @default 0 */
  readonly retry?: number | RetryOptions | undefined
  /** How long a run may take. @default none */
  readonly timeout?: Duration | TimeoutOptions | undefined
  /** Start up to this much later, so that not all fires start at once. @default 0 */
  readonly jitter?: Duration | JitterOptions | undefined
  /** Pause the schedule after this number of failed fires in a row. @default never */
  readonly pauseAfter?: number | undefined
  /** How long ended fires are kept. At least the misfire window and a day: the record prevents a second run. @default '30d' */
  readonly retention?: Duration | RetentionOptions | undefined
  /** Runs of the job at a time in the whole fleet, over all its schedules. @default no limit */
  readonly concurrency?: number | undefined
  /** A limit shared by everything that names the same group. @default none */
  readonly group?: GroupOptions | undefined
  /** What `run.once` does with a step that an earlier run began and never ended. @default 'fail' */
  readonly unknownStep?: 'fail' | 'rerun' | undefined
}

/** What only a cron expression has. */
export interface CronOnlyOptions {
  /** Zone of the cron expression. @default 'UTC' */
  readonly tz?: string | undefined
  /** What a zone change does to local times. @default 'auto' */
  readonly dst?: CronOptions['dst']
  /** Whose grammar the expression is written in. @default 'default' */
  readonly dialect?: CronOptions['dialect']
  /** How day of month and day of week combine when both are restricted. @default 'or' */
  readonly days?: CronOptions['days']
  /** What `H` is hashed from. @default the schedule's name */
  readonly seed?: string | undefined
  /**
   * The days that it does not fire on: the name of one of the `calendars` of the app, or the days themselves, as in
   * `['SAT', 'SUN', '12-25', '2026-04-03']`. The days become part of the schedule. @default none
   */
  readonly calendar?: string | readonly string[] | CalendarSpec | undefined
  /** What becomes of the fires of a closed day: dropped and recorded, or moved to an open day. @default 'skip' */
  readonly excluded?: CalendarData['excluded']
}

type NoCronOnly = { readonly [Name in keyof CronOnlyOptions]?: undefined }

/** Due by a cron expression. */
export interface CronTriggerOptions extends CronOnlyOptions {
  /** An expression, or one with all options of cron (`gap` and `overlap` stand only here). */
  readonly cron: string | CronSpec
  readonly every?: undefined
  readonly at?: undefined
}

/** Due at a steady interval of elapsed time. */
export interface EveryTriggerOptions extends NoCronOnly {
  /** A steady interval of elapsed time, from 10 ms on. */
  readonly every: Duration | EverySpec
  readonly cron?: undefined
  readonly at?: undefined
}

/** Due once. */
export interface AtTriggerOptions extends NoCronOnly {
  /** Once, at this instant. The schedule goes when it has ended. */
  readonly at: When
  readonly cron?: undefined
  readonly every?: undefined
}

/** Due only when triggered. */
export interface NoTriggerOptions extends NoCronOnly {
  readonly cron?: undefined
  readonly every?: undefined
  readonly at?: undefined
}

/** When it is due: at most one of `cron`, `every` and `at`. None: only when triggered. */
export type TriggerOptions = CronTriggerOptions | EveryTriggerOptions | AtTriggerOptions | NoTriggerOptions

/** Between which instants a schedule is due, how often, and whose it is. */
export interface WindowOptions {
  /** The first instant it may be due. @default none */
  readonly start?: When | undefined
  /** It is not due from this instant on. @default none */
  readonly end?: When | undefined
  /** The schedule is finished after this number of fires. @default no limit */
  readonly limit?: number | undefined
  /** Whose data it is, so that it can be exported and erased. @default none */
  readonly tenant?: string | undefined
}

/** Labels that an instance must have, each with one value or a list of them: `{ role: 'db', zone: ['a', 'b'] }`. */
export type OnLabels = Readonly<Record<string, string | readonly string[]>>

/** Where it runs. */
export interface PlacementOptions {
  /**
   * Only instances with these labels run it; while none is live, its fires wait. A schedule made at run time names one label with one
   * value. @default any instance that has the job
   */
  readonly on?: OnLabels | undefined
}

/** A schedule as users write it. */
export type ScheduleOptions = TriggerOptions &
  PolicyOptions &
  WindowOptions &
  PlacementOptions &
  InputOptions<Json | undefined>

interface InputOptions<Input> {
  /** What the handler is given, as JSON of at most 64 KB. @default null */
  readonly input?: Input | undefined
}

/**
 * A schedule made at run time: it names the job that it is for.
 *
 * @example
 * await app.schedules.put('report:ada', { job: 'report', cron: '0 8 * * MON', input: { to: 'ada' } })
 */
export type NewSchedule<Inputs = AnyInputs, Job extends string = string> = TriggerOptions &
  PolicyOptions &
  WindowOptions &
  PlacementOptions &
  InputOptions<InputIn<Inputs, Job>> & {
    /** The job that it runs. */
    readonly job: Job
  }

/** A cron expression with its own options. */
export interface CronSpec extends Omit<CronOptions, 'calendar'> {
  readonly expression: string
  readonly calendar?: string | readonly string[] | CalendarSpec | undefined
}

/** A calendar with the days in it. */
export interface CalendarSpec {
  /** How people know it. */
  readonly name?: string | undefined
  readonly days: CalendarDays
  readonly excluded?: CalendarData['excluded']
}

/** An interval with its own options. */
export interface EverySpec {
  readonly interval: Duration
  /** An instant of the series. @default the Unix epoch */
  readonly anchor?: When | undefined
}

/** What happens to a fire while an earlier one is active. */
export interface OverlapOptions {
  readonly kind: OverlapPolicy['kind']
  /** 1 to 1,000. */
  readonly limit?: number | undefined
}

/** What happens to late fires. */
export interface MisfireOptions {
  /** Fires up to this late count as on time; at most the window. @default '10s' */
  readonly grace?: Duration | undefined
  /** Which of the later fires run. @default 'latest' */
  readonly late?: MisfirePolicy['late'] | undefined
  /** The most late fires that run when `late` is `all`, 1 to 1,000. @default 100 */
  readonly limit?: number | undefined
  /** How far back to look, up to a year. @default '1d' */
  readonly window?: Duration | undefined
}

/** When a fire is run again. */
export interface RetryOptions {
  /** Further runs after failed ones, 0 to 1,000. @default 0 */
  readonly attempts?: number | undefined
  readonly backoff?: BackoffOptions | undefined
  /** Further runs after runs whose instance died, 0 to 100. @default 2 */
  readonly crashes?: number | undefined
  /** No run begins later than this after the due time, up to a year. @default the misfire window */
  readonly deadline?: Duration | undefined
}

/** Pauses between attempts. */
export interface BackoffOptions {
  /** Before the first retry, up to a day. @default '1s' */
  readonly base?: Duration | undefined
  /** What each delay is multiplied with for the next, 1 to 100. @default 2 */
  readonly factor?: number | undefined
  /** The longest delay, up to a week. @default '5m', or `base` if that is longer */
  readonly cap?: Duration | undefined
  /** Part of the delay that is random, 0 to 1. @default 0.5 */
  readonly jitter?: number | undefined
}

/** How long a run may take. */
export interface TimeoutOptions {
  /** How long a run may take, up to a year. @default none */
  readonly run?: Duration | undefined
  /** Between the signal and the end of a run that was timed out, cancelled or replaced; up to a day. @default '10s' */
  readonly grace?: Duration | undefined
}

/** By how much starts are spread. */
export interface JitterOptions {
  /** Up to a week. */
  readonly within: Duration
  /** `fixed`: the same for every fire of a schedule. `random`: another for each. @default 'fixed' */
  readonly kind?: 'fixed' | 'random' | undefined
}

/** How long records are kept. */
export interface RetentionOptions {
  /** Of all ended fires, or by outcome; up to ten years. @default '30d' */
  readonly keep?: Duration | Readonly<Partial<Record<Outcome, Duration>>> | undefined
  /** The most ended fires to keep; older ones are deleted, 1 to 1,000,000. @default 1000 */
  readonly count?: number | undefined
}

/** A named limit that several jobs share. */
export interface GroupOptions {
  readonly name: string
  /** Runs at a time in the whole fleet, 1 to 100,000. */
  readonly limit: number
}
