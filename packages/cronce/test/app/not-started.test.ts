import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from '../../src/app/connect.ts'
import { cronce } from '../../src/app/cronce.ts'
import type { JobOptions } from '../../src/app/job.ts'
import { memory } from '../../src/store/memory/memory.ts'
import type { OpenOptions, StoreSource } from '../../src/store/store.ts'
import { answerOf, fireRequest } from './fire-request.ts'

test('the first thing that is asked of an app may be a schedule that is exactly-once', async () => {
  const app = cronce({ store: 'memory:' })
  const options = { job: 'bill', every: '1h', guarantee: 'exactly-once' } as const

  const { policy } = await app.schedules.create('bill:ada', options)
  const { created } = await cronce({ store: 'memory:' }).schedules.createMany([['bill:ada', options]])

  assert.equal(policy.guarantee, 'exactly-once')
  assert.equal(created, 1)
  await app.stop()
})

test('a job that names another job is refused', () => {
  const options = { every: '1h', job: 'other' } as JobOptions

  assert.throws(() => cronce({ store: 'memory:' }).job('bill', options, () => {}), { code: 'OPTION_UNKNOWN' })
})

test('a connection that was closed refuses every call, and opens nothing again', async () => {
  const { store, opened } = counted()
  const client = await connect({ store })
  await client.schedules.create('acme', { job: 'bill', every: '1h' })
  const feed = client.feed()
  await Promise.all([client.close(), client.close()])

  const closed = { code: 'STORE_CLOSED', message: 'This connection was closed.', notApplied: true }
  await assert.rejects(client.schedules.get('acme'), closed)
  await assert.rejects(client.schedules.trigger('acme'), closed)
  await assert.rejects(client.fires.list(), closed)
  await assert.rejects(client.store.check(), closed)
  await assert.rejects(async () => {
    for await (const _ of feed);
  }, closed)
  assert.equal(opened(), 1)
})

test('an app that was stopped refuses every call until it starts again', async (context) => {
  const { store, opened } = counted()
  const app = cronce({ store, signals: false, logger: false }).job('bill', { every: '1h' }, () => {})
  context.after(() => app.stop())
  const closed = { code: 'STORE_CLOSED', message: 'This app was stopped.', notApplied: true }
  await app.start()
  await app.stop()

  await assert.rejects(app.schedules.get('bill'), closed)
  await assert.rejects(app.schedules.create('bill:ada', { job: 'bill', every: '1h' }), closed)
  const { status, body } = await answerOf(app, fireRequest('?schedule=bill'))
  assert.deepEqual([status, body.error?.code, opened()], [503, 'STORE_CLOSED', 1], 'another process may take it')
  await app.start()
  assert.equal((await app.schedules.get('bill')).state, 'active')
  await app.stop()
  await app.runDue()
  assert.equal((await app.schedules.list()).items.length, 1)
  assert.equal(opened(), 3)
})

test('an app that was stopped while its store was being opened is closed', async () => {
  const { store, opened } = counted()
  const app = cronce({ store, signals: false, logger: false })
  const starting = app.start()
  await Promise.all([starting, app.stop()])

  await assert.rejects(app.schedules.list(), { code: 'STORE_CLOSED' })
  assert.equal(opened(), 1)
})

function counted(): { readonly store: StoreSource; readonly opened: () => number } {
  const source = memory()
  let count = 0
  const open = (options: OpenOptions) => {
    count++
    return source.open(options)
  }
  return { store: { ...source, open }, opened: () => count }
}
