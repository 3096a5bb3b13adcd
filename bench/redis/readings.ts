import type { BenchServer } from './server.ts'

/** What the server has done so far. */
export interface Reading {
  /** Commands that clients have sent; a script counts as one. */
  readonly sent: number
  /** Of these, scripts. */
  readonly scripts: number
  /** Commands that the server has executed, those inside scripts included: `total_commands_processed` counts them like this. */
  readonly executed: number
  readonly aofBytes: number
  readonly cpuMs: number
  /** Of the data: without what clients have in their buffers. */
  readonly memoryBytes: number
}

/** One command by name and what it has cost so far. Of a script, what is called inside it is in its time as well. */
export interface CommandCost {
  readonly name: string
  readonly calls: number
  readonly us: number
}

/** Commands that the benchmark itself sends to measure. */
const OURS = /^(info|monitor|slowlog|config|latency)(\||$)/
const SCRIPTS = /^(eval|evalsha|fcall)(_ro)?$/
/** Commands that no script of these systems calls, so counting them counts requests of clients. */
const BY_CLIENTS =
  /^((eval|evalsha|fcall)(_ro)?|script|wait|ping|client|hello|auth|select|s?(un)?subscribe|pubsub|bzpopmin|multi|exec|command)(\||$)/

/** `alsoSent`: commands that this system sends directly and never inside a script. */
export async function read({ admin }: BenchServer, alsoSent: readonly string[] = []): Promise<Reading> {
  const text = await admin.info('everything')
  const number = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(text)?.[1] ?? 0)
  const costs = parseCosts(text)
  const calls = (isCounted: (name: string) => boolean) =>
    costs.filter(({ name }) => isCounted(name)).reduce((sum, cost) => sum + cost.calls, 0)
  return {
    sent: calls((name) => BY_CLIENTS.test(name) || alsoSent.includes(name)),
    scripts: calls((name) => SCRIPTS.test(name)),
    executed: calls(() => true),
    aofBytes: number('aof_current_size'),
    cpuMs: (number('used_cpu_sys') + number('used_cpu_user')) * 1000,
    memoryBytes: number('used_memory') - number('mem_clients_normal') - number('mem_aof_buffer'),
  }
}

/** By the time that they took, the most expensive first. */
export async function commandsOf({ admin }: BenchServer): Promise<CommandCost[]> {
  return parseCosts(await admin.info('commandstats')).sort((left, right) => right.us - left.us)
}

export async function forgetCommands({ admin }: BenchServer): Promise<void> {
  await admin.config('RESETSTAT')
}

/** That of the benchmark itself is left out. */
export async function connectionsOf({ admin }: BenchServer): Promise<number> {
  return Number(/connected_clients:(\d+)/.exec(await admin.info('clients'))![1]) - 1
}

function parseCosts(info: string): CommandCost[] {
  return [...info.matchAll(/^cmdstat_(\S+):calls=(\d+),usec=(\d+)/gm)]
    .map(([, name, calls, us]) => ({ name: name!, calls: Number(calls), us: Number(us) }))
    .filter(({ name }) => !OURS.test(name))
}
