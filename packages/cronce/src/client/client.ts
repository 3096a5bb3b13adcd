import { type Deployments, makeDeployments } from './deployments.ts'
import { type Fires, makeFires } from './fires.ts'
import { type Instances, makeInstances } from './instances.ts'
import type { ClientParts } from './parts.ts'
import { makeRuns, type Runs } from './runs.ts'
import { makeSchedules, type Schedules } from './schedules.ts'
import { makeSteps, type Steps } from './steps.ts'
import { makeTenants, type Tenants } from './tenants.ts'

/** Everything that people and programs do to schedules goes through here: the CLI, the HTTP API and the dashboard, too. */
export interface Client<Tx = unknown> {
  readonly schedules: Schedules<Tx>
  readonly fires: Fires
  readonly runs: Runs
  readonly steps: Steps
  readonly instances: Instances
  readonly deployments: Deployments
  readonly tenants: Tenants
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
  }
}
