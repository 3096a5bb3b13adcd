import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { redisCommand, type Server, startRedis } from '../../../../scripts/servers/index.ts'
import type { Link } from '../../src/store/redis/link.ts'
import { Asker } from '../../src/store/redis/moment.ts'
import { LOAD } from '../../src/store/redis/scripts.ts'
import { applyOne, create, join, loadOne, renewalsOf, running } from '../../src/testing/conformance/bench.ts'
import { beat, claim, decideIn, JOB, schedule } from '../../src/testing/conformance/samples.ts'
import { startDoor } from './redis-door.ts'
import { callsOf, copyKeys, LOOKS, moveEpoch, openAt, persist, startCrossing, until } from './redis-races-kit.ts'
import { afterwards } from './sqlite-kit.ts'

const QUERY = { jobs: [{ job: JOB, buckets: '1'.repeat(256) }], patienceMs: 0, limit: 10 }
/** Over in a moment. Nothing here depends on how soon. */
const SHORT_MS = 50

let server: Server
let second: Server
before(async () => {
  server = await startRedis({ appendonly: false })
  second = await startRedis({ appendonly: false })
})
after(() => Promise.all([server?.stop(), second?.stop()]))

describe('when the epoch of Redis has moved', () => {
  test('claims are held for an instance that renews and has not settled, however long that takes', async (context) => {
    const { store, key } = await openAt(context, server.url)
    for (const id of ['quick', 'slow', 'silent']) await store.beat(beat(id, { join: true, leaseMs: SHORT_MS }))
    const state = await create(store, schedule('s'))
    await moveEpoch(server, key)
    const { epoch } = await store.beat(beat('slow'))
    await store.beat({ ...beat('quick'), settled: epoch })
    const claimed = { ...claim(state, { instance: 'quick', epoch }), epoch }
    const tryIt = () => applyOne(store, claimed, { claimant: { instance: 'quick', leaseMs: 60_000 } })
    const isExpired = async (id: string) =>
      (await store.listInstances()).instances.find((instance) => instance.id === id)?.expired

    // Every lease of before would be over by now.
    await until(async () => (await isExpired('silent')) === true)
    assert.deepEqual([(await store.due(QUERY)).schedules.length, (await tryIt()).kind], [0, 'conflict'])

    // Instances whose lease has expired are not waited for.
    await store.beat({ ...beat('slow'), settled: epoch })
    assert.deepEqual([(await store.due(QUERY)).schedules.length, (await tryIt()).kind], [1, 'applied'])
  })

  test('all leases restart: no instance is declared dead for the time in which none could renew', async (context) => {
    const { store, key } = await openAt(context, server.url)
    await store.beat(beat('i', { join: true, leaseMs: SHORT_MS }))
    const expired = async () => (await store.listInstances()).instances.map((instance) => instance.expired)
    await until(async () => (await expired())[0] === true)
    const renewals = await renewalsOf(store, 'i')

    await moveEpoch(server, key)
    assert.equal(await store.mark({ kind: 'dead', instance: 'i', renewals, hint: false }), false)
    await moveEpoch(server, key)
    assert.deepEqual(await expired(), [false])
    assert.equal((await store.beat(beat('i'))).alive, true)
  })

  test('only a heartbeat that settles wakes, and only once: woken instances renew as well', async (context) => {
    const { store, key, namespace } = await openAt(context, server.url)
    const { store: other } = await openAt(context, server.url, namespace)
    await join(store, 'i', 'j')
    let wakes = 0
    const subscribed = () => callsOf(server, 'ssubscribe', 'subscribe')
    const unwatched = await subscribed()
    other.watch((hint) => {
      if (hint === 'wake') wakes++
    })
    await until(async () => (await subscribed()) > unwatched)
    const earlier = store.info.epoch
    await moveEpoch(server, key)
    const { epoch } = await store.load([])
    const told = () => callsOf(server, 'spublish', 'publish')
    const before = await told()

    for (let beats = 0; beats < 5; beats++) {
      await store.beat(beat('i'))
      await store.beat({ ...beat('j'), settled: earlier })
    }
    assert.equal(await told(), before)
    for (let beats = 0; beats < 5; beats++) await store.beat({ ...beat('i'), settled: epoch })
    assert.equal(await told(), before + 1)
    await until(() => wakes > 0)
  })
})

describe('lost writes are noticed', () => {
  test('by an instance that comes back to a server that never had them, however much that server has seen', async (context) => {
    const door = await startDoor(server)
    afterwards(context, () => door.close())
    const { store, namespace } = await openAt(context, door.url)
    const { store: other } = await openAt(context, second.url, namespace)
    await join(store, 'i')
    await join(other, 'j')
    for (let number = 0; number < 20; number++) await create(other, schedule(`other-${number}`))
    door.lead(second)
    await persist(() => store.beat(beat('i', { join: true })))
    door.lead(server)
    decideIn((await persist(() => store.beat(beat('i')))).epoch)
    await create(store, schedule('mine'))

    door.lead(second)
    const { lost } = await persist(() => store.beat(beat('i')))
    assert.deepEqual([lost, await loadOne(store, 'mine')], [true, null])
  })

  test('also those of an epoch without a heartbeat', async (context) => {
    const door = await startDoor(server)
    afterwards(context, () => door.close())
    const { store, key } = await openAt(context, door.url)
    await join(store, 'i')
    await create(store, schedule('kept'))
    await copyKeys(server, second, key)
    await moveEpoch(server, key)
    decideIn((await store.load([])).epoch)
    await create(store, schedule('lost'))

    door.lead(second)
    await persist(() => store.load([]))
    const { lost, alive } = await store.beat(beat('i'))
    assert.deepEqual([lost, alive], [true, true])
    assert.deepEqual([(await loadOne(store, 'kept'))?.id, await loadOne(store, 'lost')], ['kept', null])
  })

  test('by the history that came with the answer, not by a later one', async () => {
    const answers = ['1000 7 50 aa', '1000 8 50 aa', '1000 9 3 bb']
    const link = { run: async () => [answers.shift()!] } satisfies Partial<Link>
    const asker = new Asker(link as unknown as Link, 'key', { waits: false, onMove: () => {} })
    await asker.ask(LOAD, [])
    const { epoch } = await asker.ask(LOAD, [])
    // Another call was answered before that answer was read.
    await asker.ask(LOAD, [])
    assert.equal(asker.isLost('7:0:aa 8:50:aa', epoch), false)
    assert.equal(asker.isLost('7:0:aa 9:3:bb', 9), true)
    assert.equal(asker.isLost('7:0:aa 9:3:bb', 9), true)
  })
})

test('an instance that asks another server than it listens to reports no deaths', async (context) => {
  const crossing = await startCrossing(context, server)
  const { store, namespace } = await openAt(context, crossing.url)
  const { store: other } = await openAt(context, server.url, namespace)
  await join(store, 'i')
  await join(other, 'j')
  await running(other, 's', { instance: 'j', epoch: other.info.epoch })
  await store.beat(beat('i'))
  const looks = () => callsOf(server, ...LOOKS)
  const before = await looks()
  const probing = store.probe(['j']).catch(() => null)
  await until(async () => (await looks()) > before)

  // Its commands go elsewhere from now on, while its session stays.
  crossing.turn(second)
  await redisCommand(server, 'CLIENT', 'KILL', 'TYPE', 'normal')
  assert.deepEqual((await probing) ?? (await persist(() => store.probe(['j']))), [])
  assert.equal((await persist(() => other.beat(beat('j')))).alive, true)
})
