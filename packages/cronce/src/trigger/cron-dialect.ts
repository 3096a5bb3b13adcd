import type { CronOptions } from './trigger.ts'

export type DialectName = NonNullable<CronOptions['dialect']>

/** What a grammar accepts, and what it means by it. How zone changes are treated is never the dialect's affair. */
export interface Dialect {
  readonly name: DialectName
  /** Index of the first field (0 second, 1 minute) for each count of fields that is accepted. */
  readonly layouts: Readonly<Record<number, 0 | 1>>
  /** `a/n` means `a-max/n`. */
  readonly stepFromValue: boolean
  /** `L`, `W`, `#`. */
  readonly specials: boolean
  /** `L`, `W` and macros only as they are spelled. */
  readonly caseSensitive: boolean
  /** `?`: an alias of `*`, demanded in exactly one day field, or unknown. */
  readonly question: 'alias' | 'required' | 'refused'
  /** A leading `+` on the weekday. */
  readonly plus: boolean
  /** `H`. */
  readonly hash: boolean
  /** `@daily` and the like; `all` has `@every`, too. */
  readonly macros: 'all' | 'plain' | 'none'
  /** `CRON_TZ=…` in front. */
  readonly zonePrefix: boolean
  /** The number that means Sunday, and the highest number that is a weekday. */
  readonly sunday: 0 | 1
  readonly weekdayMax: 6 | 7
  readonly wrap: boolean
  readonly days: 'or' | 'vixie'
}

const standard: Dialect = {
  name: 'default',
  layouts: { 5: 1, 6: 0, 7: 0 },
  stepFromValue: true,
  specials: true,
  caseSensitive: false,
  question: 'alias',
  plus: true,
  hash: true,
  macros: 'all',
  zonePrefix: true,
  sunday: 0,
  weekdayMax: 7,
  wrap: false,
  days: 'or',
}

const quartz: Dialect = {
  ...standard,
  name: 'quartz',
  layouts: { 6: 0, 7: 0 },
  question: 'required',
  plus: false,
  hash: false,
  macros: 'none',
  zonePrefix: false,
  sunday: 1,
  wrap: true,
}

export const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  default: standard,
  vixie: {
    ...standard,
    name: 'vixie',
    layouts: { 5: 1 },
    stepFromValue: false,
    specials: false,
    question: 'refused',
    plus: false,
    hash: false,
    macros: 'plain',
    days: 'vixie',
  },
  ocps: { ...standard, name: 'ocps', stepFromValue: false, caseSensitive: true, hash: false, macros: 'plain' },
  quartz,
  eventbridge: { ...quartz, name: 'eventbridge', layouts: { 6: 1 } },
  kubernetes: {
    ...standard,
    name: 'kubernetes',
    layouts: { 5: 1 },
    specials: false,
    plus: false,
    hash: false,
    zonePrefix: false,
    weekdayMax: 6,
  },
}
