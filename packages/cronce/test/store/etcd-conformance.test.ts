import { startEtcd, startEtcdCluster } from '../../../../scripts/servers/index.ts'
import { etcd } from '../../src/store/etcd/etcd.ts'
import type { StoreUnderTest } from '../../src/testing/conformance/bench.ts'
import { describeStore } from '../../src/testing/conformance/describe-store.ts'
import { driverAt, sourceWithClock } from './etcd-kit.ts'
import { ageInstances, describeRules, describeSome, inTurn } from './kv-kit.ts'

const onOne = async (): Promise<StoreUnderTest<never>> => {
  const server = await startEtcd()
  return {
    source: etcd({ endpoints: [server.url] }),
    age: (namespace, ms) => ageInstances(driverAt(server.url), namespace, ms),
    dispose: () => server.stop(),
  }
}

const onThree = async (): Promise<StoreUnderTest<never>> => {
  const cluster = await startEtcdCluster()
  return {
    source: inTurn(cluster.urls.map((url) => etcd({ endpoints: [url] }))),
    age: (namespace, ms) => ageInstances(driverAt(cluster.urls[0]!), namespace, ms),
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
describeRules('etcd, with a clock that can be set', onClock, (title, _, needs) => {
  return needs === 'clock' && !LEASES.test(title)
})
