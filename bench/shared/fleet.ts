import { setTimeout as sleep } from 'node:timers/promises'
import { type Peer, startPeer } from './processes.ts'
import type { Counted, Load, Reply, Request, Setup, Start } from './protocol.ts'

export interface ProcessesPlan {
  readonly script: URL
  readonly name: string
  /** Each is a process of its own. */
  readonly instances: number
  readonly setup: Setup
}

/** Instances on one server, seen from the parent. */
export interface Fleet {
  readonly first: Peer<Request, Reply>
  readonly peers: readonly Peer<Request, Reply>[]
  create(load: Load): Promise<number>
  /** Everything that can be done before there is something to do, in every process. */
  connect(): Promise<void>
  start(): Promise<void>
  /** Claim nothing new until asked to start again: a queue is filled meanwhile. */
  pause(): Promise<void>
  counts(): Promise<readonly Counted[]>
  collect(): Promise<readonly (readonly Start[])[]>
  /** Until this many runs have been counted in total. */
  until(what: 'started' | 'ended', count: number, patienceMs: number): Promise<readonly Counted[]>
  /** Kills one process and drops it. Returns when that was. */
  kill(index: number): number
  /** Kill all: for when something has failed. */
  abandon(): void
  /** Take nothing new and finish what is under way. The processes can still be asked what they did. */
  stop(): Promise<void>
}

/** Instances learn of each other when they join; this waits until the fleet is stable. */
export const ACQUAINT_MS = 2_000
const LOOK_MS = 20

/** No process stays behind to disturb the next measurement, even if `work` fails. */
export async function withProcesses<Value>(
  plan: ProcessesPlan,
  work: (fleet: Fleet) => Promise<Value>,
): Promise<Value> {
  const fleet = await startProcesses(plan)
  try {
    const value = await work(fleet)
    for (const peer of fleet.peers) peer.stop()
    return value
  } catch (error) {
    fleet.abandon()
    throw error
  }
}

async function startProcesses({ script, name, instances, setup }: ProcessesPlan): Promise<Fleet> {
  const peers = await Promise.all(
    Array.from({ length: instances }, (_, index) =>
      startPeer<Request, Reply>({
        script,
        name: `${name} ${index + 1}`,
        args: [JSON.stringify(setup)],
        megabytes: 4_000,
      }),
    ),
  )
  const counts = () => Promise.all(peers.map((peer) => peer.ask({ do: 'count' }, 'counted')))
  const all = async (what: 'connect' | 'start' | 'pause' | 'stop') =>
    void (await Promise.all(peers.map((peer) => peer.ask({ do: what }, 'done'))))
  const pids = (await counts()).map(({ pid }) => pid)
  return {
    first: peers[0]!,
    peers,
    create: async (load) => (await peers[0]!.ask({ do: 'create', load }, 'done')).ms,
    connect: () => all('connect'),
    start: () => all('start'),
    pause: () => all('pause'),
    counts,
    collect: async () => {
      const collected = await Promise.all(peers.map((peer) => peer.ask({ do: 'collect' }, 'collected')))
      return collected.map(({ starts }) => starts)
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
          // It ended by itself, which may be why `work` failed.
        }
      }
    },
    stop: () => all('stop'),
  }
}
