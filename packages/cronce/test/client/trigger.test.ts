import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOON, openClient } from './open-client.ts'

test('a trigger makes a fire now, besides the instants of the schedule', async () => {
  const { client, work } = await openClient()
  await client.schedules.create('acme', { job: 'billing', cron: '30 * * * *', input: { plan: 'pro' } })
  const { fire, created } = await client.schedules.trigger('acme', { input: { plan: 'trial' } })
  assert.equal(created, true)
  assert.deepEqual([fire.dueAt, fire.kind, fire.state], [NOON, 'manual', 'open'])
  assert.deepEqual(await client.fires.get(fire), fire)

  const [started] = await work('acme')
  assert.deepEqual(started?.input, { plan: 'trial' })
  assert.equal((await client.schedules.get('acme')).nextAt, NOON + 30 * 60_000)
})

test('a dedupe key is on record once, however many callers repeat it', async () => {
  const { client, clock, state } = await openClient()
  await client.schedules.create('acme', { job: 'billing' })
  const first = await client.schedules.trigger('acme', { dedupe: 'invoice-7' })
  clock.now += 60_000
  const second = await client.schedules.trigger('acme', { dedupe: 'invoice-7' })
  assert.equal(first.created, true)
  assert.deepEqual(second, { fire: first.fire, created: false })
  assert.equal((await state('acme')).open.length, 1)

  const many = await Promise.all(
    Array.from({ length: 20 }, () => client.schedules.trigger('acme', { dedupe: 'invoice-8', overlap: 'ignore' })),
  )
  assert.equal(many.filter(({ created }) => created).length, 1)
  assert.equal(new Set(many.map(({ fire }) => fire.dueAt)).size, 1)
})

test('a dedupe key is remembered also where a new fire would be refused', async () => {
  const { client } = await openClient()
  await client.schedules.create('acme', { job: 'billing', overlap: 'queue-all' })
  const first = await client.schedules.trigger('acme', { dedupe: 'first' })
  for (let index = 0; index < 999; index++) await client.schedules.trigger('acme')
  await assert.rejects(client.schedules.trigger('acme'), { code: 'QUEUE_FULL' })
  assert.deepEqual(await client.schedules.trigger('acme', { dedupe: 'first' }), { fire: first.fire, created: false })
})

test('a trigger honors overlap unless it overrides it', async () => {
  const { client, work } = await openClient()
  await client.schedules.create('acme', { job: 'billing' })
  await client.schedules.trigger('acme')
  await work('acme')
  const skipped = await client.schedules.trigger('acme')
  assert.deepEqual([skipped.fire.state, skipped.fire.reason, skipped.created], ['skipped', 'overlap', true])
  const started = await client.schedules.trigger('acme', { overlap: 'ignore' })
  assert.equal(started.fire.state, 'open')
  assert.equal((await work('acme')).length, 1)
})

test('a trigger in a transaction happens with it or not at all', async () => {
  const { client, source, state, events } = await openClient()
  await client.schedules.create('acme', { job: 'billing' })
  events.length = 0
  const lost = source.transaction(async (tx) => {
    await client.schedules.trigger('acme', { tx })
    throw new Error('rolled back')
  })
  await assert.rejects(lost, /rolled back/)
  assert.equal((await state('acme')).open.length, 0)
  await source.transaction((tx) => client.schedules.trigger('acme', { tx, dedupe: 'k' }))
  assert.equal((await state('acme')).open.length, 1)
  assert.deepEqual(events, [])
})

test('a schedule in a transaction can be triggered in the same', async () => {
  const { client, source } = await openClient()
  await source.transaction(async (tx) => {
    await client.schedules.create('acme', { job: 'billing' }, { tx })
    await client.schedules.trigger('acme', { tx, dedupe: 'welcome' })
    assert.equal((await client.schedules.trigger('acme', { tx, dedupe: 'welcome' })).created, false)
  })
  assert.equal((await client.fires.list({ schedule: 'acme' })).items.length, 1)
})

test('the author and the reason of a fire stay on record with it', async () => {
  const { client, clock, work } = await openClient()
  await client.schedules.create('acme', { job: 'billing', every: '1m', misfire: 'skip' })
  const by = { author: 'ann', note: 'the file came late' }
  const { fire } = await client.schedules.trigger('acme', { dedupe: 'k', ...by })
  assert.deepEqual(fire.asked, by)
  clock.now = NOON + 10 * 60_000 + 30_000
  await work('acme')
  await client.schedules.backfill('acme', { from: NOON + 60_000, to: NOON + 120_000, author: 'bob', note: 'again' })
  assert.equal((await client.schedules.get('acme')).backfills[0]?.note, 'again')
  await work('acme')
  const filled = await client.fires.get({ schedule: 'acme', dueAt: NOON + 60_000 })
  assert.deepEqual([filled.kind, filled.asked], ['backfill', { author: 'bob', note: 'again' }])
  const retried = await client.fires.retry({ schedule: 'acme', dueAt: NOON + 5 * 60_000 }, { note: 'once more' })
  assert.deepEqual(retried.asked, { author: null, note: 'once more' })
  await client.schedules.skipNext('acme', { dueAt: NOON + 11 * 60_000, ...by })
  assert.equal(
    (await client.fires.get({ schedule: 'acme', dueAt: NOON + 11 * 60_000 })).detail,
    'by ann: the file came late',
  )
})
