import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  promoteRedis,
  redisCommand,
  redisText,
  type Server,
  startRedis,
  startRedisReplica,
} from '../../../../scripts/servers/index.ts'
import { redis } from '../../src/store/redis/redis.ts'
import type { Store } from '../../src/store/store.ts'
import { applyOne, create, join, loadOne } from '../../src/testing/conformance/bench.ts'
import { beat, change, claim, decideIn, JOB, schedule } from '../../src/testing/conformance/samples.ts'
import { startDoor } from './redis-door.ts'
import { afterwards } from './sqlite-kit.ts'

const QUERY = { jobs: [{ job: JOB, buckets: '1'.repeat(256) }], patienceMs: 0, limit: 10 }
let namespaces = 0

/** Closed when the test ends, however it ends. */
async function openIn(context: TestContext, url: string, namespace = `epoch-${++namespaces}`): Promise<Store> {
  const store = await redis(url).open({ namespace, adopt: false, production: false, warn: () => {} })
  context.after(() => store.close())
  decideIn(store.info.epoch)
  return store as Store
}

/** A server that comes back takes a moment to be found again. */
async function persist<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 0; ; tries++) {
    try {
      return await ask()
    } catch (error) {
      if (tries === 600) throw error
      await sleep(100)
    }
  }
}

describe('a Redis server that is restarted', () => {
  let server: Server
  before(async () => {
    server = await startRedis()
  })
  after(() => server.stop())

  test('continues in another epoch, with all of its data, and reports that nothing was lost', async (context) => {
    const store = await openIn(context, server.url)
    await join(store, 'i')
    const state = await create(store, schedule('s'))
    const { epoch } = store.info
    await server.kill()
    await server.restart()
    const answer = await persist(() => store.beat(beat('i')))
    assert.deepEqual([answer.epoch > epoch, answer.lost, answer.alive], [true, false, true])
    assert.deepEqual(await loadOne(store, 's'), state)
    // What was decided before is not written any more.
    assert.deepEqual(await applyOne(store, change(state, { fired: 1 }, { epoch })), { kind: 'conflict' })
    assert.deepEqual(await applyOne(store, change(state, { fired: 1 }, { epoch: answer.epoch })), { kind: 'applied' })
  })

  test('holds claims until every live instance has reported what it knows, and waits for none that has ended', async (context) => {
    const store = await openIn(context, server.url)
    await join(store, 'i', 'j', 'gone')
    const state = await create(store, schedule('s'))
    await server.restart()
    const { epoch } = await persist(() => store.load([]))
    const claimant = { instance: 'i', leaseMs: 60_000 }
    const claimed = { ...claim(state, { instance: 'i' }), epoch }
    const claimable = async () => [
      (await store.due(QUERY)).schedules.length,
      (await applyOne(store, claimed, { claimant })).kind,
    ]
    assert.deepEqual(await claimable(), [0, 'conflict'])
    await store.beat({ ...beat('i'), settled: epoch })
    await store.beat({ ...beat('j'), settled: epoch - 1 })
    assert.deepEqual(await claimable(), [0, 'conflict'])
    await store.beat({ ...beat('j'), settled: epoch })
    assert.deepEqual(await claimable(), [0, 'conflict'])
    await store.beat(beat('gone', { state: 'left' }))
    assert.deepEqual(await claimable(), [1, 'applied'])
  })

  test('makes watchers renew at once', async (context) => {
    const store = await openIn(context, server.url)
    await join(store, 'i')
    const hints: string[] = []
    store.watch((hint) => hints.push(hint))
    await server.restart()
    await persist(() => store.load([]))
    for (let tries = 0; !hints.includes('doubt') && tries < 1_200; tries++) await sleep(50)
    assert.ok(hints.includes('doubt'))
  })
})

test('a server that lost everything is reported by instances that knew it, and its tokens keep growing', async (context) => {
  const server = await startRedis({ appendonly: false })
  afterwards(context, () => server.stop())
  const store = await openIn(context, server.url)
  await join(store, 'i')
  await create(store, schedule('s'))
  const { epoch } = store.info
  await server.kill()
  await server.restart()
  const answer = await persist(() => store.beat(beat('i')))
  assert.deepEqual([answer.epoch > epoch, answer.lost, answer.alive], [true, true, false])
  assert.equal(await loadOne(store, 's'), null)
  // It reports this for as long as this epoch lasts, and no longer.
  assert.equal((await store.beat(beat('i', { join: true }))).lost, true)
  await redisCommand(server, 'FLUSHALL')
  const again = await store.beat(beat('i'))
  assert.deepEqual([again.epoch > answer.epoch, again.lost], [true, true])
})

test('a server without memory begins above every epoch of an hour ago', async (context) => {
  const server = await startRedis({ appendonly: false })
  afterwards(context, () => server.stop())
  const store = await openIn(context, server.url)
  const hours = Math.floor((Date.now() - Date.UTC(2025, 0, 1)) / 3_600_000)
  assert.ok(Math.abs(store.info.epoch - hours) <= 1, `${store.info.epoch}`)
})

test('a replica that lacks the last writes is found out by an instance that saw them, even if others came first', async (context) => {
  const primary = await startRedis()
  afterwards(context, () => primary.stop())
  const replica = await startRedisReplica(primary)
  afterwards(context, () => replica.stop())
  const door = await startDoor(primary)
  context.after(() => door.close())
  const store = await openIn(context, door.url, 'cut')
  await join(store, 'i')
  await create(store, schedule('kept'))
  const [epoch, marks] = [store.info.epoch, ['HGET', 'cronce:{cut}', 'mark']]
  const mark = await redisText(primary, ...marks)
  await persist(async () => assert.equal(await redisText(replica, ...marks), mark))
  await promoteRedis(replica)
  const [idle, busy] = [await openIn(context, door.url, 'cut'), await openIn(context, door.url, 'cut')]
  await create(busy, schedule('lost'))

  // An instance that has seen none of it writes more than was lost, before its peers are there.
  const first = await openIn(context, replica.url, 'cut')
  assert.ok(first.info.epoch > epoch)
  for (let number = 0; number < 20; number++) await create(first, schedule(`new-${number}`))
  door.lead(replica)
  for (const [opening, isLost] of [
    [store, false],
    [idle, false],
    [busy, true],
  ] as const) {
    const { lost, epoch } = await persist(() => opening.beat(beat('i')))
    assert.deepEqual([lost, epoch], [isLost, first.info.epoch])
  }
  assert.equal(await loadOne(busy, 'lost'), null)
})

test('two servers that reach the same epoch independently are distinguished', async (context) => {
  const servers = [await startRedis(), await startRedis()] as const
  context.after(() => Promise.all(servers.map((server) => server.stop())))
  const door = await startDoor(servers[0])
  context.after(() => door.close())
  const store = await openIn(context, door.url, 'twin')
  const other = await openIn(context, servers[1].url, 'twin')
  await join(store, 'i')
  await join(other, 'j')
  assert.equal(store.info.epoch, other.info.epoch)
  door.lead(servers[1])
  const { lost, epoch } = await persist(() => store.beat(beat('i')))
  assert.deepEqual([lost, epoch], [true, other.info.epoch + 1])
})
