import { exposition } from 'cronce/internal'
import { type MetricsOptions, metrics } from 'cronce/metrics'
import { shared } from '../shared.ts'
import { appOf, type Source } from '../source.ts'
import { fleetFamilies } from './fleet.ts'

/** The answers to `/metrics` and `/metrics/fleet`. */
export interface ServerMetrics {
  readonly process: () => Promise<string>
  readonly fleet: () => Promise<string>
}

/** How long one look at the store answers all scrapes of the fleet. */
const FLEET_MS = 10_000

export function serverMetrics(source: Source, options: MetricsOptions): ServerMetrics {
  const app = appOf(source)
  // A connection runs nothing, so its process has nothing to count.
  const measured = app === null ? null : metrics(app, options)
  return {
    process: async () =>
      measured?.text() ?? '# This process runs no jobs. What the store knows is at /metrics/fleet.\n',
    fleet: shared(FLEET_MS, async () => exposition(await fleetFamilies(source, options.maxJobs ?? 100))),
  }
}
