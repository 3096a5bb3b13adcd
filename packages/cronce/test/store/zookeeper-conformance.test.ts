import { after, before, describe } from 'node:test'
import { startZooKeeper, startZooKeeperEnsemble } from '../../../../scripts/servers/index.ts'
import type { StoreSource } from '../../src/store/store.ts'
import { zookeeper } from '../../src/store/zookeeper/zookeeper.ts'
import { type Rule, ruleFor, type StoreUnderTest } from '../../src/testing/conformance/bench.ts'
import { describeStore, NOUNS } from '../../src/testing/conformance/describe-store.ts'
import { ageInstances } from './zookeeper-kit.ts'

const onOne = async (): Promise<StoreUnderTest<never>> => {
  const server = await startZooKeeper()
  return {
    source: zookeeper(server.url),
    age: (namespace, ms) => ageInstances(server.url, namespace, ms),
    dispose: () => server.stop(),
  }
}

const onThree = async (): Promise<StoreUnderTest<never>> => {
  const ensemble = await startZooKeeperEnsemble()
  const sources = ensemble.addresses.map((address) => zookeeper({ servers: [address] }))
  let openings = 0
  // Every opening is connected to another server: what one of them wrote, the next one must see.
  const source: StoreSource<never> = {
    name: 'ZooKeeper',
    open: (options) => sources[openings++ % sources.length]!.open(options),
  }
  return {
    source,
    age: (namespace, ms) => ageInstances(ensemble.members[0]!.url, namespace, ms),
    dispose: () => ensemble.stop(),
  }
}

const { CRONCE_LONG, MUTANT } = process.env
// Every commit waits for a disk, and many rules for a lease of two seconds: the rest is for the long run.
if (CRONCE_LONG === '1' || MUTANT !== undefined) describeStore('ZooKeeper', onOne)
else describeSome('ZooKeeper, every eighth rule', onOne, 8)
if (CRONCE_LONG === '1') describeStore('ZooKeeper, an ensemble of three', onThree)

function describeSome(name: string, open: () => Promise<StoreUnderTest>, share: number): void {
  describe(name, () => {
    let under: StoreUnderTest
    before(async () => {
      under = await open()
    })
    after(() => under.dispose())
    let count = 0
    const all = ruleFor(() => under)
    const some: Rule = (...given) => {
      if (count++ % share === 0) all(...given)
    }
    for (const rules of Object.values(NOUNS)) rules(some)
  })
}
