import { needsInstance } from '../../client/exec-app.ts'
import type { ScheduleView } from '../../client/views.ts'
import type { FleetInstance, ScheduleFacts, Verdict } from './facts.ts'
import { roughly } from './figures.ts'
import type { ThresholdOf } from './thresholds.ts'

/** A due fire has not started, although nothing in its policy holds it back. */
export function overdue({ now, schedule, instances }: ScheduleFacts, { afterMs }: ThresholdOf<'overdue'>): Verdict {
  if (schedule.state !== 'active' || !needsInstance(schedule)) return 'fine'
  const since = dueSince(schedule)
  // Without an instance that has the job, `no-runner` says so.
  if (since === null || now - since <= afterMs || !hasRunner(schedule, instances)) return 'fine'
  return { text: `due for ${roughly(now - since)} and not started` }
}

/** Since when something of it could have started; `null`: nothing, or its policy holds it back. */
export function dueSince({ nextAt, policy, open }: Pick<ScheduleView, 'nextAt' | 'policy' | 'open'>): number | null {
  const { overlap, limits, jitter } = policy
  const isActive = (fire: ScheduleView['open'][number]): boolean => fire.state !== 'waiting' || fire.attempt > 0
  const mostActive = overlap.kind === 'allow' ? overlap.limit : 1
  const isHeld = limits.job !== null || limits.group !== null || open.filter(isActive).length >= mostActive
  const retries = open.filter((fire) => fire.state === 'waiting' && fire.attempt > 0)
  const waiting = isHeld ? [] : open.filter((fire) => !isActive(fire))
  const times = [...retries, ...waiting].map(({ readyAt }) => readyAt)
  if (nextAt !== null) times.push(nextAt + jitter.ms)
  return times.length === 0 ? null : Math.min(...times)
}

/** Whether an instance that takes new runs has its job. */
export function hasRunner(
  { app, job }: Pick<ScheduleView, 'app' | 'job'>,
  instances: readonly Pick<FleetInstance, 'app' | 'state' | 'drain' | 'jobs'>[],
): boolean {
  return instances.some(
    (instance) =>
      instance.state === 'live' &&
      !instance.drain &&
      instance.jobs.includes(job) &&
      (app === null || instance.app === app),
  )
}
