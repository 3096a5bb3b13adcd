import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MemoryTransaction } from '../../src/store/memory/transaction.ts'
import type { Applied, Store } from '../../src/store/store.ts'
import { openClient } from './open-client.ts'

type Apply = Store<MemoryTransaction>['apply']

/** A client whose writes go through `apply` once it is set. */
async function openWith() {
  const hook: { apply: ((next: Apply) => Apply) | null } = { apply: null }
  const bench = await openClient({
    wrap: (store) => ({
      ...store,
      apply: (changes, options) => (hook.apply?.(store.apply) ?? store.apply)(changes, options),
    }),
  })
  return { ...bench, hook }
}

test('a client that lost a race looks again, and both changes are made', async () => {
  const { client, hook } = await openWith()
  await client.schedules.create('acme', { job: 'billing', cron: '30 * * * *' })
  hook.apply = (next) => async (changes, options) => {
    hook.apply = null
    await client.schedules.pause('acme', { note: 'first' })
    return next(changes, options)
  }
  const view = await client.schedules.put('acme', { job: 'billing', cron: '45 * * * *' })
  assert.equal(view.pause?.note, 'first')
  assert.equal(view.revision, 2)
})

test('of two that create the same schedule at once, one succeeds and the other gets an error', async () => {
  const { client } = await openWith()
  const both = await Promise.allSettled([
    client.schedules.create('acme', { job: 'billing' }),
    client.schedules.create('acme', { job: 'billing' }),
  ])
  assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  const lost = both.find((result) => result.status === 'rejected')
  assert.equal(lost?.reason.code, 'SCHEDULE_EXISTS')
})

test('fifty lost races in a row are an error, and no more', async () => {
  const { client, hook } = await openWith()
  await client.schedules.create('acme', { job: 'billing' })
  let tries = 0
  hook.apply = () => async (): Promise<Applied> => {
    tries++
    return { now: 0, renewed: false, results: [{ kind: 'conflict' }] }
  }
  await assert.rejects(client.schedules.pause('acme'), { code: 'CONTENTION' })
  assert.equal(tries, 50)
})

test('a lost answer is reported as unknown, and nothing is retried', async () => {
  const { client, hook, events } = await openWith()
  let tries = 0
  hook.apply = (next) => async (changes, options) => {
    tries++
    await next(changes, options)
    throw new Error('socket hang up')
  }
  await assert.rejects(client.schedules.create('acme', { job: 'billing' }), {
    code: 'STORE_FAILED',
    message: /socket hang up/,
    hint: /Look whether the change was made/,
    notApplied: false,
  })
  assert.equal(tries, 1)
  assert.deepEqual(events, [])
  hook.apply = null
  await assert.rejects(client.schedules.create('acme', { job: 'billing' }), { code: 'SCHEDULE_EXISTS' })
})

test('a write that the store rejected is reported as not made', async () => {
  const { client, hook } = await openWith()
  hook.apply = () => () => Promise.reject(Object.assign(new Error('refused'), { notApplied: true }))
  await assert.rejects(client.schedules.create('acme', { job: 'billing' }), {
    code: 'STORE_FAILED',
    hint: /Nothing was changed/,
    notApplied: true,
  })
})

test('a change that could not be read back is reported as made', async () => {
  let isCut = false
  const { client } = await openClient({
    wrap: (store) => ({
      ...store,
      listRecords: (query) => (isCut ? Promise.reject(new Error('socket hang up')) : store.listRecords(query)),
    }),
  })
  await client.schedules.create('acme', { job: 'billing' })
  const { fire } = await client.schedules.trigger('acme')
  isCut = true
  await assert.rejects(client.fires.cancel(fire), {
    code: 'STORE_FAILED',
    message: /socket hang up/,
    hint: /The change was made/,
    notApplied: false,
  })
  isCut = false
  assert.equal((await client.fires.get(fire)).state, 'cancelled')
})

test('what the store refuses in its own words is passed on', async () => {
  const { client, store } = await openWith()
  await store.close()
  await assert.rejects(client.schedules.list(), { code: 'STORE_CLOSED' })
})
