import { setTimeout as sleep } from 'node:timers/promises'
import { type Peer, startPeer } from '../shared/processes.ts'
import type { Counted, Load, Reply, Request, Setup, Start, System } from './protocol.ts'
import { between, connectionsOf, type Reading, read } from './readings.ts'
import type { BenchDatabase } from './server.ts'

export interface FleetOptions {
  readonly system: System
  /** Each is a process of its own. */
  readonly instances: number
  /** Runs at a time of each; of pg-boss, batches. */
  readonly concurrency: number
  /** Of pg-boss. */
  readonly batch?: number
}

/** Instances on one database, seen from the parent. */
export interface Fleet {
  readonly first: Peer<Request, Reply>
  readonly peers: readonly Peer<Request, Reply>[]
  create(load: Load): Promise<number>
  start(): Promise<void>
  counts(): Promise<readonly Counted[]>
  collect(): Promise<readonly (readonly Start[])[]>
  /** Until so many runs have been counted in all. */
  until(what: 'started' | 'ended', count: number, patienceMs: number): Promise<readonly Counted[]>
  /** Kill one and forget it. Answers when that was. */
  kill(index: number): number
  /** Kill all: for when something has failed. */
  abandon(): void
  /** Take nothing new and finish what is under way. The processes can still be asked what they did. */
  stop(): Promise<void>
}

const CHILDREN = {
  cronce: './cronce-child.ts',
  'graphile-worker': './graphile-child.ts',
  'pg-boss': './pg-boss-child.ts',
  'node-cron': './node-cron-child.ts',
} as const satisfies Record<System, string>
const LOOK_MS = 20

/** Nobody stays behind to disturb what is measured next, also where `work` fails. */
export async function withFleet<Value>(
  database: BenchDatabase,
  options: FleetOptions,
  work: (fleet: Fleet) => Promise<Value>,
): Promise<Value> {
  const fleet = await startFleet(database, options)
  try {
    const value = await work(fleet)
    for (const peer of fleet.peers) peer.stop()
    return value
  } catch (error) {
    fleet.abandon()
    throw error
  }
}

async function startFleet({ url }: BenchDatabase, options: FleetOptions): Promise<Fleet> {
  const { system, instances, concurrency, batch = 0 } = options
  const setup: Setup = { url, concurrency, batch }
  const script = new URL(CHILDREN[system], import.meta.url)
  const peers = await Promise.all(
    Array.from({ length: instances }, (_, index) =>
      startPeer<Request, Reply>({
        script,
        name: `${system} ${index + 1}`,
        args: [JSON.stringify(setup)],
        megabytes: 4_000,
      }),
    ),
  )
  const counts = () => Promise.all(peers.map((peer) => peer.ask({ do: 'count' }, 'counted')))
  const pids = (await counts()).map(({ pid }) => pid)
  return {
    first: peers[0]!,
    peers,
    create: async (load) => (await peers[0]!.ask({ do: 'create', load }, 'done')).ms,
    start: async () => void (await Promise.all(peers.map((peer) => peer.ask({ do: 'start' }, 'done')))),
    counts,
    collect: async () => {
      const all = await Promise.all(peers.map((peer) => peer.ask({ do: 'collect' }, 'collected')))
      return all.map(({ starts }) => starts)
    },
    async until(what, count, patienceMs) {
      const end = performance.now() + patienceMs
      for (;;) {
        const found = await counts()
        const done = found.reduce((sum, counted) => sum + counted[what], 0)
        if (done >= count) return found
        if (performance.now() > end) throw new Error(`${done} of ${count} runs ${what} within ${patienceMs} ms.`)
        await sleep(LOOK_MS)
      }
    },
    kill(index) {
      peers.splice(index, 1)
      const [pid] = pids.splice(index, 1)
      const at = Date.now()
      process.kill(pid!, 'SIGKILL')
      return at
    },
    abandon() {
      for (const pid of pids) {
        try {
          process.kill(pid, 'SIGKILL')
        } catch {
          // It ended by itself, which may be why the work failed.
        }
      }
    },
    stop: async () => void (await Promise.all(peers.map((peer) => peer.ask({ do: 'stop' }, 'done')))),
  }
}

/** What the processes and the server do for something: CPU of both, statements, WAL. */
export interface Effort extends Reading {
  readonly clientCpuMs: number
  readonly clientMainMs: number
}

/** Begins to count; what it returns says what has been done since. */
export async function effort(database: BenchDatabase, fleet: Fleet): Promise<() => Promise<Effort>> {
  const take = async () => ({ reading: await read(database), counts: await fleet.counts() })
  const before = await take()
  return async () => {
    const after = await take()
    const sum = (of: (counted: Counted) => number) =>
      after.counts.reduce((all, counted) => all + of(counted), 0) -
      before.counts.reduce((all, counted) => all + of(counted), 0)
    return {
      ...between(before.reading, after.reading),
      clientCpuMs: sum(({ cpuMs }) => cpuMs),
      clientMainMs: sum(({ mainMs }) => mainMs),
    }
  }
}

/** The most connections that were open at once while `work` went on, by instance. */
export async function watchConnections<Value>(
  database: BenchDatabase,
  instances: number,
  work: () => Promise<Value>,
): Promise<{ readonly value: Value; readonly connections: number }> {
  let most = 0
  const look = async () => {
    most = Math.max(most, await connectionsOf(database))
  }
  const timer = setInterval(() => void look(), 250)
  try {
    const value = await work()
    await look()
    return { value, connections: most / instances }
  } finally {
    clearInterval(timer)
  }
}

/** Instances on PostgreSQL hear of each other when they join; this is for the dust to settle. */
export const ACQUAINT_MS = 2_000

export function nameOf({ system, instances, batch }: FleetOptions): string {
  const batches = batch === undefined ? '' : `, batches of ${batch.toLocaleString('en-US')}`
  return `${system}, ${instances} ${instances === 1 ? 'process' : 'processes'}${batches}`
}
