import type { Duration } from '../client/schedule-options.ts'

/** Rules that judge schedules: in the option `watch` of an app, and of a job. `false` switches a rule off. */
export interface JobWatchOptions {
  /** How long after it could have started a fire is overdue. @default '1m' */
  readonly overdue?: Duration | false | undefined
  /** @default { grace: '15m' } */
  readonly silent?:
    | false
    | {
        /** How long after the expected success, up to 30 days. @default '15m' */
        readonly grace?: Duration | undefined
        /** The longest time without a success, whatever the schedule says, up to a year. @default none */
        readonly maxAge?: Duration | undefined
      }
    | undefined
  /** How many failed fires in a row. @default 3 */
  readonly failing?: number | false | undefined
  /** How long a run without a timeout may take at least, however short it usually is. @default '1h' */
  readonly stuck?: Duration | false | undefined
  /** By how much longer than usual a run must take at least. @default '1m' */
  readonly slow?: Duration | false | undefined
  /** By how much later than usual a run must start at least. @default '1m' */
  readonly late?: Duration | false | undefined
  /** @default { outage: '15m', skips: 3 }; a duration is that of `outage` */
  readonly missed?:
    | Duration
    | false
    | {
        /** How long an outage must be for its missed due times to be reported. @default '15m' */
        readonly outage?: Duration | undefined
        /** How many due times in a row must be skipped because an earlier fire is active, up to 50. @default 3 */
        readonly skips?: number | undefined
      }
    | undefined
  /** For how long no live instance has the job. @default '5m' */
  readonly 'no-runner'?: Duration | false | undefined
}

/** The option `watch` of an app. `false` switches a rule off. */
export interface WatchOptions extends JobWatchOptions {
  /** @default { deaths: 3, rollout: '15m' } */
  readonly fleet?:
    | false
    | {
        /** Fewer live instances of the app than this are reported. @default 0 */
        readonly minInstances?: number | undefined
        /** How many instances must die on one host within an hour. @default 3 */
        readonly deaths?: number | undefined
        /** How long two deployments may be live at the same time. @default '15m' */
        readonly rollout?: Duration | undefined
      }
    | undefined
  /** How far the clock of a machine may be from the store's. @default 100 */
  readonly clock?: Duration | false | undefined
  /** How long a call to the store may take, by the median. @default '1s' */
  readonly store?: Duration | false | undefined
  readonly duplicate?: false | undefined
}
