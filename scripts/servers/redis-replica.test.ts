import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startProxy } from '../../verification/chaos/proxy.ts'
import { promoteRedis, redisCommand, redisReplicaOnline, redisText, startRedis, startRedisReplica } from './index.ts'
import { waitUntil } from './wait.ts'

const PATIENCE_MS = 60_000

test('a replica follows, refuses writes, and accepts them once promoted, without what it never received', async (context) => {
  const primary = await startRedis()
  context.after(() => primary.stop())
  const between = await startProxy({ host: '127.0.0.1', port: primary.port })
  context.after(() => between.close())
  await redisCommand(primary, 'SET', 'before', '1')
  const replica = await startRedisReplica(primary, { port: between.port })
  context.after(() => replica.stop())

  assert.equal(await redisCommand(replica, 'GET', 'before'), '1')
  await redisCommand(primary, 'SET', 'after', '2')
  assert.ok(
    await waitUntil(async () => (await redisCommand(replica, 'GET', 'after')) === '2', PATIENCE_MS),
    'it follows',
  )
  await assert.rejects(redisCommand(replica, 'SET', 'refused', '1'), /READONLY/)

  await replica.kill()
  await replica.restart()
  await redisReplicaOnline(primary, replica)
  await assert.rejects(redisCommand(replica, 'SET', 'refused', '1'), /READONLY/, 'it goes on following after a crash')

  between.mode('black-hole')
  assert.equal(await redisCommand(primary, 'SET', 'lost', '3'), 'OK', 'acknowledged')
  const runId = await runIdOf(primary)
  await promoteRedis(replica)

  assert.equal(await redisCommand(replica, 'GET', 'lost'), null, 'and lost')
  assert.notEqual(await runIdOf(replica), runId, 'the promotion is visible')
  assert.equal(await redisCommand(replica, 'SET', 'kept', '4'), 'OK')
  assert.equal(await redisCommand(primary, 'EXISTS', 'kept'), 0, 'the old one does not know')

  await replica.restart()
  assert.equal(await redisCommand(replica, 'SET', 'kept', '5'), 'OK', 'it stays a primary')
})

test('a primary that must wait for its replica can, as soon as the replica is started', async (context) => {
  const primary = await startRedis({ settings: { 'min-replicas-to-write': '1' } })
  context.after(() => primary.stop())
  await assert.rejects(redisCommand(primary, 'SET', 'key', '1'), /NOREPLICAS/)

  const replica = await startRedisReplica(primary)
  context.after(() => replica.stop())

  assert.equal(await redisCommand(primary, 'SET', 'key', '1'), 'OK')
})

async function runIdOf(server: { readonly port: number }): Promise<string> {
  return /^run_id:(\w+)/m.exec(await redisText(server, 'INFO', 'server'))![1]!
}
