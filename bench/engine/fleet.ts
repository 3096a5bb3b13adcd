import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Peer, startPeer } from '../shared/processes.ts'
import type { Collected, Counted, Load, Reply, Request, Setup, StoreKind } from './protocol.ts'

export interface FleetOptions {
  readonly store: StoreKind
  /** On SQLite each is a process of its own, in memory all are one process. */
  readonly instances: number
  readonly concurrency?: number
  readonly countSql?: boolean
  /** Of an earlier fleet: keep what is in it. */
  readonly file?: string
  readonly megabytes?: number
}

/** Instances on one store, seen from the parent. */
export interface Fleet {
  readonly peers: readonly Peer<Request, Reply>[]
  readonly first: Peer<Request, Reply>
  create(load: Load): Promise<number>
  start(): Promise<void>
  counts(): Promise<readonly Counted[]>
  collect(): Promise<readonly Collected['starts'][]>
  /** Until this many fires have ended in total. */
  ended(count: number, patienceMs: number): Promise<readonly Counted[]>
  stop(): Promise<void>
}

const CHILD = new URL('./child.ts', import.meta.url)
const LOOK_MS = 100

export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const { store, instances, concurrency = 1_000, countSql = false, file = '', megabytes = 4_000 } = options
  const processes = store === 'sqlite' ? instances : 1
  const setup: Setup = { store, file, instances: instances / processes, concurrency, countSql }
  const peers = await Promise.all(
    Array.from({ length: processes }, (_, index) => {
      const name = `${store} ${index + 1}`
      return startPeer<Request, Reply>({ script: CHILD, name, args: [JSON.stringify(setup)], megabytes })
    }),
  )
  const first = peers[0]!
  const counts = () => Promise.all(peers.map((peer) => peer.ask({ do: 'count' }, 'counted')))
  return {
    peers,
    first,
    create: async (load) => (await first.ask({ do: 'create', load }, 'done')).ms,
    start: async () => void (await Promise.all(peers.map((peer) => peer.ask({ do: 'start' }, 'done')))),
    counts,
    collect: async () => {
      const all = await Promise.all(peers.map((peer) => peer.ask({ do: 'collect' }, 'collected')))
      return all.map(({ starts }) => starts)
    },
    async ended(count, patienceMs) {
      const end = performance.now() + patienceMs
      for (;;) {
        const found = await counts()
        const done = found.reduce((sum, { ended }) => sum + ended, 0)
        if (done >= count) return found
        if (performance.now() > end) throw new Error(`${done} of ${count} fires ended within ${patienceMs} ms.`)
        await sleep(LOOK_MS)
      }
    },
    async stop() {
      await Promise.all(peers.map((peer) => peer.ask({ do: 'stop' }, 'done')))
      for (const peer of peers) peer.stop()
    },
  }
}

/** Instances learn of each other through heartbeats, every ten seconds while they hold nothing. */
export function acquaintMs(instances: number): number {
  return instances === 1 ? 0 : 12_000
}

export function callsOf(counts: readonly Counted[]): number {
  return counts.flatMap(({ calls }) => Object.values(calls)).reduce((sum, count) => sum + count, 0)
}

/** A separate file for SQLite, deleted afterwards. On the disk of temporary files, which must not be in memory. */
export async function withFile<Value>(work: (file: string) => Promise<Value>): Promise<Value> {
  const folder = mkdtempSync(join(tmpdir(), 'cronce-bench-'))
  try {
    return await work(join(folder, 'bench.db'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export function sizeOf(file: string): number {
  return ['', '-wal'].reduce((sum, end) => sum + (statSync(file + end, { throwIfNoEntry: false })?.size ?? 0), 0)
}
