import { setTimeout as sleep } from 'node:timers/promises'
import { etcd } from '../../../packages/cronce/src/etcd.ts'
import { type Server, startEtcd } from '../../../scripts/servers/index.ts'
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
      server: underChaos(server),
      isFree: () => true,
      disk: { reason: 'the server has it' },
      // Nothing of the user's is in one transaction with the store's.
      effects: async () => [],
      close: () => server.stop(),
    }
  },
}

function etcdUrl(port: number): string {
  return `etcd://127.0.0.1:${port}`
}

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
