import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redisCommand, startRedisCluster } from '../../../../scripts/servers/index.ts'
import { connect, cronce } from '../../src/index.ts'
import { redis } from '../../src/store/redis/redis.ts'
import { until } from '../processes/fleet.ts'
import { afterwards } from './sqlite-kit.ts'

test('a slot that moves under load tears nothing apart: what ran is what is on record', async (context) => {
  const cluster = await startRedisCluster()
  afterwards(context, () => cluster.stop())
  const nodes = cluster.urls.map((url) => new URL(url).host).join()
  const store = redis(`redis-cluster://${nodes}`)
  const app = cronce({ store, namespace: 'moving', logger: false, signals: false })
  const ran = new Map<string, number>()
  app.job('tick', {}, ({ fire }) => {
    const key = `${fire.schedule} ${fire.dueAt}`
    ran.set(key, (ran.get(key) ?? 0) + 1)
  })
  await app.schedules.createMany(
    Array.from({ length: 20 }, (_, number) => [`s${number}`, { job: 'tick', every: 100 }] as const),
  )
  await app.start()
  const slot = await cluster.slotOf('cronce:{moving}')
  for (let move = 0; move < 6; move++) {
    const from = await cluster.ownerOf(slot)
    const before = ran.size
    const { finish } = await cluster.beginMove(slot, cluster.nodes[(cluster.nodes.indexOf(from) + 1) % 3]!)
    await new Promise((resolve) => setTimeout(resolve, 150))
    await finish()
    await until('more has run', () => ran.size > before)
  }
  await app.stop()
  const client = await connect({ store, namespace: 'moving' })
  const recorded: string[] = []
  for await (const { schedule, dueAt } of client.fires.all({ outcome: 'succeeded' }))
    recorded.push(`${schedule} ${+dueAt}`)
  await client.close()
  assert.deepEqual(
    [...ran.values()].filter((runs) => runs > 1),
    [],
    'none ran twice',
  )
  assert.deepEqual(recorded.sort(), [...ran.keys()].sort())

  // Everything is where it belongs.
  const owner = await cluster.ownerOf(slot)
  const counts = await Promise.all(cluster.nodes.map((node) => redisCommand(node, 'DBSIZE')))
  assert.deepEqual(
    counts.map((count) => Number(count) > 0),
    cluster.nodes.map((node) => node === owner),
  )
  assert.equal(
    await redisCommand(owner, 'CLUSTER', 'COUNTKEYSINSLOT', String(slot)),
    await redisCommand(owner, 'DBSIZE'),
  )
})
