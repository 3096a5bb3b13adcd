import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet, type Declare, type Fleet, NEW_YEAR } from './fleet.ts'

const MINUTE = 60_000
const every =
  (cron: string): Declare =>
  (app) =>
    app.job('bill', cron, () => {})
const old = every('*/10 * * * *')
const young = every('*/15 * * * *')
const v1 = { deployment: 'v1' }
const v2 = { deployment: 'v2' }

test('a rolling update changes the schedule once, though old instances still run', async () => {
  const fleet = await createFleet()
  const [one, two] = await fleet.addMany(2, old, v1)
  await fleet.advance('1m')
  await fleet.add(young, v2)
  await fleet.advance('1m')
  await fleet.world.until(one!.app.stop())
  await fleet.add(young, v2)
  await fleet.advance('1m')
  await fleet.world.until(two!.app.stop())
  await fleet.advance('1h')
  assert.deepEqual(dueMinutes(fleet), [0, 15, 30, 45, 60])
  const { revision, app } = await fleet.operator.schedules.get('bill')
  assert.deepEqual([revision, app], [2, 'shop'])
  assert.equal(fleet.events('schedule.changed').length, 1)
  fleet.end()
})

test('while an update rolls, instances of both sides run what is due', async () => {
  const fleet = await createFleet()
  await fleet.addMany(3, every('* * * * *'), v1)
  await fleet.add(every('*/2 * * * *'), v2)
  await fleet.advance('30m')
  assert.ok(new Set(fleet.handled.map(({ member }) => member)).size > 1)
  fleet.end()
})

test('an old process that restarts does not flip the schedule back', async () => {
  const fleet = await createFleet()
  const [first] = await fleet.addMany(2, old, v1)
  await fleet.add(young, v2)
  await fleet.advance('10s')
  first!.crash()
  await fleet.add(old, v1)
  await fleet.advance('1h')
  assert.deepEqual(dueMinutes(fleet), [0, 15, 30, 45, 60])
  assert.equal((await fleet.operator.deployments.get('shop')).active, 'v2')
  fleet.end()
})

test('a rollback is an update like any other', async () => {
  const fleet = await createFleet()
  const first = await fleet.add(old, v1)
  await fleet.advance('1m')
  const bad = await fleet.add(young, v2)
  await fleet.world.until(first.app.stop())
  await fleet.advance('5m')
  // The old release comes back, while the new one still runs.
  await fleet.add(old, v1)
  await fleet.advance('10s')
  await fleet.world.until(bad.app.stop())
  await fleet.advance('54m')
  assert.deepEqual(dueMinutes(fleet), [0, 10, 20, 30, 40, 50, 60])
  fleet.end()
})

test('a release whose processes have all left counts until the hold-down is over, then the old one counts again', async () => {
  const fleet = await createFleet()
  await fleet.add(old, { ...v1, holdDown: '60s' })
  await fleet.advance('1m')
  const crashing = await fleet.add(young, { ...v2, holdDown: '60s' })
  assert.equal((await fleet.operator.deployments.get('shop')).active, 'v2')
  crashing.crash()
  await fleet.advance('50s')
  assert.equal((await fleet.operator.deployments.get('shop')).active, 'v2')
  await fleet.advance('90s')
  assert.equal((await fleet.operator.deployments.get('shop')).active, 'v1')
  await fleet.advance('26m')
  assert.deepEqual(dueMinutes(fleet), [0, 10, 20])
  fleet.end()
})

test('a release that crashes and comes back again and again does not make the schedule flicker', async () => {
  const fleet = await createFleet()
  await fleet.add(old, v1)
  await fleet.advance('1m')
  for (let crash = 0; crash < 10; crash++) {
    const crashing = await fleet.add(young, v2)
    await fleet.advance('5s')
    crashing.crash()
    await fleet.advance('20s')
  }
  assert.equal((await fleet.operator.schedules.get('bill')).revision, 2)
  // It is given up: the old one counts again.
  await fleet.advance('3m')
  assert.equal((await fleet.operator.schedules.get('bill')).revision, 3)
  fleet.end()
})

test('an operator can make another deployment count, until a newer one comes', async () => {
  const fleet = await createFleet()
  await fleet.add(old, v1)
  await fleet.add(young, v2)
  await fleet.operator.deployments.activate('shop', 'v1')
  await fleet.advance('1h')
  assert.deepEqual(dueMinutes(fleet), [0, 10, 20, 30, 40, 50, 60])
  await fleet.add(every('0 * * * *'), { deployment: 'v3' })
  await fleet.advance('1h')
  assert.deepEqual(dueMinutes(fleet).slice(7), [120])
  fleet.end()
})

test('apps that share a namespace do not touch each other', async () => {
  const fleet = await createFleet()
  await fleet.add((app) => app.job('bill', '* * * * *', () => {}), { app: 'shop' })
  const mailer = await fleet.add((app) => app.job('mail', '* * * * *', () => {}), { app: 'mailer' })
  await fleet.advance('1m')
  await fleet.add((app) => app.job('letter', '* * * * *', () => {}), { app: 'mailer', deployment: 'v2' })
  await fleet.world.until(mailer.app.stop())
  await fleet.advance('5m')
  const states = await Promise.all(
    ['bill', 'mail', 'letter'].map(async (name) => (await fleet.operator.schedules.get(name)).state),
  )
  assert.deepEqual(states, ['active', 'retired', 'active'])
  fleet.end()
})

test('a job that left the code stops firing: what runs goes on, what waits ends after the misfire window', async () => {
  const fleet = await createFleet()
  const first = await fleet.add((app, { clock }) =>
    app
      .job('bill', { cron: '* * * * *', overlap: 'queue' }, () => clock.sleep(200_000))
      .job('mail', '* * * * *', () => {}),
  )
  await fleet.advance('2m10s')
  await fleet.add((app) => app.job('mail', '* * * * *', () => {}), v2)
  const stopping = first.app.stop()
  await fleet.advance('5m')
  await fleet.world.until(stopping)
  const reasons = async () =>
    (await fleet.operator.fires.list({ schedule: 'bill', order: 'earliest' })).items
      .filter(({ dueAt }) => dueAt <= NEW_YEAR + 2 * MINUTE)
      .map(({ dueAt, reason }) => [(dueAt - NEW_YEAR) / MINUTE, reason])
  assert.deepEqual((await reasons())[1], [1, null])
  assert.equal((await fleet.operator.schedules.get('bill')).state, 'retired')
  assert.equal(fleet.events('schedule.retired').length, 1)
  await fleet.advance('25h')
  assert.deepEqual((await reasons())[1], [1, 'retired'])
  fleet.end()
})

test('a job that was renamed is a new one, which makes up for nothing', async () => {
  const fleet = await createFleet()
  const first = await fleet.add(old, v1)
  await fleet.advance('25m')
  await fleet.add((app) => app.job('invoice', '*/10 * * * *', () => {}), v2)
  await fleet.world.until(first.app.stop())
  await fleet.advance('10m')
  assert.deepEqual(
    fleet.handled.map(({ schedule, dueAt }) => [schedule, (dueAt - NEW_YEAR) / MINUTE]),
    [
      ['bill', 0],
      ['bill', 10],
      ['bill', 20],
      ['invoice', 30],
    ],
  )
  fleet.end()
})

test('a job that comes back into the code goes on from then', async () => {
  const fleet = await createFleet()
  const first = await fleet.add(old, v1)
  await fleet.advance('5m')
  const second = await fleet.add((app) => app.job('mail', '0 0 * * *', () => {}), v2)
  await fleet.world.until(first.app.stop())
  await fleet.advance('30m')
  await fleet.add(old, { deployment: 'v3' })
  await fleet.world.until(second.app.stop())
  await fleet.advance('10m')
  assert.deepEqual(dueMinutes(fleet), [0, 40])
  fleet.end()
})

test('a changed expression neither repeats an instant nor makes up for one', async () => {
  const fleet = await createFleet()
  const first = await fleet.add(old, v1)
  await fleet.advance('20m')
  // At the very moment of an instant that both have; and the new one had some in between.
  await fleet.add(every('*/4 * * * *'), v2)
  await fleet.world.until(first.app.stop())
  await fleet.advance('10m')
  assert.deepEqual(dueMinutes(fleet), [0, 10, 20, 24, 28])
  fleet.end()
})

test("an operator's pause outlives deploys", async () => {
  const fleet = await createFleet()
  const first = await fleet.add(old, v1)
  await fleet.advance('1m')
  await fleet.operator.schedules.pause('bill', { author: 'ann', note: 'audit' })
  await fleet.add(young, v2)
  await fleet.world.until(first.app.stop())
  await fleet.advance('1h')
  assert.deepEqual(dueMinutes(fleet), [0])
  const { state, pause } = await fleet.operator.schedules.get('bill')
  assert.deepEqual([state, pause?.author, pause?.note], ['paused', 'ann', 'audit'])
  await fleet.operator.schedules.resume('bill')
  await fleet.advance('15m')
  assert.deepEqual(dueMinutes(fleet), [0, 75])
  fleet.end()
})

test('a restart of everything at once loses nothing that was waiting', async () => {
  const fleet = await createFleet()
  const declare: Declare = (app, { clock }) =>
    app.job('bill', { cron: '* * * * *', overlap: 'queue-all' }, () => clock.sleep(90_000))
  const [one, two] = await fleet.addMany(2, declare)
  await fleet.advance('5m10s')
  one!.crash()
  two!.crash()
  await fleet.advance('1m')
  await fleet.addMany(2, declare)
  await fleet.advance('30m')
  const { items } = await fleet.operator.fires.list({ to: NEW_YEAR + 6 * MINUTE })
  assert.deepEqual(
    items.map(({ state }) => state),
    Array.from({ length: 6 }, () => 'succeeded'),
  )
  fleet.end()
})

test('without an id, two processes with the same declarations are the same deployment', async () => {
  const fleet = await createFleet()
  await fleet.add(old, { deployment: undefined })
  await fleet.add(old, { deployment: undefined })
  await fleet.add(young, { deployment: undefined })
  const { deployments } = await fleet.operator.deployments.get('shop')
  assert.equal(deployments.length, 2)
  fleet.end()
})

function dueMinutes(fleet: Fleet): number[] {
  return fleet.handled.map(({ dueAt }) => (dueAt - NEW_YEAR) / MINUTE).sort((one, other) => one - other)
}

test('processes of one deployment with different jobs keep each other’s', async () => {
  const fleet = await createFleet()
  const job =
    (name: string): Declare =>
    (app) =>
      app.job(name, '*/10 * * * *', () => {})
  await fleet.add(job('web'), v1)
  await fleet.add(job('worker'), v1)
  await fleet.advance('1h')
  const { items } = await fleet.operator.schedules.list({ state: 'active' })
  assert.deepEqual(
    items.map(({ name }) => name),
    ['web', 'worker'],
  )
  fleet.end()
})

test('a job whose name is taken by a schedule made at run time is refused loudly', async () => {
  const fleet = await createFleet()
  await fleet.operator.schedules.create('bill', { job: 'other', cron: '0 0 1 1 *' })
  await fleet.add(old, v1)
  const [refused] = fleet.events('schedule.refused')
  assert.deepEqual([refused?.schedule, refused?.code], ['bill', 'SCHEDULE_NAME_TAKEN'])
  assert.equal((await fleet.operator.schedules.get('bill')).job, 'other')
  fleet.end()
})

test('after hours of quiet all processes restart, the old one first: it was there all the time, and is not taken for new', async () => {
  const fleet = await createFleet()
  const members = [await fleet.add(old, v1), await fleet.add(young, v2)]
  await fleet.advance('5h')
  for (const member of members) member.crash()
  await fleet.add(old, v1)
  await fleet.advance('10s')
  await fleet.add(young, v2)
  await fleet.advance('10s')
  assert.equal((await fleet.operator.deployments.get('shop')).active, 'v2')
  fleet.end()
})

test('a release that was never decommissioned and comes back beside a newer one does not win', async () => {
  const fleet = await createFleet()
  const first = await fleet.add(old, v1)
  await fleet.add(young, v2)
  await fleet.world.until(first.app.stop())
  await fleet.advance('2h')
  await fleet.addMany(3, old, v1)
  await fleet.advance('5m')
  assert.equal((await fleet.operator.deployments.get('shop')).active, 'v2')
  assert.equal((await fleet.operator.schedules.get('bill')).revision, 2)
  fleet.end()
})

test('a rollback after the newer release has left counts at once', async () => {
  const fleet = await createFleet()
  const first = await fleet.add(old, v1)
  const second = await fleet.add(young, v2)
  await fleet.world.until(first.app.stop())
  await fleet.advance('5m')
  await fleet.world.until(second.app.stop())
  await fleet.add(old, v1)
  assert.equal((await fleet.operator.deployments.get('shop')).active, 'v1')
  assert.equal((await fleet.operator.schedules.get('bill')).revision, 3)
  fleet.end()
})
