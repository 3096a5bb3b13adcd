import type { Profiled } from '../shared/protocol.ts'
import type { FleetOptions } from './fleet.ts'
import { type CommandCost, commandsOf, forgetCommands } from './readings.ts'
import { measureRush, type Rush } from './rush-plan.ts'
import { commandName } from './script-names.ts'
import type { BenchServer } from './server.ts'

/** Where the time of a fire goes. Sampling costs something itself, so its rate is not a figure. */
export interface Breakdown {
  readonly rush: Rush
  readonly scripts: readonly ScriptCost[]
  /** By name, scripts and what they call. */
  readonly commands: readonly CommandCost[]
  readonly profile: Omit<Profiled, 'is'>
}

/** From the slow log: calls that took longer than a few microseconds, which all scripts of a burst do. */
export interface ScriptCost {
  readonly name: string
  readonly calls: number
  readonly us: number
  readonly longestUs: number
}

const SLOW_US = 20
const ENTRIES = 100_000

export async function measureBreakdown(options: FleetOptions, count: number): Promise<Breakdown> {
  let scripts: readonly ScriptCost[] = []
  let commands: readonly CommandCost[] = []
  let profile: Omit<Profiled, 'is'> = { shares: [], functions: [] }
  const rush = await measureRush(
    { ...options, count, fsync: 'everysec' },
    {
      async begin(server, fleet) {
        await server.admin.config('SET', 'slowlog-max-len', ENTRIES)
        await server.admin.config('SET', 'slowlog-log-slower-than', SLOW_US)
        await server.admin.slowlog('RESET')
        await forgetCommands(server)
        await fleet.first.ask({ do: 'profile' }, 'done')
      },
      async end(server, fleet) {
        const { is: _, ...found } = await fleet.first.ask({ do: 'profiled' }, 'profiled')
        profile = found
        commands = await commandsOf(server)
        scripts = await scriptsOf(server)
      },
    },
  )
  return { rush, scripts, commands, profile }
}

type Entry = readonly [id: number, at: number, us: number, args: readonly string[]]

async function scriptsOf({ admin }: BenchServer): Promise<ScriptCost[]> {
  const entries = (await admin.slowlog('GET', ENTRIES)) as readonly Entry[]
  const costs = new Map<string, { calls: number; us: number; longestUs: number }>()
  for (const [, , us, [command = '', sha = '']] of entries) {
    if (command.toLowerCase() !== 'evalsha') continue
    const name = commandName(`evalsha ${sha}`)
    const cost = costs.get(name) ?? { calls: 0, us: 0, longestUs: 0 }
    costs.set(name, { calls: cost.calls + 1, us: cost.us + us, longestUs: Math.max(cost.longestUs, us) })
  }
  return [...costs].map(([name, cost]) => ({ name, ...cost })).sort((left, right) => right.us - left.us)
}
