import type { FleetSubject, Problem } from '../../model/alert.ts'
import { counted } from '../../words.ts'
import type { FleetFacts, FleetInstance } from './facts.ts'
import { roughly } from './figures.ts'
import type { ThresholdOf } from './thresholds.ts'

/** Deaths that are longer ago do not count. */
export const DEATHS_WITHIN_MS = 3_600_000

/** Too few instances, a host on which they keep dying, or two deployments for longer than a rollout takes. */
export function fleet(facts: FleetFacts, threshold: ThresholdOf<'fleet'>): Problem[] {
  const { now, app } = facts
  const live = facts.instances.filter((instance) => instance.app === app && instance.state === 'live')
  const found: Problem[] = []
  const { minInstances, deaths, rolloutMs, afterMs } = threshold
  if (live.length < minInstances) {
    const text = `${counted(live.length, 'instance is', 'instances are')} live, expected are ${minInstances}`
    found.push({ rule: 'fleet', subject: 'instances' satisfies FleetSubject, text, holdMs: afterMs })
  }
  const died = facts.dead.filter((one) => one.app === app && now - (one.endedAt ?? 0) <= DEATHS_WITHIN_MS)
  for (const host of new Set(died.map((instance) => instance.host))) {
    const count = died.filter((instance) => instance.host === host).length
    if (count >= deaths)
      found.push({
        rule: 'fleet',
        subject: host,
        text: `${counted(count, 'instance', 'instances')} died within an hour`,
      })
  }
  const { ids, sinceMs } = liveDeployments(live, now)
  if (ids.length > 1 && sinceMs > rolloutMs) {
    found.push({
      rule: 'fleet',
      subject: 'deployments' satisfies FleetSubject,
      text: `${ids.length} deployments are live for ${roughly(sinceMs)}`,
    })
  }
  return found
}

/** The deployments that have a live process with jobs, and how long all of them have been live. */
export function liveDeployments(
  live: readonly Pick<FleetInstance, 'deployment' | 'startedAt' | 'jobs'>[],
  now: number,
): { readonly ids: readonly string[]; readonly sinceMs: number } {
  const declaring = live.filter(({ jobs }) => jobs.some((job) => !job.startsWith('cronce:')))
  const ids = [...new Set(declaring.map(({ deployment }) => deployment))]
  const startedAt = (id: string): number =>
    Math.min(...declaring.filter(({ deployment }) => deployment === id).map((instance) => instance.startedAt))
  // The deployment that came last says how long all of them have been live.
  return { ids, sinceMs: ids.length === 0 ? 0 : Math.max(0, now - Math.max(...ids.map(startedAt))) }
}
