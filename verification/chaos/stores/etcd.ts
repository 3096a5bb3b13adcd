import { setTimeout as sleep } from 'node:timers/promises'
import { etcd } from '../../../packages/cronce/src/etcd.ts'
import { BLURRED_MS } from '../../../packages/cronce/src/store/etcd/clock-keeper.ts'
import { type EtcdCluster, type Server, startEtcd, startEtcdCluster } from '../../../scripts/servers/index.ts'
import type { ChaosStore, PreparedStore, ServerEnd, ServerTrick, ServerUnderChaos, StoreModule } from './store.ts'

export const etcdChaos: ChaosStore = {
  name: 'etcd',
  mounts: false,
  transacts: false,
  async prepare(): Promise<PreparedStore> {
    const server = await startEtcd()
    const url = etcdUrl(server.port)
    return {
      module: import.meta.filename,
      url,
      source: source(url),
      network: { host: '127.0.0.1', port: server.port, urlBy: etcdUrl },
      // The server has the clock of the host: a program in Go asks the system for it, and can't be given another one.
      now: async () => Date.now(),
      probe: () => write(server, 'chaos/probe'),
      clock: 'own',
      clockErrorMs: CLOCK_ERROR_MS,
      server: underChaos(server),
      isFree: () => true,
      disk: { reason: 'the server has it' },
      // This store has no transactions that include the user's data.
      effects: async () => [],
      close: () => server.stop(),
    }
  },
}

/**
 * Three members. Processes reach two of them directly and one by way of the proxies: what these do to the network looks like a member
 * that is cut off, slow, or answers late.
 */
export const etcdClusterChaos: ChaosStore = {
  name: 'etcd3',
  mounts: false,
  transacts: false,
  async prepare(): Promise<PreparedStore> {
    const cluster = await startEtcdCluster()
    const [first, ...others] = cluster.members as [Server, ...Server[]]
    const urlBy = (port: number): string => etcdUrl(port, ...others.map((member) => member.port))
    const url = urlBy(first.port)
    return {
      module: import.meta.filename,
      url,
      source: source(url),
      network: { host: '127.0.0.1', port: first.port, urlBy },
      now: async () => Date.now(),
      probe: () => Promise.any(cluster.members.map((member) => write(member, 'chaos/probe'))),
      clock: 'own',
      clockErrorMs: CLOCK_ERROR_MS,
      server: clusterUnderChaos(cluster),
      isFree: () => true,
      disk: { reason: 'the servers have it' },
      effects: async () => [],
      close: () => cluster.stop(),
    }
  },
}

function etcdUrl(...ports: readonly number[]): string {
  return `etcd://${ports.map((port) => `127.0.0.1:${port}`).join()}`
}

function clusterUnderChaos(cluster: EtcdCluster): ServerUnderChaos {
  const { members } = cluster
  return {
    // The leader, each time: another member takes over.
    async restart(end, downMs) {
      const leader = await cluster.leader()
      await leader.halt(SIGNALS[end])
      await sleep(downMs)
      await leader.restart()
    },
    disconnect: async () => 0,
    clock: { reason: 'a program in Go asks the system for the time' },
    tricks: [
      {
        name: 'frozen leader',
        async play(ms, wait) {
          const { pid } = await cluster.leader()
          process.kill(pid, 'SIGSTOP')
          await wait(ms * FROZEN)
          process.kill(pid, 'SIGCONT')
        },
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
      ...tricksOf(members[2]!).filter(({ name }) => name === 'compaction'),
    ],
  }
}

/**
 * Processes know its clock late and never early, by the width of its bounds. One that joins waits for sharp bounds (10 ms), but 3 s at
 * most. By then the second has changed three times while requests followed each other, so the bounds are not wider than where that ends.
 */
const CLOCK_ERROR_MS = BLURRED_MS

/** Beyond what a busy machine explains, and short enough that no process waits long for an answer that was lost. */
const TIMEOUT_MS = 3_000

export const source: StoreModule['source'] = (url) => etcd(url, { timeoutMs: TIMEOUT_MS })

export const isOneWriter: StoreModule['isOneWriter'] = false

export const insert: StoreModule['insert'] = () => {
  throw new Error('a store without transactions has no user who writes in one')
}

/** By the JSON gateway, which shares no code with the product. */
async function ask(server: Server, path: string, body: object): Promise<unknown> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const answer = await fetch(`${server.url}${path}`, { method: 'POST', body: JSON.stringify(body), signal })
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
  return answer.json()
}

async function write(server: Server, key: string): Promise<void> {
  await ask(server, '/v3/kv/put', { key: Buffer.from(key).toString('base64'), value: '' })
}

const SIGNALS: Readonly<Record<ServerEnd, NodeJS.Signals>> = { fast: 'SIGTERM', immediate: 'SIGINT', crash: 'SIGKILL' }

function underChaos(server: Server): ServerUnderChaos {
  return {
    async restart(end, downMs) {
      await server.halt(SIGNALS[end])
      await sleep(downMs)
      await server.restart()
    },
    // It can't be asked to; the proxies do it.
    disconnect: async () => 0,
    clock: { reason: 'a program in Go asks the system for the time' },
    tricks: tricksOf(server),
  }
}

/** How much longer than others, so that some outlast the deadline of a call. */
const FROZEN = 1.2
const COMPACT_MS = 300

function tricksOf(server: Server): readonly ServerTrick[] {
  return [
    {
      name: 'frozen server',
      async play(ms, wait) {
        process.kill(server.pid, 'SIGSTOP')
        await wait(ms * FROZEN)
        process.kill(server.pid, 'SIGCONT')
      },
    },
    {
      // What was kept of earlier revisions goes while lists and feeds read it.
      name: 'compaction',
      async play(ms, wait) {
        for (let passed = 0; passed < ms; passed += COMPACT_MS) {
          const { header } = (await ask(server, '/v3/kv/range', { key: 'AA==' })) as { header: { revision: string } }
          await ask(server, '/v3/kv/compaction', { revision: header.revision })
          await wait(COMPACT_MS)
        }
      },
    },
  ]
}
