import { setTimeout as sleep } from 'node:timers/promises'
import type { StoreSource } from '../../../packages/cronce/src/store/store.ts'
import type { Server } from '../../../scripts/servers/index.ts'
import type { PreparedStore, ServerEnd, ServerTrick, ServerUnderChaos, StoreModule } from './store.ts'

// What chaos on the key-value stores has in common: etcd and ZooKeeper, a server alone or three of them.

/** Beyond what a busy machine explains, and short enough that no process waits long for an answer that was lost. */
export const TIMEOUT_MS = 3_000
const SIGNALS: Readonly<Record<ServerEnd, NodeJS.Signals>> = { fast: 'SIGTERM', immediate: 'SIGINT', crash: 'SIGKILL' }
/** How much longer than others, so that some outlast the deadline of a call. */
const FROZEN = 1.2

/** Three servers, of which two are enough. */
export interface Cluster {
  readonly members: readonly Server[]
  leader(): Promise<Server>
}

export interface Preparing {
  /** Of the module that processes import. */
  readonly module: string
  readonly source: (url: string) => StoreSource<unknown>
  readonly urlOf: (...ports: readonly number[]) => string
  readonly probe: () => Promise<unknown>
  readonly clockErrorMs: number
  readonly clockLagMs?: number
  /** Why the clock of the server can't be set. */
  readonly noClock: string
  readonly tricks: readonly ServerTrick[]
  readonly close: () => Promise<void>
}

export function onOne(server: Server, preparing: Preparing): PreparedStore {
  const freezing = freezeTrick('frozen server', async () => server)
  return prepared(
    server,
    [],
    preparing,
    underChaos(async () => server, preparing, [freezing]),
  )
}

/**
 * Processes reach two of the members directly and one by way of the proxies: what these do to the network looks like a member that is
 * cut off, slow, or answers late. It is the leader that ends and freezes, each time, so that another member takes over.
 */
export function onThree(cluster: Cluster, preparing: Preparing): PreparedStore {
  const [first, ...others] = cluster.members as [Server, ...Server[]]
  const leader = (): Promise<Server> => cluster.leader()
  const tricks = [freezeTrick('frozen leader', leader), noQuorum(cluster.members.slice(0, 2))]
  return prepared(first, others, preparing, underChaos(leader, preparing, tricks))
}

function prepared(
  server: Server,
  others: readonly Server[],
  { module, source, urlOf, probe, clockErrorMs, clockLagMs = 0, close }: Preparing,
  underChaos: ServerUnderChaos,
): PreparedStore {
  const urlBy = (port: number): string => urlOf(port, ...others.map((member) => member.port))
  const url = urlBy(server.port)
  return {
    ...{ module, url, source: source(url), probe, clockErrorMs, clockLagMs, close },
    network: { host: '127.0.0.1', port: server.port, urlBy },
    now: async () => Date.now(),
    clock: 'own',
    server: underChaos,
    isFree: () => true,
    disk: { reason: 'the server has it' },
    // These stores have no transactions that include the user's data.
    effects: async () => [],
  }
}

function underChaos(
  chosen: () => Promise<Server>,
  { noClock, tricks }: Preparing,
  more: readonly ServerTrick[],
): ServerUnderChaos {
  return {
    async restart(end, downMs) {
      const server = await chosen()
      await server.halt(SIGNALS[end])
      await sleep(downMs)
      await server.restart()
    },
    // It can't be asked to; the proxies do it.
    disconnect: async () => 0,
    clock: { reason: noClock },
    tricks: [...more, ...tricks],
  }
}

function freezeTrick(name: string, chosen: () => Promise<Server>): ServerTrick {
  return {
    name,
    async play(ms, wait) {
      const { pid } = await chosen()
      process.kill(pid, 'SIGSTOP')
      await wait(ms * FROZEN)
      process.kill(pid, 'SIGCONT')
    },
  }
}

function noQuorum(two: readonly Server[]): ServerTrick {
  return {
    name: 'no quorum',
    async play(ms, wait) {
      await Promise.all(two.map((member) => member.halt('SIGKILL')))
      await wait(ms)
      await Promise.all(two.map((member) => member.restart()))
    },
  }
}

export const insertNothing: StoreModule['insert'] = () => {
  throw new Error('a store without transactions has no user who writes in one')
}
