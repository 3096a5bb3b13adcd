import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { startRedis, startRedisCluster } from '../../../../scripts/servers/index.ts'
import { redis } from '../../src/store/redis/redis.ts'
import { describeStore } from '../../src/testing/conformance/describe-store.ts'

describeStore('Redis, by ioredis', async () => {
  const server = await startRedis()
  const client = new Redis(server.url, { lazyConnect: true, keyPrefix: 'mine:' })
  return { source: redis(client), dispose: () => server.stop() }
})

const { CRONCE_LONG } = process.env

const byNodeRedis = async () => {
  const server = await startRedis()
  return { source: redis(createClient({ url: server.url })), dispose: () => server.stop() }
}

// Both clients do as told, which their own tests show each time; what the store makes of it is the same.
if (CRONCE_LONG === '1') describeStore('Redis, by node-redis', byNodeRedis)

describeStore('Redis Cluster of three', async () => {
  const cluster = await startRedisCluster()
  const nodes = cluster.urls.map((url) => new URL(url).host).join()
  return { source: redis(`redis-cluster://${nodes}`), dispose: () => cluster.stop() }
})
