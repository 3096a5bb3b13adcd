import type { NewSchedule, PolicyOptions, ScheduleView, TriggerOptions } from 'cronce'

/** The options that define a schedule as it is: the other way round of how the library reads them. */
export function definitionOf(schedule: ScheduleView): NewSchedule {
  const { job, input, startAt, endAt, limit, tenant, on } = schedule
  return {
    job,
    ...triggerOf(schedule),
    ...(input === null ? {} : { input }),
    ...(startAt === null ? {} : { start: startAt }),
    ...(endAt === null ? {} : { end: endAt }),
    ...(limit === null ? {} : { limit }),
    ...(tenant === null ? {} : { tenant }),
    ...(on === null ? {} : { on }),
    ...policyOptions(schedule.policy),
  }
}

/** When it is due, with all its details. */
export function triggerOf({ trigger }: Pick<ScheduleView, 'trigger'>): TriggerOptions {
  switch (trigger?.kind) {
    case 'cron': {
      const { kind: _, ...spec } = trigger
      return { cron: spec }
    }
    case 'every':
      return { every: { interval: trigger.everyMs, anchor: trigger.anchor } }
    case 'at':
      return { at: trigger.at }
    default:
      return {}
  }
}

/** A policy as users write it. */
export function policyOptions(policy: ScheduleView['policy']): PolicyOptions {
  const { overlap, misfire, retry, timeout, jitter, pauseAfter, retention, limits } = policy
  const isCounted = overlap.kind === 'allow' || overlap.kind === 'queue-all'
  const hasKeeps = Object.keys(retention.keepMsBy).length > 0
  return {
    guarantee: policy.guarantee,
    overlap: isCounted ? { kind: overlap.kind, limit: overlap.limit } : overlap.kind,
    misfire: { grace: misfire.graceMs, late: misfire.late, limit: misfire.limit, window: misfire.windowMs },
    retry: {
      attempts: retry.attempts,
      backoff: { base: retry.baseMs, factor: retry.factor, cap: retry.capMs, jitter: retry.jitter },
      crashes: retry.crashes,
      ...(retry.deadlineMs === null ? {} : { deadline: retry.deadlineMs }),
    },
    timeout: { ...(timeout.runMs === null ? {} : { run: timeout.runMs }), grace: timeout.graceMs },
    jitter: { within: jitter.ms, kind: jitter.kind },
    ...(pauseAfter === null ? {} : { pauseAfter }),
    retention: { keep: hasKeeps ? retention.keepMsBy : retention.keepMs, count: retention.count },
    ...(limits.job === null ? {} : { concurrency: limits.job }),
    ...(limits.group === null ? {} : { group: limits.group }),
    unknownStep: policy.unknownStep,
  }
}
