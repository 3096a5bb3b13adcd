import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  promoteRedis,
  redisCommand,
  redisReplicaOnline,
  redisText,
  type Server,
  startRedis,
  startRedisReplica,
} from '../../../../scripts/servers/index.ts'
import type { ScheduleState } from '../../src/model/schedule.ts'
import { applyAll, applyOne, create, join, loadOne } from '../../src/testing/conformance/bench.ts'
import {
  after,
  beat,
  change,
  claim,
  definition,
  runOf,
  schedule,
  settlement,
} from '../../src/testing/conformance/samples.ts'
import { copyKeys, openAt, persist, until } from './redis-races-kit.ts'
import { afterwards } from './sqlite-kit.ts'

const LINK_UP = 'master_link_status:up'

async function hasSameMark(one: Server, other: Server, key: string): Promise<boolean> {
  return (await redisText(one, 'HGET', key, 'mark')) === (await redisText(other, 'HGET', key, 'mark'))
}

/** Makes the primary a replica of this server until it has the data of it, and then a primary again. Its process stays the same. */
async function demoteAndPromote(primary: Server, other: Server): Promise<void> {
  await redisCommand(primary, 'REPLICAOF', '127.0.0.1', String(other.port))
  await until(async () => (await redisText(primary, 'INFO', 'replication')).includes(LINK_UP))
  await redisCommand(primary, 'REPLICAOF', 'NO', 'ONE')
}

test('a Redis primary that is demoted and promoted again with older data begins another epoch', async (context) => {
  const primary = await startRedis()
  afterwards(context, () => primary.stop())
  const replica = await startRedisReplica(primary)
  afterwards(context, () => replica.stop())
  const { store: busy, namespace, key } = await openAt(context, primary.url)
  const { store: idle } = await openAt(context, primary.url, namespace)
  await join(busy, 'busy')
  await join(idle, 'idle')
  const state = await create(busy, schedule('s'))
  const { epoch } = busy.info
  await until(() => hasSameMark(primary, replica, key))
  await promoteRedis(replica)
  const claimed = claim(state, { instance: 'busy', epoch })
  await applyAll(busy, [claimed], { claimant: { instance: 'busy', leaseMs: 60_000 } })
  await demoteAndPromote(primary, replica)

  // The instance that saw none of the lost writes comes first, and writes more than that.
  const { epoch: next } = await persist(() => idle.beat(beat('idle')))
  for (let number = 0; number < 9; number++) await idle.beat(beat('idle'))
  const again = (await loadOne(idle, 's'))!
  const claimedAgain = { ...claim(again, { instance: 'idle', epoch }), epoch: next }
  assert.deepEqual(
    await applyOne(idle, claimedAgain, { claimant: { instance: 'idle', leaseMs: 60_000 } }),
    { kind: 'conflict' },
    'claims wait for the instance that knows of the lost run',
  )
  const { epoch: seen, lost } = await persist(() => busy.beat(beat('busy')))
  assert.deepEqual([next > epoch, seen, lost], [true, next, true])
  assert.deepEqual(await applyOne(busy, settlement(after(claimed), runOf(claimed))), { kind: 'conflict' })
})

test('a Redis server whose data goes back under the same identifiers is found out by the count of writes', async (context) => {
  const [server, backup] = [await startRedis({ appendonly: false }), await startRedis({ appendonly: false })]
  context.after(() => Promise.all([server.stop(), backup.stop()]))
  const { store, namespace, key } = await openAt(context, server.url)
  const { store: other } = await openAt(context, server.url, namespace)
  await join(store, 'i')
  const state = await create(store, schedule('s'))
  const { epoch } = store.info
  await copyKeys(server, backup, key)
  await applyAll(store, [change(state, { fired: 1 })])
  await redisCommand(server, 'FLUSHALL')
  await copyKeys(backup, server, key)

  assert.equal((await other.load([])).epoch, epoch, 'a process that saw nothing of it goes on')
  const { epoch: next, lost } = await store.beat(beat('i'))
  assert.deepEqual([next > epoch, lost], [true, true])
  assert.equal((await other.load([])).epoch, next)
  assert.equal((await store.beat(beat('i'))).epoch, next, 'the epoch moves once')
})

test('a Redis replica that connects again to the same primary does not move the epoch', async (context) => {
  const primary = await startRedis()
  afterwards(context, () => primary.stop())
  const replica = await startRedisReplica(primary)
  afterwards(context, () => replica.stop())
  const { store } = await openAt(context, primary.url)
  await create(store, schedule('s'))
  const { epoch } = store.info
  await redisCommand(primary, 'CLIENT', 'KILL', 'TYPE', 'replica')
  await until(async () => (await redisText(replica, 'INFO', 'replication')).includes(LINK_UP))
  await redisReplicaOnline(primary, replica)
  assert.equal((await store.load([])).epoch, epoch)
})

test('a definition that Redis lost is not taken for another one of the same version', async (context) => {
  const server = await startRedis({ appendonly: false })
  afterwards(context, () => server.stop())
  const { store: first, namespace } = await openAt(context, server.url)
  const before = await create(first, schedule('s'))
  await redisCommand(server, 'SAVE')
  const redefine = (state: ScheduleState, job: string) =>
    change(state, { revision: 2, updatedAt: state.updatedAt + 1, definition: definition({ job }) })
  await applyAll(first, [redefine(before, 'lost')])
  await server.kill()
  await server.restart()

  const { store: second } = await openAt(context, server.url, namespace)
  const found = (await loadOne(second, 's'))!
  assert.deepEqual(found, before)
  await applyAll(second, [redefine(found, 'kept')])
  const seen = await persist(() => loadOne(first, 's'))
  assert.deepEqual([seen?.definition.job, seen], ['kept', await loadOne(second, 's')])
})
