import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CreateResult } from '../../src/client/create-many.ts'
import type { NewSchedule } from '../../src/client/schedule-options.ts'
import { openClient, toArray } from './open-client.ts'

const DAILY: NewSchedule = { job: 'billing', cron: 'H H * * *' }

function* tenants(count: number): Generator<[string, NewSchedule]> {
  for (let index = 0; index < count; index++) yield [`tenant-${index}`, DAILY]
}

test('many are created in batches, from anything that can be iterated', async () => {
  const batches: number[] = []
  let pulled = 0
  let ahead = 0
  const { client, events } = await openClient({
    wrap: (store) => ({
      ...store,
      apply: (changes, options) => {
        batches.push(changes.length)
        ahead = Math.max(ahead, pulled - batches.reduce((sum, size) => sum + size, 0))
        return store.apply(changes, options)
      },
    }),
  })
  const entries = async function* (): AsyncGenerator<[string, NewSchedule]> {
    for (const entry of tenants(1_203)) {
      pulled++
      yield entry
    }
  }
  assert.deepEqual(await client.schedules.createMany(entries()), { created: 1_203, refused: 0, problems: [] })
  assert.deepEqual(batches, [500, 500, 203])
  // Nothing is pulled that the batch at hand does not hold.
  assert.equal(ahead, 0)
  assert.equal(events.length, 1_203)
  assert.equal((await toArray(client.schedules.all())).length, 1_203)
  assert.equal((await client.schedules.get('tenant-777')).nextAt === null, false)
})

test('what is refused does not keep the others from being created', async () => {
  const { client } = await openClient({
    wrap: (store) => ({
      ...store,
      apply: (changes, options) => {
        assert.equal(new Set(changes.map(({ id }) => id)).size, changes.length)
        return store.apply(changes, options)
      },
    }),
  })
  await client.schedules.create('there', DAILY)
  const results: CreateResult[] = []
  const entries: [string, NewSchedule][] = [
    ['a', DAILY],
    ['there', DAILY],
    ['', DAILY],
    ['b', { job: 'billing', cron: 'nonsense' }],
    ['a', DAILY],
    ['c', { ...DAILY, retention: '1h' }],
  ]
  const { created, refused, problems } = await client.schedules.createMany(entries, {
    onResult: (result) => results.push(result),
  })
  assert.deepEqual([created, refused], [2, 4])
  assert.deepEqual(
    results.map((result) => [result.name, result.created || result.error.code]),
    [
      ['a', true],
      ['there', 'SCHEDULE_EXISTS'],
      ['', 'NAME_INVALID'],
      ['b', 'FIELDS_MISCOUNTED'],
      ['a', 'SCHEDULE_EXISTS'],
      ['c', true],
    ],
  )
  assert.equal(problems.length, 4)
  assert.equal(results[5]?.created === true && results[5].warnings.length, 1)
})

test('only the first hundred problems are kept', async () => {
  const { client } = await openClient()
  await client.schedules.createMany(tenants(300))
  const { refused, problems } = await client.schedules.createMany(tenants(300))
  assert.deepEqual([refused, problems.length], [300, 100])
})

test('after a conflict a schedule is read again', async () => {
  let raced = false
  const { client } = await openClient({
    wrap: (store) => ({
      ...store,
      async apply(changes, options) {
        if (!raced) {
          raced = true
          await store.apply(changes.slice(0, 1), options)
        }
        return store.apply(changes, options)
      },
    }),
  })
  const { created, problems } = await client.schedules.createMany(tenants(3))
  assert.equal(created, 2)
  assert.equal(problems[0]?.error.code, 'SCHEDULE_EXISTS')
})

test('a store that fails while one is looked at again ends it as well', async () => {
  let loads = 0
  const { client } = await openClient({
    wrap: (store) => ({
      ...store,
      apply: async (changes) => ({ now: 0, renewed: false, results: changes.map(() => ({ kind: 'conflict' })) }),
      load: async (ids, options) => {
        if (++loads > 1) await store.close()
        return store.load(ids, options)
      },
    }),
  })
  await assert.rejects(client.schedules.createMany(tenants(3)), { code: 'STORE_CLOSED' })
})

test('a store that fails ends it, and what was created stays', async () => {
  let calls = 0
  const { client } = await openClient({
    wrap: (store) => ({
      ...store,
      async apply(changes, options) {
        if (++calls === 2) throw new Error('connection reset')
        return store.apply(changes, options)
      },
    }),
  })
  await assert.rejects(client.schedules.createMany(tenants(1_200)), {
    code: 'STORE_FAILED',
    message: /connection reset/,
  })
  const again = await client.schedules.createMany(tenants(1_200))
  assert.deepEqual([again.created, again.refused], [700, 500])
})
