import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet, type Declare, type Fleet, type Member, NEW_YEAR } from './fleet.ts'

// A job that another app has taken over and renamed goes back to the app that had it before.

const MINUTE = 60_000
const OPTIONS = { cron: '* * * * *', misfire: 'all' } as const
const NAMES = ['bill', 'receipt', 'invoice']
const IDS = [(id: string) => id, () => undefined] as const

const job =
  (name: string, was?: string): Declare =>
  (app) =>
    void app.job(name, was === undefined ? OPTIONS : { ...OPTIONS, was }, () => {})

/** In minutes, what was run of the job under all its names, in the order of the instants; without what was run again after a crash. */
function ran(fleet: Fleet): number[] {
  const own = fleet.handled.filter(({ schedule, attempt }) => NAMES.includes(schedule) && attempt === 1)
  return own.map(({ dueAt }) => (dueAt - NEW_YEAR) / MINUTE).sort((one, other) => one - other)
}

const minutes = (to: number): number[] => Array.from({ length: to + 1 }, (_, index) => index)

const stop = (fleet: Fleet, member: Member): Promise<void> => fleet.world.until(member.app.stop())

const ownersOf = (fleet: Fleet, ...names: string[]): Promise<(string | null)[]> =>
  Promise.all(names.map(async (name) => (await fleet.operator.schedules.get(name)).app))

/** The app `crm` has the job of `shop` under the name `invoice`. */
async function moved(fleet: Fleet, id: (typeof IDS)[number]): Promise<Member> {
  const shop = await fleet.add(job('bill'), { app: 'shop', deployment: id('v1') })
  await fleet.advance('150s')
  const crm = await fleet.add(job('invoice', 'bill'), { app: 'crm', deployment: id('v2') })
  await stop(fleet, shop)
  await fleet.advance('5m')
  assert.deepEqual(await ownersOf(fleet, 'bill', 'invoice'), ['crm', 'crm'])
  return crm
}

test('a release that moved a job to another app and renamed it is rolled back: no instant is lost or run twice', async () => {
  for (const id of IDS) {
    const fleet = await createFleet()
    const crm = await moved(fleet, id)
    const shop = await fleet.add(job('bill'), { app: 'shop', deployment: id('v1') })
    await fleet.advance('90s')
    const [refusal] = fleet.events('schedule.refused', shop)
    assert.match(refusal!.message, /which the app crm renamed to invoice\. .* remove invoice, which removes bill/)
    await stop(fleet, crm)
    await fleet.advance('10m')
    assert.deepEqual(await ownersOf(fleet, 'bill', 'invoice'), ['shop', 'shop'])
    assert.deepEqual(ran(fleet), minutes(19))
    assert.equal(fleet.handled.at(-1)!.schedule, 'bill')
    // The release is tried again.
    const again = await fleet.add(job('invoice', 'bill'), { app: 'crm', deployment: id('v2') })
    await fleet.advance('5m')
    assert.equal(fleet.events('schedule.refused', again).length, 1)
    await stop(fleet, shop)
    await fleet.advance('10m')
    assert.deepEqual(ran(fleet), minutes(34))
    assert.deepEqual(await ownersOf(fleet, 'bill', 'invoice'), ['crm', 'crm'])
    fleet.end()
  }
})

test('a job that goes back to its first app is still paused, and then plans what the pause held back', async () => {
  const fleet = await createFleet()
  const crm = await moved(fleet, (id) => id)
  await fleet.operator.schedules.pause('invoice')
  await fleet.advance('2m')
  await stop(fleet, crm)
  await fleet.add(job('bill'), { app: 'shop', deployment: 'v1' })
  await fleet.advance('10m')
  assert.notEqual((await fleet.operator.schedules.get('bill')).pause, null)
  assert.deepEqual(ran(fleet), minutes(7))
  await fleet.operator.schedules.resume('bill', { missed: 'all' })
  await fleet.advance('5m')
  assert.deepEqual(ran(fleet), minutes(24))
  fleet.end()
})

test('what waits under the names of a job goes back with it to its first app, and runs there', async () => {
  const fleet = await createFleet()
  const retry = { attempts: 3, backoff: { base: '20m', factor: 1, jitter: 0 } } as const
  const failing =
    (name: string, was?: string): Declare =>
    (app) =>
      void app.job(name, { cron: '0 0 1 7 *', retry, ...(was && { was }) }, () => {
        throw new Error('provider is down')
      })
  const shop = await fleet.add(failing('bill'), { app: 'shop', deployment: 'v1' })
  await fleet.operator.schedules.trigger('bill', { dedupe: 'order-1' })
  await fleet.advance('150s')
  await stop(fleet, shop)
  const crm = await fleet.add(failing('invoice', 'bill'), { app: 'crm', deployment: 'v2' })
  await fleet.advance('5m')
  await fleet.operator.schedules.trigger('invoice', { dedupe: 'order-2' })
  await fleet.advance('10s')
  await stop(fleet, crm)
  const back = await fleet.add(job('bill'), { app: 'shop', deployment: 'v1' })
  await fleet.advance('30m')
  const retried = fleet.handled.filter(({ member, attempt }) => member === back && attempt === 2)
  assert.deepEqual(retried.map(({ schedule }) => schedule).sort(), ['bill', 'invoice'])
  const again = await fleet.operator.schedules.trigger('bill', { dedupe: 'order-2' })
  assert.equal(again.created, false, 'the key is known')
  fleet.end()
})

test('a job that another app has renamed twice goes back to its first app when that one is gone or has dropped it', async () => {
  for (const id of IDS) {
    for (const isDropped of [false, true]) {
      const fleet = await createFleet()
      const crm = await moved(fleet, id)
      const last = await fleet.add(job('receipt', 'invoice'), { app: 'crm', deployment: id('v3') })
      await stop(fleet, crm)
      await fleet.advance('3m')
      await fleet.add(job('bill'), { app: 'shop', deployment: id('v1') })
      if (isDropped) {
        await fleet.add((app) => app.job('other', '0 0 1 7 *', () => {}), { app: 'crm', deployment: 'v4' })
        await fleet.operator.schedules.pause('receipt')
      }
      await stop(fleet, last)
      await fleet.advance(isDropped && id('v1') === undefined ? '30h' : '15m')
      assert.deepEqual(await ownersOf(fleet, 'bill', 'invoice', 'receipt'), ['shop', 'shop', 'shop'], `${isDropped}`)
      const all = ran(fleet)
      assert.deepEqual(all, [...new Set(all)], 'none twice')
      if (isDropped) assert.notEqual((await fleet.operator.schedules.get('bill')).pause, null)
      else assert.deepEqual(all, minutes(25))
      fleet.end()
    }
  }
})

test('the first name of a job that comes back goes on when the app that took the second name and gave it a third is gone', async () => {
  for (const id of IDS) {
    const fleet = await createFleet()
    const first = await fleet.add(job('bill'), { app: 'shop', deployment: id('v1') })
    await fleet.advance('150s')
    const second = await fleet.add(job('receipt', 'bill'), { app: 'shop', deployment: id('v2') })
    await stop(fleet, first)
    await fleet.advance('3m')
    await stop(fleet, second)
    const crm = await fleet.add(job('receipt'), { app: 'crm', deployment: id('v1') })
    await fleet.advance('5m')
    const last = await fleet.add(job('invoice', 'receipt'), { app: 'crm', deployment: id('v2') })
    await stop(fleet, crm)
    await fleet.advance('3m')
    const back = await fleet.add(job('bill'), { app: 'shop', deployment: id('v1') })
    await fleet.advance('5m')
    assert.match(fleet.events('schedule.refused', back)[0]!.message, /The job bill goes on as invoice, .* crm/)
    await stop(fleet, last)
    await fleet.advance('10m')
    assert.deepEqual(ran(fleet), minutes(28))
    assert.equal(fleet.handled.at(-1)!.schedule, 'bill')
    fleet.end()
  }
})

test('a process that dies while it takes a job back leaves it to the next one', async () => {
  for (let calls = 1; calls <= 8; calls++) {
    for (const name of ['saveApp', 'apply'] as const) {
      const fleet = await createFleet()
      const crm = await moved(fleet, (id) => id)
      await stop(fleet, crm)
      const half = await fleet.add(job('bill'), { app: 'shop', deployment: 'v1' })
      let left = calls
      half.link.disturb((call) => {
        if (call.name === name && left-- === 0) half.crash()
        return null
      })
      await fleet.advance('5m')
      half.crash()
      await fleet.add(job('bill'), { app: 'shop', deployment: 'v1' })
      await fleet.advance('10m')
      assert.deepEqual(ran(fleet), minutes(22), `${name} ${calls}`)
      fleet.end()
    }
  }
})
