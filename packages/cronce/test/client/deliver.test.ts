import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deliver } from '../../src/policy/operate/deliver.ts'
import { DAY, NOON, openClient } from './open-client.ts'

const MINUTE = 60_000

test('an instant that is delivered many times at once is one fire, and is run once', async () => {
  const { client, work } = await openClient()
  await client.schedules.create('acme', { job: 'billing' })
  const many = await Promise.all(Array.from({ length: 20 }, () => client.schedules.deliver('acme', { dueAt: NOON })))
  assert.equal(many.filter(({ created }) => created).length, 1)
  assert.deepEqual(new Set(many.map(({ fire }) => fire?.dueAt)), new Set([NOON]))
  assert.equal((await work('acme')).length, 1)
  assert.deepEqual(await client.schedules.deliver('acme', { dueAt: NOON }), {
    fire: await client.fires.get({ schedule: 'acme', dueAt: NOON }),
    created: false,
    readyAt: NOON,
  })
  assert.deepEqual(await work('acme'), [])
})

test("a delivery of a schedule's own instant is the same fire, whichever comes first", async () => {
  const { client, clock, work } = await openClient()
  await client.schedules.create('acme', { job: 'billing', every: '1m' })
  const due = NOON + MINUTE
  assert.deepEqual(await client.schedules.deliver('acme', { dueAt: due }), { fire: null, created: false, readyAt: due })
  clock.now = due + 100
  assert.deepEqual(await client.schedules.deliver('acme', { dueAt: due }), { fire: null, created: false, readyAt: due })
  await work('acme')
  const { fire, created } = await client.schedules.deliver('acme', { dueAt: due })
  assert.deepEqual([fire?.state, created], ['open', false])
  assert.equal((await client.fires.list({ from: due })).items.length, 1)
})

test('an instant inside a range that was missed is on record, and not run by a delivery', async () => {
  const { client, clock, work } = await openClient()
  await client.schedules.create('acme', { job: 'billing', every: '1m', misfire: 'skip' })
  clock.now = NOON + 60 * MINUTE + 30_000
  await work('acme')
  const { fire, created } = await client.schedules.deliver('acme', { dueAt: NOON + 30 * MINUTE })
  assert.deepEqual([fire?.state, created, fire?.range === null], ['missed', false, false])
})

test('what an operator skipped ahead is not run by a delivery, however many records went since', async () => {
  const { client, clock, work } = await openClient()
  const retention = { count: 10 }
  await client.schedules.create('acme', { job: 'billing', cron: '0 0 1 * *', retention, misfire: { window: '1h' } })
  const { nextAt: dueAt } = await client.schedules.get('acme')
  await client.schedules.skipNext('acme', { dueAt: dueAt! })
  clock.now = dueAt! - 2 * DAY
  for (let trigger = 0; trigger < 150; trigger++) {
    const { fire } = await client.schedules.trigger('acme')
    await client.fires.cancel(fire)
    if (trigger % 50 === 0) clock.now += 6 * 60 * MINUTE
  }
  clock.now = dueAt! + 1_000
  const { fire, created } = await client.schedules.deliver('acme', { dueAt: dueAt! })
  assert.deepEqual([fire?.reason, created], ['skipped-by-operator', false])
  assert.deepEqual(await work('acme'), [])
})

test('a due time that an operator skipped ahead is not run by a delivery, even if its record was pruned', async () => {
  const { client, clock, state, context } = await openClient()
  await client.schedules.create('acme', { job: 'billing', cron: '0 0 1 * *' })
  const dueAt = (await client.schedules.get('acme')).nextAt!
  await client.schedules.skipNext('acme', { dueAt })
  clock.now = dueAt
  const decision = deliver(await state('acme'), dueAt, context())
  assert.ok('change' in decision)
  const { creates, history, state: after } = decision.change
  assert.deepEqual(
    creates.map((key) => key.dueAt),
    [dueAt],
  )
  assert.deepEqual(
    history.map(({ ending, isFinal }) => [ending.reason, isFinal]),
    [['skipped-by-operator', true]],
  )
  assert.deepEqual(after?.open, [])
})

test('an instant before the schedule was made is delivered once', async () => {
  const { client, work } = await openClient()
  await client.schedules.create('acme', { job: 'billing', every: '1m' })
  assert.equal((await client.schedules.deliver('acme', { dueAt: NOON - MINUTE })).created, true)
  assert.equal((await client.schedules.deliver('acme', { dueAt: NOON - MINUTE })).created, false)
  assert.deepEqual(
    (await work('acme')).map(({ record }) => record.dueAt),
    [NOON - MINUTE],
  )
})

test('what is delivered a little early waits for its time', async () => {
  const { client, clock, work, state } = await openClient()
  await client.schedules.create('acme', { job: 'billing' })
  assert.equal((await client.schedules.deliver('acme', { dueAt: NOON + 1_000 })).created, true)
  assert.deepEqual(await work('acme'), [])
  assert.equal((await state('acme')).wakeAt, NOON + 1_000)
  clock.now = NOON + 1_000
  assert.equal((await work('acme')).length, 1)
})

test('what is far ahead, too long ago, or no instant of the schedule is refused', async () => {
  const { client } = await openClient()
  await client.schedules.create('acme', { job: 'billing' })
  await client.schedules.create('hourly', { job: 'billing', every: '1h' })
  const deliver = (name: string, dueAt: number) => client.schedules.deliver(name, { dueAt })
  await assert.rejects(deliver('acme', NOON + 61_000), { code: 'FIRE_EARLY' })
  await assert.rejects(deliver('acme', NOON - DAY - 1), { code: 'FIRE_TOO_OLD' })
  await assert.rejects(deliver('hourly', NOON + 1), { code: 'INSTANT_UNKNOWN' })
  await assert.rejects(deliver('acne', NOON), { code: 'SCHEDULE_NOT_FOUND', hint: /acme/ })
})

test('policies apply to deliveries: pause, overlap, and what is too late to be run', async () => {
  const { client, work } = await openClient()
  const reasonOf = async (name: string, dueAt: number) => (await client.schedules.deliver(name, { dueAt })).fire?.reason
  await client.schedules.create('acme', { job: 'billing', misfire: 'skip' })
  assert.equal(await reasonOf('acme', NOON - 11_000), 'late')
  assert.equal(await reasonOf('acme', NOON), null)
  await work('acme')
  assert.equal(await reasonOf('acme', NOON - 5_000), 'overlap')
  await client.schedules.pause('acme')
  assert.equal(await reasonOf('acme', NOON - 4_000), 'paused')
})

for (const [missed, state] of [
  ['latest', 'open'],
  ['skip', 'skipped'],
] as const) {
  test(`an instant that the schedule would come to itself is settled by the choice of its pause, not by a delivery: ${missed}`, async () => {
    const { client, clock, work } = await openClient()
    await client.schedules.create('acme', { job: 'billing', every: '1h' })
    await client.schedules.pause('acme', { missed })
    const dueAt = NOON + 60 * MINUTE
    clock.now = dueAt + 1_000
    assert.deepEqual(await client.schedules.deliver('acme', { dueAt }), { fire: null, created: false, readyAt: dueAt })
    await client.schedules.resume('acme')
    await work('acme')
    assert.equal((await client.fires.get({ schedule: 'acme', dueAt })).state, state)
  })
}

test('a pause whose end has come is over for deliveries, too, even if no instance has looked since', async () => {
  const { client, clock } = await openClient()
  await client.schedules.create('acme', { job: 'billing' })
  await client.schedules.pause('acme', { until: NOON + MINUTE })
  clock.now = NOON + 10 * MINUTE
  const { fire } = await client.schedules.deliver('acme', { dueAt: NOON + 10 * MINUTE })
  assert.equal(fire?.state, 'open')
})

test('a schedule that has had all its fires is delivered no more', async () => {
  const { client, clock, work } = await openClient()
  await client.schedules.create('acme', { job: 'billing', every: '1m', limit: 2, overlap: 'allow' })
  for (let minute = 0; minute < 4; minute++) {
    clock.now = NOON + minute * MINUTE
    await work('acme')
  }
  const late = client.schedules.deliver('acme', { dueAt: NOON + 3 * MINUTE })
  await assert.rejects(late, { code: 'INSTANT_UNKNOWN' })
  assert.equal((await client.fires.list()).items.length, 2)
})

test('a delivery does not exceed the limit that the instants of an expired pause have used up', async () => {
  const { client, clock } = await openClient()
  await client.schedules.create('acme', { job: 'billing', every: '1m', limit: 2, overlap: 'allow' })
  await client.schedules.pause('acme', { until: NOON + 30 * MINUTE, missed: 'skip' })
  clock.now = NOON + 30 * MINUTE + 1_000
  await assert.rejects(client.schedules.deliver('acme', { dueAt: NOON + 10 * MINUTE }), { code: 'INSTANT_UNKNOWN' })
  const { fire, created } = await client.schedules.deliver('acme', { dueAt: NOON + MINUTE })
  assert.deepEqual([fire?.reason, created], ['paused', true])
  assert.equal((await client.fires.list({ schedule: 'acme' })).items.length, 2)
})

test('what an earlier schedule of the name ran, and is off the record by now, is not delivered to its successor', async () => {
  const { client, clock, work } = await openClient()
  await client.schedules.create('acme', { job: 'billing', misfire: { window: '1h' }, retention: '1h' })
  await client.schedules.deliver('acme', { dueAt: NOON })
  assert.equal((await work('acme')).length, 1)
  await client.schedules.remove('acme', { force: true })
  clock.now = NOON + 2 * DAY
  await client.fires.prune()
  await client.schedules.create('acme', { job: 'billing', misfire: { window: '7d' } })
  await assert.rejects(client.schedules.deliver('acme', { dueAt: NOON }), { code: 'FIRE_TOO_OLD' })
})

test('a delivery that comes late waits its turn, as the planner would have it', async () => {
  const { client, clock, work, state } = await openClient()
  await client.schedules.create('acme', { job: 'billing' })
  await client.schedules.deliver('acme', { dueAt: NOON })
  await work('acme')
  clock.now = NOON + 10 * MINUTE
  const late = await client.schedules.deliver('acme', { dueAt: NOON + 5 * MINUTE })
  assert.deepEqual([late.fire?.state, late.created], ['open', true])
  assert.equal((await state('acme')).open.length, 2)
})

test('an instant that its schedule reaches by itself is answered with the time at which it may start', async () => {
  const { client } = await openClient()
  await client.schedules.create('acme', { job: 'billing', every: '1m', jitter: '30s' })
  const { fire, readyAt } = await client.schedules.deliver('acme', { dueAt: NOON + MINUTE })
  assert.ok(fire === null && readyAt >= NOON + MINUTE && readyAt <= NOON + MINUTE + 30_000)
})

for (const [missed, wanted] of [
  ['all', [1, 2]],
  ['latest', [2]],
  ['skip', []],
] as const) {
  test(`what a pause with missed: '${missed}' settles when it is over is not run once more by a delivery`, async () => {
    const { client, clock, work, state } = await openClient()
    clock.now = NOON + 1_000
    await client.schedules.create('acme', { job: 'billing', every: '1m' })
    await client.schedules.pause('acme', { until: NOON + 2 * MINUTE + 5_000, missed })
    clock.now = NOON + 2 * MINUTE + 6_000
    const { fire } = await client.schedules.deliver('acme', { dueAt: NOON + 2 * MINUTE })
    assert.equal(fire?.state, missed === 'skip' ? 'skipped' : 'open')
    assert.equal((await state('acme')).open.length, wanted.length)
    const ran = (await work('acme')).map(({ record }) => (record.dueAt - NOON) / MINUTE)
    assert.deepEqual(ran, wanted.slice(0, 1))
  })
}

test('a delivered instant inside a range that its pause skipped is not run', async () => {
  const { client, clock, work } = await openClient()
  clock.now = NOON + 1_000
  await client.schedules.create('acme', { job: 'billing', every: '1m' })
  await client.schedules.pause('acme', { until: NOON + 30 * MINUTE + 1_000 })
  clock.now = NOON + 30 * MINUTE + 2_000
  const { fire } = await client.schedules.deliver('acme', { dueAt: NOON + 20 * MINUTE })
  assert.deepEqual([fire?.state, fire?.range?.count], ['skipped', 30])
  assert.deepEqual(await work('acme'), [])
})

test('lateness counts from when a fire was due, not from when it was delivered', async () => {
  const { client, clock, work } = await openClient()
  await client.schedules.create('acme', { job: 'billing' })
  clock.now = NOON + 30_000
  await client.schedules.deliver('acme', { dueAt: NOON })
  await work('acme')
  const [run] = (await client.runs.list()).items
  assert.deepEqual([run?.latenessMs, run?.cause], [30_000, 'asked'])
})
