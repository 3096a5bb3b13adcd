import type { ScheduleOptions } from '../../packages/cronce/src/client/schedule-options.ts'
import { triggerOf } from '../trigger-options.ts'
import type { Plan } from './scenario.ts'

/** A plan as a user of cronce would write it. */
export function optionsOf({ spec, jitterKind, backoffMs, unknownStep, count }: Plan): ScheduleOptions {
  const { overlap, misfire, retry, timeout } = spec
  return {
    ...triggerOf(spec.trigger),
    start: spec.start ?? undefined,
    end: spec.end ?? undefined,
    limit: spec.limit ?? undefined,
    guarantee: spec.guarantee,
    overlap: overlap.kind === 'allow' || overlap.kind === 'queue-all' ? overlap : overlap.kind,
    misfire: { grace: misfire.graceMs, late: misfire.late, limit: misfire.limit, window: misfire.windowMs },
    retry: {
      attempts: retry.attempts,
      crashes: retry.crashes,
      deadline: retry.deadlineMs ?? undefined,
      backoff: { base: backoffMs, cap: 4 * backoffMs },
    },
    timeout: { run: timeout.runMs ?? undefined, grace: timeout.graceMs },
    jitter: { within: spec.jitterMs, kind: jitterKind },
    retention: { keep: spec.keepMs, count },
    pauseAfter: spec.pauseAfter ?? undefined,
    concurrency: spec.jobLimit ?? undefined,
    group: spec.group ?? undefined,
    unknownStep,
  }
}
