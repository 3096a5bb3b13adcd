import assert from 'node:assert/strict'
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { ask } from './cronce.ts'
import { benchOn, scratch } from './steer-kit.ts'

const DAY = 86_400_000

function folderFor(context: TestContext): string {
  const folder = scratch()
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('prune counts what has had its time, deletes that and nothing else, and only after a yes', async (context) => {
  const file = join(folderFor(context), 'prune.db')
  const bench = await benchOn(`sqlite:${file}`)
  context.after(() => bench.client.close())
  await bench.client.schedules.create('old', { job: 'nowhere', overlap: 'allow' })
  for (let i = 0; i < 5; i++) {
    const { fire } = await bench.client.schedules.trigger('old', { dedupe: `key ${i}` })
    await bench.client.fires.cancel(fire)
  }
  await bench.client.schedules.trigger('old', { dedupe: 'open' })
  const db = new DatabaseSync(file)
  // Those that have ended are of long ago, and all but one have had their time.
  db.prepare("update cronce_history set due_at = due_at - ?, line = json_set(line, '$.dueAt', due_at - ?)").run(
    3 * DAY,
    3 * DAY,
  )
  db.prepare(
    "update cronce_history set expires_at = 1, line = json_set(line, '$.expiresAt', 1) where nonce <> 'key 0'",
  ).run()
  db.close()
  const count = async () => (await bench.client.fires.list({ schedule: 'old' })).items.length

  const plan = await bench.say('prune', '--dry-run')
  assert.deepEqual(
    [plan.status, plan.stdout],
    [0, 'Nothing is changed. This would be:\n  Delete 4 fires that have had their time, with all runs and steps.\n'],
  )
  assert.equal((await bench.say('prune')).status, 4)
  assert.equal(await count(), 6)
  const done = await bench.say('prune', '--yes', '--note', 'spring')
  assert.deepEqual([done.status, done.stdout], [0, '4 fires deleted, with their runs and steps. By ada@desk: spring\n'])
  assert.equal(await count(), 2)
  const again = JSON.parse((await bench.say('prune', '--json')).stdout)
  assert.deepEqual(again, { version: 1, deleted: 0, author: 'ada@desk' })
})

test('adopt takes over a copy only when an operator confirms that the original is shut down', async (context) => {
  const folder = folderFor(context)
  const original = await benchOn(`sqlite:${join(folder, 'original.db')}`)
  await original.client.schedules.create('billing', { job: 'bill' })
  const none = await original.say('adopt', '--json')
  assert.deepEqual([none.status, JSON.parse(none.stdout).adopted], [0, false])
  await original.client.close()
  copyFileSync(join(folder, 'original.db'), join(folder, 'copy.db'))

  const env = { CRONCE_STORE: `sqlite:${join(folder, 'copy.db')}` }
  assert.equal((await ask(['list'], env)).status, 4)
  const plan = await ask(['adopt', '--dry-run'], env)
  assert.equal(plan.status, 0)
  assert.match(plan.stdout, /must be gone for good: if it still runs, every job runs twice\./)
  assert.equal((await ask(['adopt'], env)).status, 4)
  assert.equal((await ask(['adopt'], env, { answers: ['yes'] })).status, 4, 'a yes is too quickly said')
  const done = await ask(['adopt'], env, { answers: ['adopt'] })
  assert.equal(done.status, 0)
  assert.match(done.stdout, /is a store of its own now, in epoch 2\.\n$/)
  assert.match((await ask(['list'], env)).stdout, /billing/)
  assert.match((await ask(['adopt'], env)).stderr, /nothing to adopt: .* is not a copy, or was adopted/)
})

test('if there is nothing to adopt, it reports why', async (context) => {
  const folder = folderFor(context)
  const redis = await ask(['adopt', '--store', 'redis://:secret@127.0.0.1:1'])
  assert.equal(redis.status, 4)
  assert.match(redis.stderr, /looks like a failover.*\nhint: .*delete its keys/)
  assert.equal((await ask(['adopt', '--store', 'memory:'])).status, 2)
  const missing = await ask(['adopt', '--store', `sqlite:${join(folder, 'typo.db')}`])
  assert.equal(missing.status, 5)
  assert.match(missing.stderr, /There is no file .*typo\.db/)
})
