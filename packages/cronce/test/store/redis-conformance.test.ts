import { after, before, describe } from 'node:test'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { startRedis, startRedisCluster } from '../../../../scripts/servers/index.ts'
import { redis } from '../../src/store/redis/redis.ts'
import { appRules } from '../../src/testing/conformance/apps.ts'
import { type Rule, ruleFor, type StoreUnderTest } from '../../src/testing/conformance/bench.ts'
import { changingRules } from '../../src/testing/conformance/changing.ts'
import { claimingRules } from '../../src/testing/conformance/claiming.ts'
import { describeStore } from '../../src/testing/conformance/describe-store.ts'
import { instanceRules } from '../../src/testing/conformance/instances.ts'
import { listingRules } from '../../src/testing/conformance/listing.ts'
import { namespaceRules } from '../../src/testing/conformance/namespaces.ts'
import { planningRules } from '../../src/testing/conformance/planning.ts'
import { retentionRules } from '../../src/testing/conformance/retention.ts'
import { stepRules } from '../../src/testing/conformance/steps.ts'
import { wakeRules } from '../../src/testing/conformance/wake.ts'

const { CRONCE_LONG } = process.env

describeStore('Redis, by ioredis', async () => {
  const server = await startRedis()
  const client = new Redis(server.url, { lazyConnect: true, keyPrefix: 'mine:' })
  return { source: redis(client), dispose: () => server.stop() }
})

const byNodeRedis = async () => {
  const server = await startRedis()
  return { source: redis(createClient({ url: server.url })), dispose: () => server.stop() }
}

const onCluster = async (): Promise<StoreUnderTest> => {
  const cluster = await startRedisCluster()
  const nodes = cluster.urls.map((url) => new URL(url).host).join()
  return { source: redis(`redis-cluster://${nodes}`), dispose: () => cluster.stop() }
}

if (CRONCE_LONG === '1') {
  // Both clients do as told, which their own tests show each time; what the store makes of it is the same.
  describeStore('Redis, by node-redis', byNodeRedis)
  describeStore('Redis Cluster of three', onCluster)
} else {
  // A cluster runs the same scripts, and refuses those that touch keys of several slots: some rules for each kind of key will do.
  describe('Redis Cluster of three, every third rule', () => {
    let under: StoreUnderTest
    before(async () => {
      under = await onCluster()
    })
    after(() => under.dispose())
    const rule = everyThird(ruleFor(() => under))
    const nouns = [planningRules, changingRules, claimingRules, stepRules, instanceRules, appRules, listingRules]
    for (const rules of [...nouns, retentionRules, namespaceRules, wakeRules]) rules(rule)
  })
}

function everyThird(rule: Rule): Rule {
  let count = 0
  return (...given) => {
    if (count++ % 3 === 0) rule(...given)
  }
}
