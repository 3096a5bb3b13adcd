import { after, before, describe } from 'node:test'
import { startEtcd, startEtcdCluster } from '../../../../scripts/servers/index.ts'
import { etcd } from '../../src/store/etcd/etcd.ts'
import type { StoreSource } from '../../src/store/store.ts'
import { type Rule, ruleFor, type StoreUnderTest } from '../../src/testing/conformance/bench.ts'
import { describeStore, NOUNS } from '../../src/testing/conformance/describe-store.ts'
import { ageInstances, sourceWithClock } from './etcd-kit.ts'

const onOne = async (): Promise<StoreUnderTest<never>> => {
  const server = await startEtcd()
  return {
    source: etcd({ endpoints: [server.url] }),
    age: (namespace, ms) => ageInstances(server.url, namespace, ms),
    dispose: () => server.stop(),
  }
}

const onThree = async (): Promise<StoreUnderTest<never>> => {
  const cluster = await startEtcdCluster()
  const sources = cluster.urls.map((url) => etcd({ endpoints: [url] }))
  let openings = 0
  // Every opening is connected to another member: what one of them wrote, the next one must see.
  const source: StoreSource<never> = {
    name: 'etcd',
    open: (options) => sources[openings++ % sources.length]!.open(options),
  }
  return {
    source,
    age: (namespace, ms) => ageInstances(cluster.urls[0]!, namespace, ms),
    dispose: () => cluster.stop(),
  }
}

const { CRONCE_LONG, MUTANT } = process.env
// Every commit waits for a disk, and many rules for a lease of two seconds: the rest is for the long run.
if (CRONCE_LONG === '1' || MUTANT !== undefined) describeStore('etcd', onOne)
else describeSome('etcd, every third rule', onOne, 3)
if (CRONCE_LONG === '1') describeStore('etcd, three members', onThree)
else if (MUTANT === undefined) describeSome('etcd, three members, every twelfth rule', onThree, 12)

const onClock = async (): Promise<StoreUnderTest<never>> => {
  const server = await startEtcd()
  let now = Date.UTC(2026, 5, 1, 9, 30)
  const advance = (ms: number): void => {
    now += ms
  }
  return { source: sourceWithClock(server.url, () => now), clock: { advance }, dispose: () => server.stop() }
}

/** Leases are etcd's own, in whole seconds: no clock that can be set here moves them. */
const LEASES = /lease/
describe('etcd, with a clock that can be set', () => {
  let under: StoreUnderTest
  before(async () => {
    under = await onClock()
  })
  after(() => under.dispose())
  const all = ruleFor(() => under)
  const timed: Rule = (title, body, needs) => {
    if (needs === 'clock' && !LEASES.test(title)) all(title, body, needs)
  }
  for (const rules of Object.values(NOUNS)) rules(timed)
})

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
