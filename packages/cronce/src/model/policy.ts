import type { Outcome } from './outcome.ts'

/** What a schedule does when things are not simple. Plain data; the decisions are in the room `policy`. */
export interface Policy {
  readonly guarantee: Guarantee
  readonly overlap: OverlapPolicy
  readonly misfire: MisfirePolicy
  readonly retry: RetryPolicy
  readonly timeout: TimeoutPolicy
  readonly jitter: JitterPolicy
  /** Pause the schedule after this number of failed fires in a row. */
  readonly pauseAfter: number | null
  readonly retention: RetentionPolicy
  /** Runs at a time in the whole fleet, over all schedules of the job; and over everything in a named group. */
  readonly limits: LimitPolicy
  /** What `once` does with a step that an earlier run began and never ended. */
  readonly unknownStep: 'fail' | 'rerun'
}

export type Guarantee = 'at-least-once' | 'at-most-once' | 'exactly-once'

/** `limit`: for `allow` the fires active at a time, for `queue-all` those that may wait. Of no meaning for the others. */
export interface OverlapPolicy {
  readonly kind: 'skip' | 'queue' | 'queue-all' | 'allow' | 'replace'
  readonly limit: number
}

export interface MisfirePolicy {
  /** So late is still on time. */
  readonly graceMs: number
  /** Which fires beyond the grace run. */
  readonly late: 'skip' | 'latest' | 'all'
  /** The most late fires that run when `late` is `all`: the latest ones. */
  readonly limit: number
  /** Later than this nothing is run late, and no retry is begun. */
  readonly windowMs: number
}

export interface RetryPolicy {
  /** Further runs after failed ones. */
  readonly attempts: number
  readonly baseMs: number
  readonly factor: number
  readonly capMs: number
  /** Part of the delay that is random, 0 to 1. */
  readonly jitter: number
  /** Further runs after runs whose instance died: a budget of its own. */
  readonly crashes: number
  /** Counted from `dueAt`; `null`: the misfire window. */
  readonly deadlineMs: number | null
}

export interface TimeoutPolicy {
  /** `null`: a run may take for ever. */
  readonly runMs: number | null
  /** Between the signal and the revoke of a run that was timed out, cancelled or replaced. */
  readonly graceMs: number
}

export interface JitterPolicy {
  /** `fixed`: the same for every fire of a schedule, from its name. `random`: from name and instant, so all agree on it. */
  readonly kind: 'fixed' | 'random'
  readonly ms: number
}

export interface RetentionPolicy {
  /** How long ended fires are kept. */
  readonly keepMs: number
  /** Per outcome, where it differs. */
  readonly keepMsBy: Readonly<Partial<Record<Outcome, number>>>
  /** The most ended fires kept per schedule. The oldest are pruned once they are older than the misfire window and a day. */
  readonly count: number
}

export interface LimitPolicy {
  readonly job: number | null
  readonly group: { readonly name: string; readonly limit: number } | null
}

const DAY_MS = 86_400_000

export const DEFAULT_POLICY: Policy = {
  guarantee: 'at-least-once',
  overlap: { kind: 'skip', limit: 1 },
  // Ten seconds: long enough for a busy machine, short enough that a minutely job never runs for two minutes at once.
  misfire: { graceMs: 10_000, late: 'latest', limit: 100, windowMs: DAY_MS },
  retry: { attempts: 0, baseMs: 1_000, factor: 2, capMs: 5 * 60_000, jitter: 0.5, crashes: 2, deadlineMs: null },
  timeout: { runMs: null, graceMs: 10_000 },
  jitter: { kind: 'fixed', ms: 0 },
  pauseAfter: null,
  retention: { keepMs: 30 * DAY_MS, keepMsBy: {}, count: 1_000 },
  limits: { job: null, group: null },
  unknownStep: 'fail',
}

/** Only what differs from the default is stored: of a million schedules, most say nothing. */
export type PolicyChoices = { readonly [Name in keyof Policy]?: Policy[Name] }

/** Cached: choices never change, and the policy of a schedule is needed again and again. */
const known = new WeakMap<PolicyChoices, Policy>()

export function policyOf(choices: PolicyChoices): Policy {
  let policy = known.get(choices)
  if (policy === undefined) {
    policy = { ...DEFAULT_POLICY, ...choices }
    known.set(choices, policy)
  }
  return policy
}

/** The record is what prevents a second run, so it outlives every way of planning that run. */
export function keepAtLeastMs(policy: Policy): number {
  return policy.misfire.windowMs + DAY_MS
}
