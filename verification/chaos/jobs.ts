import type { CronSpec, EverySpec, Spec } from '../../packages/checker/src/history.ts'
import type { ScheduleOptions } from '../../packages/cronce/src/client/schedule-options.ts'
import { triggerOf } from '../trigger-options.ts'

/** A schedule of the load: the rules that it is judged by, and what its handler does. */
export interface ChaosJob {
  readonly name: string
  readonly spec: Spec
  readonly work: Work
}

/**
 * `pay`: a row of the user's table, in one transaction with the settlement. `steps`: two durable ones. `present`: its token to a
 * resource that compares them. `fail`: throw, most first attempts. `wait`: nothing else.
 */
export interface Work {
  readonly does: 'wait' | 'pay' | 'steps' | 'present' | 'fail'
  readonly fromMs: number
  readonly toMs: number
  /** How long later attempts take; `null`: as long as the first. */
  readonly againMs: number | null
  /** The handler ignores its abort signal, which makes recovery harder for the fleet. */
  readonly isDeaf: boolean
  /** Whether a step of unknown end is done again. */
  readonly rerun: boolean
}

export const DAY_MS = 86_400_000

/** Defaults of a schedule, spelled out because the judge shares no default with the product. */
const PLAIN: Omit<Spec, 'job'> = {
  trigger: null,
  start: null,
  end: null,
  limit: null,
  guarantee: 'at-least-once',
  overlap: { kind: 'skip', limit: 1 },
  misfire: { graceMs: 10_000, late: 'latest', limit: 100, windowMs: DAY_MS },
  retry: { attempts: 0, crashes: 1, deadlineMs: null },
  timeout: { runMs: null, graceMs: 300 },
  jitterMs: 0,
  keepMs: 2 * DAY_MS,
  keepCount: 1_000,
  jobLimit: null,
  group: null,
  pauseAfter: null,
}

const late = (policy: Spec['misfire']['late'], graceMs: number): Spec['misfire'] => ({
  ...PLAIN.misfire,
  late: policy,
  graceMs,
})
const every = (everyMs: number): EverySpec => ({ kind: 'every', everyMs, anchor: 0 })
const cron = (expression: string): CronSpec => ({ kind: 'cron', expression, tz: 'UTC', dst: 'auto' })
const retry = (attempts: number, crashes: number): Spec['retry'] => ({ attempts, crashes, deadlineMs: null })
const queueAll = { kind: 'queue-all', limit: 1_000 } as const
const allow = (limit: number): Spec['overlap'] => ({ kind: 'allow', limit })

function job(name: string, spec: Partial<Spec>, work: Partial<Work> = {}): ChaosJob {
  return {
    name,
    spec: { ...PLAIN, job: name, ...spec },
    work: { does: 'wait', fromMs: 0, toMs: 40, againMs: null, isDeaf: false, rerun: false, ...work },
  }
}

/**
 * In every release. A fire whose processes died twice may wait a minute for an idle one, and so may what is queued behind it:
 * longer than calm lasts. So most are given up at their second crash.
 */
const LASTING: readonly ChaosJob[] = [
  job('beat', { trigger: every(200) }, { toMs: 0 }),
  job(
    'pay',
    {
      trigger: every(400),
      guarantee: 'exactly-once',
      overlap: queueAll,
      misfire: late('all', 700),
      retry: retry(0, 1),
    },
    { does: 'pay', fromMs: 20, toMs: 250 },
  ),
  job(
    'pay-deaf',
    { trigger: every(700), guarantee: 'exactly-once', overlap: allow(4), retry: retry(2, 20) },
    { does: 'pay', fromMs: 100, toMs: 800, isDeaf: true },
  ),
  job('mail', { trigger: every(500), guarantee: 'at-most-once', overlap: allow(5) }, { fromMs: 50, toMs: 500 }),
  job(
    'charge',
    { trigger: every(600), overlap: queueAll, retry: retry(2, 1) },
    { does: 'steps', fromMs: 100, toMs: 400 },
  ),
  job('reserve', { trigger: every(900), retry: retry(0, 1) }, { does: 'steps', fromMs: 50, toMs: 300, rerun: true }),
  job('flaky', { trigger: every(700), overlap: allow(3), retry: retry(2, 1) }, { does: 'fail', toMs: 150 }),
  job(
    'slow',
    { trigger: every(1_000), overlap: allow(3), timeout: { runMs: 400, graceMs: 200 }, retry: retry(1, 1) },
    { fromMs: 100, toMs: 800 },
  ),
  job(
    'slow-deaf',
    { trigger: every(1_500), overlap: { kind: 'queue', limit: 1 }, timeout: { runMs: 300, graceMs: 200 } },
    { fromMs: 100, toMs: 700, isDeaf: true },
  ),
  job('newest', { trigger: every(900), overlap: { kind: 'replace', limit: 1 } }, { fromMs: 300, toMs: 800 }),
  job('in-turn', { trigger: every(500), overlap: { kind: 'queue', limit: 1 } }, { fromMs: 50, toMs: 800 }),
  job('one-by-one', { trigger: every(600) }, { fromMs: 100, toMs: 800 }),
  job('never-late', { trigger: every(300), overlap: allow(10), misfire: late('skip', 400) }, { toMs: 100 }),
  job('on-the-second', { trigger: cron('* * * * * *'), misfire: late('latest', 500) }, { toMs: 200 }),
  job(
    'audit',
    { trigger: every(500), overlap: queueAll, retry: retry(0, 1) },
    { does: 'present', fromMs: 20, toMs: 300 },
  ),
  job(
    'group-one',
    { trigger: every(400), overlap: allow(4), group: { name: 'pair', limit: 2 } },
    { fromMs: 50, toMs: 400 },
  ),
  job(
    'group-two',
    { trigger: every(600), overlap: allow(4), group: { name: 'pair', limit: 2 } },
    { fromMs: 50, toMs: 400 },
  ),
  job('spread', { trigger: every(800), jitterMs: 300, jobLimit: 1, overlap: queueAll }, { toMs: 200 }),
  // Rare enough not to delay each other, so their lateness is meaningful.
  job('seldom', { trigger: every(2_500) }, { toMs: 0 }),
  job('seldom-too', { trigger: { ...every(2_500), anchor: 1_200 } }, { toMs: 0 }),
  job('by-hand', {}, { toMs: 300 }),
  job('operated', { trigger: every(400), overlap: queueAll, misfire: late('all', 600) }, { toMs: 200 }),
]

/** Few enough for two processes that do nothing else. */
export const CELL_JOBS: readonly ChaosJob[] = [
  job('beat', { trigger: every(200) }, { toMs: 0 }),
  job(
    'pay',
    { trigger: every(300), guarantee: 'exactly-once', overlap: queueAll, misfire: late('all', 10_000) },
    { does: 'pay', fromMs: 10, toMs: 60 },
  ),
  job('mail', { trigger: every(300), guarantee: 'at-most-once', overlap: allow(20) }, { toMs: 100 }),
  job('charge', { trigger: every(400), overlap: queueAll }, { does: 'steps', fromMs: 20, toMs: 80, rerun: true }),
  job('audit', { trigger: every(400), overlap: queueAll }, { does: 'present', fromMs: 10, toMs: 80 }),
  // Several, so that each of the processes has some.
  job('hold-1', { trigger: every(500), overlap: allow(5) }, { fromMs: 300, toMs: 600 }),
  job('hold-2', { trigger: every(500), overlap: allow(5) }, { fromMs: 300, toMs: 600 }),
  job('hold-3', { trigger: every(500), overlap: allow(5) }, { fromMs: 300, toMs: 600 }),
]

/** The instance that recovers these runs is still executing them when the paused instance resumes. */
export const LINGERING_JOBS: readonly ChaosJob[] = ['linger-1', 'linger-2', 'linger-3'].map((name) =>
  job(name, { trigger: every(400), overlap: queueAll }, { fromMs: 10, toMs: 30, againMs: 10_000 }),
)

/** Every other release has these instead of each other: one changes, one leaves and comes back. */
const CHANGING: readonly (readonly ChaosJob[])[] = [
  [job('changing', { trigger: cron('*/2 * * * * *') }), job('leaving', { trigger: every(500) }, { toMs: 300 })],
  [job('changing', { trigger: cron('1-59/3 * * * * *'), overlap: queueAll })],
]

/** The jobs of the release of this number; they alternate. */
export function releaseJobs(release: number): readonly ChaosJob[] {
  return [...LASTING, ...CHANGING[release % CHANGING.length]!]
}

/**
 * The same load for a store without transactions. Instead of writing into the user's table, jobs whose fires do not
 * overlap present their fencing token to a resource; the others take durable steps.
 */
export function withoutTransactions(jobs: readonly ChaosJob[]): readonly ChaosJob[] {
  return jobs.map((job): ChaosJob => {
    const { spec, work } = job
    if (work.does !== 'pay') return job
    const isOneAtATime = spec.overlap.kind !== 'allow'
    const does = isOneAtATime ? 'present' : 'steps'
    return { ...job, spec: { ...spec, guarantee: 'at-least-once' }, work: { ...work, does, rerun: !isOneAtATime } }
  })
}

/** As users write it. */
export function optionsOf({ spec, work }: ChaosJob): ScheduleOptions {
  const { trigger, overlap, misfire, retry: again, timeout } = spec
  return {
    ...triggerOf(trigger),
    guarantee: spec.guarantee,
    overlap: overlap.kind === 'allow' || overlap.kind === 'queue-all' ? overlap : overlap.kind,
    misfire: { grace: misfire.graceMs, late: misfire.late, limit: misfire.limit, window: misfire.windowMs },
    retry: {
      attempts: again.attempts,
      crashes: again.crashes,
      backoff: { base: 150, cap: 1_000 },
      ...(again.deadlineMs === null ? {} : { deadline: again.deadlineMs }),
    },
    timeout: { grace: timeout.graceMs, ...(timeout.runMs === null ? {} : { run: timeout.runMs }) },
    jitter: spec.jitterMs,
    ...(spec.jobLimit === null ? {} : { concurrency: spec.jobLimit }),
    ...(spec.group === null ? {} : { group: spec.group }),
    unknownStep: work.rerun ? 'rerun' : 'fail',
  }
}
