import { startZooKeeper, startZooKeeperEnsemble } from '../../../../scripts/servers/index.ts'
import { zookeeper } from '../../src/store/zookeeper/zookeeper.ts'
import type { StoreUnderTest } from '../../src/testing/conformance/bench.ts'
import { describeStore } from '../../src/testing/conformance/describe-store.ts'
import { ageInstances, describeSome, inTurn } from './kv-kit.ts'
import { driverAt } from './zookeeper-kit.ts'

const onOne = async (): Promise<StoreUnderTest<never>> => {
  const server = await startZooKeeper()
  return {
    source: zookeeper(server.url),
    age: async (namespace, ms) => ageInstances(await driverAt(server.url, namespace), namespace, ms),
    dispose: () => server.stop(),
  }
}

const onThree = async (): Promise<StoreUnderTest<never>> => {
  const ensemble = await startZooKeeperEnsemble()
  const { url } = ensemble.members[0]!
  return {
    source: inTurn(ensemble.addresses.map((address) => zookeeper({ servers: [address] }))),
    age: async (namespace, ms) => ageInstances(await driverAt(url, namespace), namespace, ms),
    dispose: () => ensemble.stop(),
  }
}

const { CRONCE_LONG, MUTANT } = process.env
// Every commit waits for a disk, and many rules for a lease of two seconds: the rest is for the long run.
if (CRONCE_LONG === '1' || MUTANT !== undefined) describeStore('ZooKeeper', onOne)
else describeSome('ZooKeeper, every eighth rule', onOne, 8)
if (CRONCE_LONG === '1') describeStore('ZooKeeper, an ensemble of three', onThree)
