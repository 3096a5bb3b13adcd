import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redisCommand, redisPrimaryPort, startRedis, startRedisReplica, startRedisSentinel } from './index.ts'
import { waitUntil } from './wait.ts'

const PATIENCE_MS = 60_000

test('a sentinel promotes the replica of a dead primary', async (context) => {
  const primary = await startRedis()
  context.after(() => primary.stop())
  const replica = await startRedisReplica(primary)
  context.after(() => replica.stop())
  const sentinel = await startRedisSentinel(primary)
  context.after(() => sentinel.stop())
  assert.equal(await redisPrimaryPort(sentinel), primary.port)

  await primary.kill()

  const isReplaced = async () => (await redisPrimaryPort(sentinel)) === replica.port
  assert.ok(await waitUntil(isReplaced, PATIENCE_MS))
  assert.equal(await redisCommand(replica, 'SET', 'key', '1'), 'OK')
})
