import { after, before, describe } from 'node:test'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { startRedis, startRedisCluster } from '../../../../scripts/servers/index.ts'
import { namespaceKey } from '../../src/store/redis/keys.ts'
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
  const meta = (namespace: string): string => namespaceKey('cronce', namespace)
  const own = new Redis(server.url)
  return {
    source: redis(client),
    async age(namespace, ms) {
      const key = `${meta(namespace)}:gone`
      for (const id of await own.zrange(key, '0', '-1')) await own.zincrby(key, String(-ms), id)
    },
    async setBack(namespace, ms) {
      for (const id of await own.smembers(`${meta(namespace)}:live`))
        await own.hincrby(`${meta(namespace)}:instance:${id}`, 'ends', String(ms))
    },
    // The server is another one, by its run id.
    async failOver(namespace) {
      await own.hset(meta(namespace), 'run', 'another')
    },
    async dispose() {
      await own.quit()
      await server.stop()
    },
  }
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
  // The clients' own tests show each time that both work; the store behaves the same on both.
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
