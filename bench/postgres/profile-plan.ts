import type { Profiled } from '../shared/protocol.ts'
import type { FleetOptions } from './fleet.ts'
import { forgetStatements, type StatementCost, statementsOf } from './readings.ts'
import { measureRush, type Rush } from './rush-plan.ts'
import type { BenchServer } from './server.ts'

/** Where the time of a fire goes in a warm process. Sampling costs something itself, so its rate is not a figure. */
export interface Breakdown {
  readonly rush: Rush
  readonly statements: readonly StatementCost[]
  readonly profile: Omit<Profiled, 'is'>
}

export async function measureBreakdown(server: BenchServer, options: FleetOptions, count: number): Promise<Breakdown> {
  let statements: readonly StatementCost[] = []
  let profile: Omit<Profiled, 'is'> = { shares: [], functions: [] }
  const rush = await measureRush(
    server,
    { ...options, count, settled: true, warm: true },
    {
      async begin(database, fleet) {
        await forgetStatements(database)
        await fleet.first.ask({ do: 'profile' }, 'done')
      },
      async end(database, fleet) {
        const { is: _, ...found } = await fleet.first.ask({ do: 'profiled' }, 'profiled')
        profile = found
        statements = await statementsOf(database)
      },
    },
  )
  return { rush, statements, profile }
}
