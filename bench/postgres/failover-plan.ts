import { type Failovers, measureFailovers } from '../shared/failover.ts'
import { type FleetOptions, withFleet } from './fleet.ts'
import type { BenchServer } from './server.ts'

export interface Failover extends Failovers {
  readonly options: FleetOptions
}

export async function measureFailover(server: BenchServer, options: FleetOptions, rounds: number): Promise<Failover> {
  const failovers = await measureFailovers(rounds, (work) =>
    server.withDatabase((database) => withFleet(database, options, work)),
  )
  return { options, ...failovers }
}
