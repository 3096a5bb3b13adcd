import type { Rule, Severity } from '../../model/alert.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** The default thresholds of all rules. */
export const THRESHOLDS = {
  /** Twice what a busy fleet needs, and what `cronce doctor` has always called overdue. */
  overdue: { afterMs: MINUTE_MS },
  silent: { graceMs: 15 * MINUTE_MS, maxAgeMs: null as number | null },
  failing: { count: 3 },
  stuck: { factor: 3, atLeastMs: HOUR_MS },
  slow: { factor: 3, atLeastMs: MINUTE_MS },
  late: { factor: 3, atLeastMs: MINUTE_MS },
  missed: { afterMs: 15 * MINUTE_MS, skips: 3 },
  'no-runner': { afterMs: 5 * MINUTE_MS },
  fleet: { minInstances: 0, deaths: 3, rolloutMs: 15 * MINUTE_MS, afterMs: 2 * MINUTE_MS },
  duplicate: {},
  clock: { offsetMs: 100, afterMs: 2 * MINUTE_MS },
  store: { latencyMs: 1_000, awayMs: MINUTE_MS, pruneMs: HOUR_MS },
} as const satisfies Record<Rule, Readonly<Record<string, number | null>>>

type Table = typeof THRESHOLDS
type Plain<Values> = { readonly [Name in keyof Values]: Values[Name] extends number ? number : Values[Name] }

/** The thresholds of an app or a job; `false`: the rule is off. */
export type Thresholds = { readonly [Name in Rule]: Plain<Table[Name]> | false }
export type ThresholdOf<Name extends Rule> = Plain<Table[Name]>

export const SEVERITIES: Readonly<Record<Rule, Severity>> = {
  overdue: 'critical',
  silent: 'critical',
  failing: 'critical',
  stuck: 'warning',
  slow: 'warning',
  late: 'warning',
  missed: 'warning',
  'no-runner': 'critical',
  fleet: 'warning',
  duplicate: 'critical',
  clock: 'warning',
  store: 'critical',
}
