import { startRedis } from '../../../../scripts/servers/index.ts'
import { redis } from '../../src/store/redis/redis.ts'
import { describeStore } from '../../src/testing/conformance/describe-store.ts'

describeStore('Redis', async () => {
  const server = await startRedis()
  return { source: redis(server.url), dispose: () => server.stop() }
})
