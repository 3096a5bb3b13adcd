import { type Activity, makeActivity } from './activity.ts'
import { type Alerts, makeAlerts } from './alerts.ts'
import { type Deployments, makeDeployments } from './deployments.ts'
import { type FeedEntry, type FeedOptions, feed } from './feed.ts'
import { type Fires, makeFires } from './fires.ts'
import type { AnyInputs } from './inputs.ts'
import { type Instances, makeInstances } from './instances.ts'
import type { ClientParts } from './parts.ts'
import { makeRuns, type Runs } from './runs.ts'
import { makeSchedules, type Schedules } from './schedules.ts'
import { makeSteps, type Steps } from './steps.ts'
import { makeStoreStatus, type StoreStatus } from './store-status.ts'
import { makeTenants, type Tenants } from './tenants.ts'

/** Everything that people and programs do to schedules goes through here: the CLI, the HTTP API and the dashboard, too. */
export interface Client<Tx = unknown, Inputs = AnyInputs> {
  readonly schedules: Schedules<Tx, Inputs>
  readonly fires: Fires
  readonly runs: Runs
  readonly steps: Steps
  readonly instances: Instances
  readonly deployments: Deployments
  readonly tenants: Tenants
  readonly activity: Activity
  readonly alerts: Alerts
  readonly store: StoreStatus
  /** What happens in the fleet, from now on or from an instant on, until the signal is aborted: see `FeedEntry`. */
  feed(options?: FeedOptions): AsyncIterable<FeedEntry>
}

export function createClient<Tx>(parts: ClientParts<Tx>): Client<Tx> {
  return {
    schedules: makeSchedules(parts),
    fires: makeFires(parts),
    runs: makeRuns(parts),
    steps: makeSteps(parts),
    instances: makeInstances(parts),
    deployments: makeDeployments(parts),
    tenants: makeTenants(parts),
    activity: makeActivity(parts),
    alerts: makeAlerts(parts),
    store: makeStoreStatus(parts),
    feed: (options) => feed(parts, options),
  }
}
