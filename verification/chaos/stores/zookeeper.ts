import { ServerClock } from '../../../packages/cronce/src/store/kv/server-clock.ts'
import { parseUrl } from '../../../packages/cronce/src/store/zookeeper/address.ts'
import { openDriver } from '../../../packages/cronce/src/store/zookeeper/zookeeper.ts'
import { zookeeper } from '../../../packages/cronce/src/zookeeper.ts'
import { type Server, startZooKeeper, startZooKeeperEnsemble } from '../../../scripts/servers/index.ts'
import { insertNothing, onOne, onThree, type Preparing, TIMEOUT_MS } from './cluster.ts'
import type { ChaosStore, PreparedStore, StoreModule } from './store.ts'

export const zooKeeperChaos: ChaosStore = {
  name: 'zookeeper',
  mounts: false,
  transacts: false,
  async prepare(): Promise<PreparedStore> {
    const server = await startZooKeeper()
    return onOne(server, await preparing([server], () => server.stop()))
  },
}

export const zooKeeperEnsembleChaos: ChaosStore = {
  name: 'zookeeper3',
  mounts: false,
  transacts: false,
  async prepare(): Promise<PreparedStore> {
    const ensemble = await startZooKeeperEnsemble()
    return onThree(ensemble, await preparing(ensemble.members, () => ensemble.stop()))
  },
}

/** A process learns the clock with each of its writes, to within the time that the write takes. */
const CLOCK_ERROR_MS = 50

async function preparing(members: readonly Server[], stop: () => Promise<void>): Promise<Preparing> {
  const { servers } = parseUrl(urlOf(...members.map(({ port }) => port)))
  const target = { name: 'ZooKeeper', servers, tls: null, user: null, timeoutMs: TIMEOUT_MS }
  const probe = await openDriver(target, new ServerClock(() => performance.now()), 'cronce', 'probe')
  return {
    ...{ module: import.meta.filename, source, urlOf, clockErrorMs: CLOCK_ERROR_MS },
    // It writes a node to learn the time.
    probe: () => probe.askTime(),
    noClock: 'its clock is that of the host',
    tricks: [],
    async close() {
      await probe.close()
      await stop()
    },
  }
}

export const source: StoreModule['source'] = (url) => zookeeper(url, { timeoutMs: TIMEOUT_MS })

export const isOneWriter: StoreModule['isOneWriter'] = false

export const insert: StoreModule['insert'] = insertNothing

function urlOf(...ports: readonly number[]): string {
  return `zookeeper://${ports.map((port) => `127.0.0.1:${port}`).join()}`
}
