import { setTimeout as sleep } from 'node:timers/promises'
import { ServerClock } from '../../../packages/cronce/src/store/kv/server-clock.ts'
import { parseUrl } from '../../../packages/cronce/src/store/zookeeper/address.ts'
import { openDriver } from '../../../packages/cronce/src/store/zookeeper/zookeeper.ts'
import { zookeeper } from '../../../packages/cronce/src/zookeeper.ts'
import {
  type Server,
  startZooKeeper,
  startZooKeeperEnsemble,
  type ZooKeeperEnsemble,
} from '../../../scripts/servers/index.ts'
import type { ChaosStore, PreparedStore, ServerEnd, ServerUnderChaos, StoreModule } from './store.ts'

const SIGNALS: Readonly<Record<ServerEnd, NodeJS.Signals>> = { fast: 'SIGTERM', immediate: 'SIGINT', crash: 'SIGKILL' }
/** How much longer than others, so that some outlast the deadline of a call. */
const FROZEN = 1.2
const NO_CLOCK = { reason: 'its clock is that of the host' } as const

export const zooKeeperChaos: ChaosStore = {
  name: 'zookeeper',
  mounts: false,
  transacts: false,
  async prepare(): Promise<PreparedStore> {
    const server = await startZooKeeper()
    const stop = (): Promise<void> => server.stop()
    return prepared(server, (port) => urlOf(port), underChaos(server), stop)
  },
}

/** Three servers. Processes reach two of them directly and one by way of the proxies. */
export const zooKeeperEnsembleChaos: ChaosStore = {
  name: 'zookeeper3',
  mounts: false,
  transacts: false,
  async prepare(): Promise<PreparedStore> {
    const ensemble = await startZooKeeperEnsemble()
    const [first, ...others] = ensemble.members as [Server, ...Server[]]
    const urlBy = (port: number): string => urlOf(port, ...others.map((member) => member.port))
    return prepared(first, urlBy, ensembleUnderChaos(ensemble), () => ensemble.stop())
  },
}

async function prepared(
  server: Server,
  urlBy: (port: number) => string,
  underChaos: ServerUnderChaos,
  stop: () => Promise<void>,
): Promise<PreparedStore> {
  const url = urlBy(server.port)
  const { servers } = parseUrl(url)
  const target = { name: 'ZooKeeper', servers, tls: null, user: null, timeoutMs: TIMEOUT_MS }
  const probe = await openDriver(target, new ServerClock(() => performance.now()), 'cronce', 'probe')
  return {
    module: import.meta.filename,
    url,
    source: source(url),
    network: { host: '127.0.0.1', port: server.port, urlBy },
    now: async () => Date.now(),
    // It writes a node to learn the time.
    probe: () => probe.askTime(),
    clock: 'own',
    clockErrorMs: CLOCK_ERROR_MS,
    server: underChaos,
    isFree: () => true,
    disk: { reason: 'the server has it' },
    effects: async () => [],
    close: async () => {
      await probe.close()
      await stop()
    },
  }
}

/** A process learns the clock with each of its writes, to within the time that the write takes. */
const CLOCK_ERROR_MS = 50
/** Beyond what a busy machine explains, and short enough that no process waits long for an answer that was lost. */
const TIMEOUT_MS = 3_000

export const source: StoreModule['source'] = (url) => zookeeper(url, { timeoutMs: TIMEOUT_MS })

export const isOneWriter: StoreModule['isOneWriter'] = false

export const insert: StoreModule['insert'] = () => {
  throw new Error('a store without transactions has no user who writes in one')
}

function urlOf(...ports: readonly number[]): string {
  return `zookeeper://${ports.map((port) => `127.0.0.1:${port}`).join()}`
}

function underChaos(server: Server): ServerUnderChaos {
  return {
    async restart(end, downMs) {
      await server.halt(SIGNALS[end])
      await sleep(downMs)
      await server.restart()
    },
    // It can't be asked to; the proxies do it.
    disconnect: async () => 0,
    clock: NO_CLOCK,
    tricks: [{ name: 'frozen server', play: (ms, wait) => freeze(server.pid, ms, wait) }],
  }
}

function ensembleUnderChaos(ensemble: ZooKeeperEnsemble): ServerUnderChaos {
  const { members } = ensemble
  return {
    // The leader, each time: another server takes over.
    async restart(end, downMs) {
      const leader = await ensemble.leader()
      await leader.halt(SIGNALS[end])
      await sleep(downMs)
      await leader.restart()
    },
    disconnect: async () => 0,
    clock: NO_CLOCK,
    tricks: [
      {
        name: 'frozen leader',
        play: async (ms, wait) => freeze((await ensemble.leader()).pid, ms, wait),
      },
      {
        name: 'no quorum',
        async play(ms, wait) {
          const two = members.slice(0, 2)
          await Promise.all(two.map((member) => member.halt('SIGKILL')))
          await wait(ms)
          await Promise.all(two.map((member) => member.restart()))
        },
      },
    ],
  }
}

async function freeze(pid: number, ms: number, wait: (ms: number) => Promise<void>): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  await wait(ms * FROZEN)
  process.kill(pid, 'SIGCONT')
}
