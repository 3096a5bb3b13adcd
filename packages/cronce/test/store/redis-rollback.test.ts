import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promoteRedis, redisText, startRedis, startRedisReplica } from '../../../../scripts/servers/index.ts'
import { type Cronce, type CronceEvent, connect, cronce } from '../../src/index.ts'
import { redis } from '../../src/store/redis/redis.ts'
import { startDoor } from './redis-door.ts'
import { afterwards } from './sqlite-kit.ts'

type RolledBack = Extract<CronceEvent, { type: 'store.rolledBack' }>

/** An application with two instances, and all that its handlers were called with. */
async function startFleet(context: TestContext, url: string) {
  const calls: string[] = []
  const told: RolledBack[] = []
  const instances: Cronce[] = []
  for (let number = 0; number < 2; number++) {
    const app = cronce({ store: redis(url), app: 'shop', deployment: 'one', logger: false, signals: false })
    app.job('tick', {}, ({ fire }) => {
      calls.push(`${fire.schedule} ${fire.dueAt} ${fire.nonce}`)
    })
    app.on('store.rolledBack', (event) => told.push(event))
    context.after(() => app.stop())
    instances.push(app)
  }
  const schedules = Array.from({ length: 10 }, (_, number) => `s${number}`)
  await instances[0]!.schedules.createMany(schedules.map((name) => [name, { job: 'tick', every: 200 }] as const))
  await Promise.all(instances.map((app) => app.start()))
  return { instances, calls, told }
}

async function ranMore(calls: readonly string[], count: number): Promise<void> {
  const before = calls.length
  await until(`${count} more have run`, () => calls.length >= before + count)
}

/** A minute: a busy machine may be slow, but only a broken store takes this long. */
async function until(what: string, look: () => boolean | Promise<boolean>): Promise<void> {
  for (let looks = 0; looks < 3_000; looks++) {
    if (await look()) return
    await sleep(20)
  }
  assert.fail(`waited in vain until ${what}`)
}

function markOf(server: { readonly port: number }): Promise<number> {
  return redisText(server, 'HGET', 'cronce:{default}', 'mark').then(Number, () => 0)
}

test('what a stale replica lacks when it is promoted is restored by the instances that ran it, and nothing runs twice', async (context) => {
  const primary = await startRedis()
  afterwards(context, () => primary.stop())
  const replica = await startRedisReplica(primary)
  afterwards(context, () => replica.stop())
  const door = await startDoor(primary)
  context.after(() => door.close())
  const { instances, calls, told } = await startFleet(context, door.url)
  await ranMore(calls, 40)

  const mark = await markOf(primary)
  await until('the replica has what was written so far', async () => (await markOf(replica)) >= mark)

  // From here on the replica receives nothing, while the primary acknowledges claims and settlements.
  await promoteRedis(replica)
  const before = calls.length
  await ranMore(calls, 40)
  const lost = calls.slice(before)
  await primary.kill()
  door.lead(replica)
  await ranMore(calls, 60)
  await Promise.all(instances.map((app) => app.stop()))

  const named = new Set(
    told.flatMap(({ restored }) => restored.map((fire) => `${fire.schedule} ${fire.dueAt} ${fire.nonce}`)),
  )
  assert.ok(told.length > 0 && told.some((event) => event.lost), 'the loss was told')
  // The first of them may have arrived before the replica was promoted, the last may have been settled on the new primary.
  const unnamed = lost.slice(5, -10).filter((call) => !named.has(call))
  assert.deepEqual(unnamed, [], 'what was lost is named')
  assert.deepEqual(
    told.flatMap(({ doubtful }) => doubtful),
    [],
  )
  assert.equal(new Set(calls).size, calls.length, 'nothing ran twice')

  const client = await connect({ store: redis(door.url) })
  const recorded: string[] = []
  for await (const fire of client.fires.all({ outcome: 'succeeded' }))
    recorded.push(`${fire.schedule} ${+fire.dueAt} ${fire.nonce}`)
  await client.close()
  assert.deepEqual(recorded.sort(), [...calls].sort(), 'every one is on record')
  assert.equal(await redisText(replica, 'HGET', 'cronce:{default}', 'held'), '0')
})
