import { etcd } from '../../../packages/cronce/src/etcd.ts'
import { BLURRED_MS } from '../../../packages/cronce/src/store/etcd/clock-keeper.ts'
import { type Server, startEtcd, startEtcdCluster } from '../../../scripts/servers/index.ts'
import { insertNothing, onOne, onThree, type Preparing, TIMEOUT_MS } from './cluster.ts'
import type { ChaosStore, PreparedStore, ServerTrick, StoreModule } from './store.ts'

export const etcdChaos: ChaosStore = {
  name: 'etcd',
  mounts: false,
  transacts: false,
  async prepare(): Promise<PreparedStore> {
    const server = await startEtcd()
    return onOne(
      server,
      preparing([server], () => server.stop()),
    )
  },
}

export const etcdClusterChaos: ChaosStore = {
  name: 'etcd3',
  mounts: false,
  transacts: false,
  async prepare(): Promise<PreparedStore> {
    const cluster = await startEtcdCluster()
    return onThree(
      cluster,
      preparing(cluster.members, () => cluster.stop()),
    )
  },
}

/** Processes know its clock late and never early, by the width of its bounds, which is rarely more than where frequent requests end. */
const CLOCK_ERROR_MS = BLURRED_MS
/** The first answer tells the clock to the second. On a busy machine a process joins before later answers have narrowed that down. */
const CLOCK_LAG_MS = 1_500

function preparing(members: readonly Server[], close: () => Promise<void>): Preparing {
  return {
    ...{ module: import.meta.filename, source, clockErrorMs: CLOCK_ERROR_MS, clockLagMs: CLOCK_LAG_MS, close },
    urlOf: (...ports) => `etcd://${ports.map((port) => `127.0.0.1:${port}`).join()}`,
    probe: () => Promise.any(members.map((member) => write(member, 'chaos/probe'))),
    noClock: 'a program in Go asks the system for the time',
    tricks: [compaction(members.at(-1)!), fullDatabase(members)],
  }
}

export const source: StoreModule['source'] = (url) => etcd(url, { timeoutMs: TIMEOUT_MS })

export const isOneWriter: StoreModule['isOneWriter'] = false

export const insert: StoreModule['insert'] = insertNothing

interface Answer {
  readonly header: { readonly revision: string; readonly member_id: string }
}

/** By the JSON gateway, which shares no code with the product. */
async function ask(server: Server, path: string, body: object): Promise<Answer> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const answer = await fetch(`${server.url}${path}`, { method: 'POST', body: JSON.stringify(body), signal })
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
  return (await answer.json()) as Answer
}

async function write(server: Server, key: string): Promise<void> {
  await ask(server, '/v3/kv/put', { key: Buffer.from(key).toString('base64'), value: '' })
}

const COMPACT_MS = 300

/** What was kept of earlier revisions goes while lists and feeds read it. */
function compaction(server: Server): ServerTrick {
  return {
    name: 'compaction',
    async play(ms, wait) {
      for (let passed = 0; passed < ms; passed += COMPACT_MS) {
        const { header } = await ask(server, '/v3/kv/range', { key: 'AA==' })
        await ask(server, '/v3/kv/compaction', { revision: header.revision })
        await wait(COMPACT_MS)
      }
    },
  }
}

/** The alarm that etcd raises when its quota is reached: until it is disarmed, every write and every new lease is refused. */
function fullDatabase([member]: readonly Server[]): ServerTrick {
  return {
    name: 'full database',
    async play(ms, wait) {
      const { header } = await ask(member!, '/v3/maintenance/status', {})
      const alarm = { memberID: header.member_id, alarm: 'NOSPACE' }
      await ask(member!, '/v3/maintenance/alarm', { ...alarm, action: 'ACTIVATE' })
      await wait(ms)
      await ask(member!, '/v3/maintenance/alarm', { ...alarm, action: 'DEACTIVATE' })
    },
  }
}
