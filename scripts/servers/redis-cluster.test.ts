import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type RedisCluster, redisCommand, redisText, type Server, startRedisCluster } from './index.ts'
import { waitUntil } from './wait.ts'

const PATIENCE_MS = 60_000

describe('a Redis Cluster', () => {
  let cluster: RedisCluster
  before(async () => {
    cluster = await startRedisCluster({ settings: { 'cluster-node-timeout': '1000' } })
  })
  after(() => cluster.stop())

  test('has three nodes that share all slots, and redirect requests for the wrong one', async () => {
    assert.equal(cluster.nodes.length, 3)
    for (const key of ['one', 'two', 'three', 'four']) {
      const owner = await ownerOf(key)
      assert.equal(await redisCommand(owner, 'SET', key, 'kept'), 'OK')
      const moved = new RegExp(`MOVED ${await cluster.slotOf(key)} .*:${owner.port}`)
      for (const other of cluster.nodes.filter((node) => node !== owner)) {
        await assert.rejects(redisCommand(other, 'GET', key), moved)
      }
    }
  })

  test('moves a slot with its keys', async () => {
    const keys = Array.from({ length: 250 }, (_, index) => `{moved}:${index}`)
    const from = await ownerOf('{moved}')
    const to = cluster.nodes.find((node) => node !== from)!
    for (const key of keys) await redisCommand(from, 'SET', key, key)

    await cluster.moveSlot(await cluster.slotOf('{moved}'), to)

    assert.equal(await ownerOf('{moved}'), to)
    await assert.rejects(redisCommand(from, 'GET', keys[0]!), /MOVED/)
    for (const key of keys) assert.equal(await redisCommand(to, 'GET', key), key)
    await cluster.isWell()
  })

  test('answers ASK while a slot is being moved', async () => {
    const from = await ownerOf('{asked}')
    const to = cluster.nodes.find((node) => node !== from)!
    await redisCommand(from, 'SET', '{asked}:there', '1')

    const { finish } = await cluster.beginMove(await cluster.slotOf('{asked}'), to)

    assert.equal(await redisCommand(from, 'GET', '{asked}:there'), '1')
    await assert.rejects(redisCommand(from, 'GET', '{asked}:new'), /ASK/)
    await assert.rejects(redisCommand(from, 'MGET', '{asked}:there', '{asked}:new'), /TRYAGAIN|ASK/)
    await finish()
    assert.equal(await redisCommand(to, 'GET', '{asked}:there'), '1')
  })

  test('is down without one of its nodes, and well again with it and its data', async () => {
    const owner = await ownerOf('lost')
    const other = cluster.nodes.find((node) => node !== owner)!
    await redisCommand(owner, 'SET', 'lost', 'kept')

    await owner.kill()
    const isDown = async () => (await redisText(other, 'CLUSTER', 'INFO')).includes('cluster_state:fail')
    assert.ok(await waitUntil(isDown, PATIENCE_MS))

    await owner.restart()
    await cluster.isWell()
    assert.equal(await redisCommand(owner, 'GET', 'lost'), 'kept')
  })

  const ownerOf = async (key: string): Promise<Server> => cluster.ownerOf(await cluster.slotOf(key))
})
