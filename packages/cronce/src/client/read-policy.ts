import { LIMITS } from '../model/limits.ts'
import { OUTCOMES, type Outcome } from '../model/outcome.ts'
import {
  DEFAULT_POLICY,
  type Guarantee,
  type JitterPolicy,
  keepAtLeastMs,
  type LimitPolicy,
  type MisfirePolicy,
  type OverlapPolicy,
  type Policy,
  type PolicyChoices,
  type RetentionPolicy,
  type RetryPolicy,
  type TimeoutPolicy,
} from '../model/policy.ts'
import { asCode } from './as-code.ts'
import { readName } from './read-name.ts'
import {
  DAY_MS,
  isRecord,
  optionConflict,
  optionInvalid,
  readChoice,
  readDuration,
  readFields,
  readInteger,
  readNumber,
  show,
  YEAR_MS,
} from './read-option.ts'
import type { PolicyOptions } from './schedule-options.ts'
import { spellDuration } from './spell-duration.ts'

export const POLICY_NAMES = [
  'guarantee',
  'overlap',
  'misfire',
  'retry',
  'timeout',
  'jitter',
  'pauseAfter',
  'retention',
  'concurrency',
  'group',
  'unknownStep',
] as const satisfies readonly (keyof PolicyOptions)[]

type Fields = Readonly<Partial<Record<keyof PolicyOptions, unknown>>>

const GUARANTEES: readonly Guarantee[] = ['at-least-once', 'at-most-once', 'exactly-once']
const OVERLAPS: readonly OverlapPolicy['kind'][] = ['skip', 'queue', 'queue-all', 'allow', 'replace']
const LATE: readonly MisfirePolicy['late'][] = ['skip', 'latest', 'all']

/** Nothing waits for ever and nothing is kept for ever; what is beyond is a mistake. */
const UP_TO_A_YEAR = { min: 1, max: YEAR_MS }
const MANY = { min: 1, max: 100_000 }

/** Policies from the fields of options. Only what differs from the default is part of the answer. */
export function readPolicy(fields: Fields): { readonly policy: PolicyChoices; readonly warnings: readonly string[] } {
  const { guarantee, pauseAfter, unknownStep } = fields
  const misfire = readMisfire(fields.misfire)
  const { retention, warnings } = readRetention(fields.retention, misfire)
  const policy: Policy = {
    guarantee: guarantee === undefined ? DEFAULT_POLICY.guarantee : readChoice('guarantee', guarantee, GUARANTEES),
    overlap: readOverlap(fields.overlap),
    misfire,
    retry: readRetry(fields.retry),
    timeout: readTimeout(fields.timeout),
    jitter: readJitter(fields.jitter),
    pauseAfter: pauseAfter === undefined ? null : readInteger('pauseAfter', pauseAfter, { min: 1, max: 1_000_000 }),
    retention,
    limits: readLimits(fields),
    unknownStep: unknownStep === undefined ? 'fail' : readChoice('unknownStep', unknownStep, ['fail', 'rerun']),
  }
  demandSingleStart(policy)
  return { policy: sparse(policy), warnings }
}

function readOverlap(value: unknown): OverlapPolicy {
  if (value === undefined) return DEFAULT_POLICY.overlap
  const { kind: given, limit } = isRecord(value)
    ? readFields('overlap', value, ['kind', 'limit'], "{ kind: 'allow', limit: 10 }")
    : { kind: value, limit: undefined }
  const kind = readChoice(isRecord(value) ? 'overlap.kind' : 'overlap', given, OVERLAPS)
  if (kind === 'allow' || kind === 'queue-all') {
    if (limit === undefined) return { kind, limit: kind === 'allow' ? 100 : LIMITS.openFires }
    return { kind, limit: readInteger('overlap.limit', limit, { min: 1, max: LIMITS.openFires }) }
  }
  if (limit === undefined) return { kind, limit: 1 }
  throw optionConflict(
    `The option overlap.limit has no effect when overlap.kind is ${kind}.`,
    'Use it with allow or queue-all.',
  )
}

function readMisfire(value: unknown): MisfirePolicy {
  const defaults = DEFAULT_POLICY.misfire
  if (value === undefined) return defaults
  if (!isRecord(value)) return { ...defaults, late: readChoice('misfire', value, LATE) }
  const { grace, late, limit, window } = readFields(
    'misfire',
    value,
    ['grace', 'late', 'limit', 'window'],
    "{ late: 'latest', window: '1d' }",
  )
  const policy: MisfirePolicy = {
    graceMs:
      grace === undefined
        ? defaults.graceMs
        : readDuration('misfire.grace', grace, { min: 0, max: YEAR_MS, usual: defaults.graceMs }),
    late: late === undefined ? defaults.late : readChoice('misfire.late', late, LATE),
    limit:
      limit === undefined ? defaults.limit : readInteger('misfire.limit', limit, { min: 1, max: LIMITS.openFires }),
    windowMs:
      window === undefined
        ? defaults.windowMs
        : readDuration('misfire.window', window, { ...UP_TO_A_YEAR, usual: defaults.windowMs }),
  }
  if (policy.graceMs <= policy.windowMs) return policy
  throw optionConflict(
    'The option misfire.grace is longer than misfire.window: a fire on time would be too late.',
    'Make misfire.window at least as long as misfire.grace.',
  )
}

function readRetry(value: unknown): RetryPolicy {
  const defaults = DEFAULT_POLICY.retry
  if (value === undefined) return defaults
  const attemptsBounds = { min: 0, max: 1_000 }
  if (!isRecord(value)) return { ...defaults, attempts: readInteger('retry', value, attemptsBounds) }
  const { attempts, backoff, crashes, deadline } = readFields(
    'retry',
    value,
    ['attempts', 'backoff', 'crashes', 'deadline'],
    '{ attempts: 3 }',
  )
  return {
    attempts: attempts === undefined ? defaults.attempts : readInteger('retry.attempts', attempts, attemptsBounds),
    ...readBackoff(backoff),
    crashes: crashes === undefined ? defaults.crashes : readInteger('retry.crashes', crashes, { min: 0, max: 100 }),
    deadlineMs: deadline === undefined ? null : readDuration('retry.deadline', deadline, UP_TO_A_YEAR),
  }
}

function readBackoff(value: unknown): Pick<RetryPolicy, 'baseMs' | 'factor' | 'capMs' | 'jitter'> {
  const { baseMs: defaultBase, factor: defaultFactor, capMs: defaultCap, jitter: defaultJitter } = DEFAULT_POLICY.retry
  const { base, factor, cap, jitter } = readFields(
    'retry.backoff',
    value ?? {},
    ['base', 'factor', 'cap', 'jitter'],
    "{ base: '1s', cap: '5m' }",
  )
  const baseMs =
    base === undefined
      ? defaultBase
      : readDuration('retry.backoff.base', base, { min: 1, max: DAY_MS, usual: defaultBase })
  const week = { min: 1, max: 7 * DAY_MS }
  const capMs =
    cap === undefined
      ? Math.max(defaultCap, baseMs)
      : readDuration('retry.backoff.cap', cap, { ...week, usual: Math.max(defaultCap, baseMs) })
  if (capMs < baseMs) {
    throw optionConflict(
      'The option retry.backoff.cap is shorter than retry.backoff.base.',
      'Make the cap at least as long as the first delay.',
    )
  }
  return {
    baseMs,
    factor: factor === undefined ? defaultFactor : readNumber('retry.backoff.factor', factor, { min: 1, max: 100 }),
    capMs,
    jitter: jitter === undefined ? defaultJitter : readNumber('retry.backoff.jitter', jitter, { min: 0, max: 1 }),
  }
}

function readTimeout(value: unknown): TimeoutPolicy {
  const defaults = DEFAULT_POLICY.timeout
  if (value === undefined) return defaults
  if (!isRecord(value)) return { ...defaults, runMs: readDuration('timeout', value, UP_TO_A_YEAR) }
  const { run, grace } = readFields('timeout', value, ['run', 'grace'], "{ run: '1h', grace: '10s' }")
  return {
    runMs: run === undefined ? null : readDuration('timeout.run', run, UP_TO_A_YEAR),
    graceMs:
      grace === undefined
        ? defaults.graceMs
        : readDuration('timeout.grace', grace, { min: 0, max: DAY_MS, usual: defaults.graceMs }),
  }
}

function readJitter(value: unknown): JitterPolicy {
  const defaults = DEFAULT_POLICY.jitter
  if (value === undefined) return defaults
  const week = { min: 0, max: 7 * DAY_MS }
  if (!isRecord(value)) return { ...defaults, ms: readDuration('jitter', value, week) }
  const { within, kind } = readFields('jitter', value, ['within', 'kind'], "{ within: '5m', kind: 'random' }")
  return {
    kind: kind === undefined ? defaults.kind : readChoice('jitter.kind', kind, ['fixed', 'random']),
    ms: readDuration('jitter.within', within, week),
  }
}

function readRetention(
  value: unknown,
  misfire: MisfirePolicy,
): { readonly retention: RetentionPolicy; readonly warnings: readonly string[] } {
  const defaults = DEFAULT_POLICY.retention
  if (value === undefined) return { retention: defaults, warnings: [] }
  const isObject = isRecord(value)
  const sample = "{ keep: '30d', count: 1000 }"
  const { keep, count } = isObject
    ? readFields('retention', value, ['keep', 'count'], sample)
    : { keep: value, count: undefined }
  const least = keepAtLeastMs({ ...DEFAULT_POLICY, misfire })
  const warnings: string[] = []
  const readKept = (path: string, kept: unknown): number => {
    const ms = readDuration(path, kept, { min: 1, max: 10 * YEAR_MS, usual: Math.max(least, defaults.keepMs) })
    if (ms >= least) return ms
    warnings.push(
      `${path} was raised to the misfire window and a day, since the record prevents a second run. ` +
        `Write ${path}: '${spellDuration(least)}' or more instead of ${show(kept)}. (RETENTION_RAISED)`,
    )
    return least
  }
  const keepMsBy: Partial<Record<Outcome, number>> = {}
  if (isRecord(keep)) {
    const kept = readFields('retention.keep', keep, OUTCOMES, "{ succeeded: '7d', failed: '90d' }")
    for (const outcome of OUTCOMES) {
      if (kept[outcome] !== undefined) keepMsBy[outcome] = readKept(`retention.keep.${outcome}`, kept[outcome])
    }
  }
  const isOneForAll = keep !== undefined && !isRecord(keep)
  const retention: RetentionPolicy = {
    keepMs: isOneForAll ? readKept(isObject ? 'retention.keep' : 'retention', keep) : defaults.keepMs,
    keepMsBy,
    count: count === undefined ? defaults.count : readInteger('retention.count', count, { min: 1, max: 1_000_000 }),
  }
  return { retention, warnings }
}

function readLimits({ concurrency, group }: Fields): LimitPolicy {
  const job = concurrency === undefined ? null : readInteger('concurrency', concurrency, MANY)
  if (group === undefined) return { job, group: null }
  const written = isRecord(group) ? (group as { readonly name?: unknown }).name : group
  const sample = `{ name: ${typeof written === 'string' ? asCode(written) : "'reports'"}, limit: 4 }`
  const { name, limit } = readFields('group', group, ['name', 'limit'], sample)
  if (limit === undefined) {
    throw optionInvalid('group.limit', limit, 'a whole number from 1 to 100,000', `Write group: ${sample}.`)
  }
  return { job, group: { name: readName('group', name), limit: readInteger('group.limit', limit, MANY) } }
}

/** A job that must not start twice has no use for further runs. */
function demandSingleStart({ guarantee, retry }: Policy): void {
  if (guarantee !== 'at-most-once' || retry.attempts === 0) return
  throw optionConflict(
    "The option retry contradicts guarantee: 'at-most-once', which never starts a fire twice.",
    "Leave out retry, or use guarantee: 'at-least-once' with an idempotent handler.",
  )
}

function sparse(policy: Policy): PolicyChoices {
  // All of it is plain data written by the readers above, whose keys come in the order of the defaults.
  const differs = (name: keyof Policy): boolean => JSON.stringify(policy[name]) !== JSON.stringify(DEFAULT_POLICY[name])
  const names = (Object.keys(DEFAULT_POLICY) as (keyof Policy)[]).filter(differs)
  return Object.fromEntries(names.map((name) => [name, policy[name]])) as PolicyChoices
}
