import type { ScheduleView } from '../../client/views.ts'
import { HEARTBEAT_PREFIX } from '../../model/exclusive-jobs.ts'
import type { FireEnd } from '../../model/record.ts'
import { trigger } from '../../trigger/from-data.ts'
import type { ScheduleFacts, Verdict } from './facts.ts'
import { durationsOf, quantile, roughly } from './figures.ts'
import type { ThresholdOf } from './thresholds.ts'

/** No success for longer than the schedule's own instants explain, or than `maxAge` allows. */
export function silent(facts: ScheduleFacts, threshold: ThresholdOf<'silent'>): Verdict {
  const { now, schedule, history } = facts
  const { graceMs, maxAgeMs } = threshold
  if (schedule.state !== 'active') return 'fine'
  if (schedule.job.startsWith(HEARTBEAT_PREFIX)) return withoutHeartbeat(facts)
  const succeededAt = schedule.last.succeededAt ?? schedule.createdAt
  if (maxAgeMs !== null && now - succeededAt > maxAgeMs) {
    return { text: `no success for ${roughly(now - succeededAt)}, allowed are ${roughly(maxAgeMs)}` }
  }
  // What runs or is to be retried may still succeed; `stuck` and `overdue` judge how long.
  if (schedule.open.some(({ state, attempt }) => state !== 'waiting' || attempt > 0)) return 'fine'
  const expectedAt = expectedSuccess(schedule, history ?? [])
  if (expectedAt === null || now - expectedAt <= graceMs) return 'fine'
  if (history === null) return 'suspect'
  return { text: `a success was expected ${roughly(now - expectedAt)} ago` }
}

/** No heartbeat for two periods, even if one is being written: that takes moments. */
function withoutHeartbeat({ now, schedule, history }: ScheduleFacts): Verdict {
  const everyMs = schedule.trigger?.kind === 'every' ? schedule.trigger.everyMs : 0
  const expectedAt = expectedSuccess(schedule, history ?? [])
  if (expectedAt === null || now - expectedAt <= everyMs) return 'fine'
  if (history === null) return 'suspect'
  return { text: `no heartbeat for ${roughly(now - expectedAt + everyMs)}, one is due every ${roughly(everyMs)}` }
}

/** When the fire after the last success should have succeeded, by its instant and the usual duration; `null`: none is to come. */
function expectedSuccess(schedule: ScheduleView, history: readonly FireEnd[]): number | null {
  const { endAt, limit, fired, nextAt, policy } = schedule
  const at = firstInstant(schedule, explainedTo(schedule, history))
  if (at === null || (endAt !== null && at >= endAt) || (limit !== null && fired >= limit && nextAt === null))
    return null
  return at + policy.jitter.ms + quantile(durationsOf(history), 0.9)
}

function firstInstant({ trigger: rule, startAt }: ScheduleView, after: number): number | null {
  if (rule === null) return null
  return trigger(rule).next(startAt === null ? after : Math.max(after, startAt - 1))
}

/** Up to when there is nothing to explain: the last success, and what an operator or a deployment kept from running. */
function explainedTo(
  { last, updatedAt, createdAt, skipped, retirements }: ScheduleView,
  history: readonly FireEnd[],
): number {
  const onPurpose = history.filter(({ reason }) => ON_PURPOSE.has(reason)).map(({ untilAt }) => untilAt)
  const returned = retirements.map(({ to }) => to ?? 0)
  return Math.max(last.succeededDueAt ?? 0, createdAt, updatedAt, ...skipped, ...onPurpose, ...returned)
}

const ON_PURPOSE: ReadonlySet<FireEnd['reason']> = new Set([
  'paused',
  'skipped-by-operator',
  'while-retired',
  'cancelled-by-operator',
])
