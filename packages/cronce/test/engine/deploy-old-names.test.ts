import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet, type Declare, type Fleet, type Member, NEW_YEAR } from './fleet.ts'

// What becomes of the old names of a renamed job when something else happens to the job, too.

const MINUTE = 60_000
const EACH_MINUTE = '* * * * *'
const HOURLY = '0 * * * *'

const declare =
  (...jobs: (string | { readonly name: string; readonly cron?: string; readonly was?: string })[]): Declare =>
  (app) => {
    for (const job of jobs) {
      const { name, cron = EACH_MINUTE, was } = typeof job === 'string' ? { name: job } : job
      app.job(name, was === undefined ? { cron } : { cron, was }, () => {})
    }
  }

const stop = (fleet: Fleet, member: Member): Promise<void> => fleet.world.until(member.app.stop())

/** In minutes, what was run of these schedules. */
function ran(fleet: Fleet, ...names: string[]): number[] {
  const own = fleet.handled.filter(({ schedule }) => names.includes(schedule))
  return own.map(({ dueAt }) => (dueAt - NEW_YEAR) / MINUTE).sort((one, other) => one - other)
}

const minutes = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

const IDS = [(id: string) => id, () => undefined] as const

test('schedules of the old name go on though the process with the new one came after the old name was retired', async () => {
  for (const id of IDS) {
    const fleet = await createFleet()
    const worker = await fleet.add(declare('bill', 'ping'), { deployment: id('v1') })
    const web = await fleet.add(declare('mail', 'ping'), { deployment: id('v1') })
    await fleet.operator.schedules.create('bill for Ada', { job: 'bill', cron: EACH_MINUTE })
    await fleet.advance('150s')
    await fleet.add(declare('mail', 'ping'), { deployment: id('v2') })
    await stop(fleet, web)
    await stop(fleet, worker)
    await fleet.advance('90s')
    assert.equal((await fleet.operator.schedules.get('bill')).state, 'retired')
    await fleet.add(declare({ name: 'invoice', was: 'bill' }, 'ping'), { deployment: id('v2') })
    await fleet.advance('30m')
    assert.deepEqual(ran(fleet, 'bill for Ada').slice(-20), minutes(15, 34))
    fleet.end()
  }
})

test('a fire that was frozen when its name left the code runs under the new name that comes later', async () => {
  for (const id of IDS) {
    const fleet = await createFleet()
    const daily = { cron: '2 0 * * *' }
    const worker = await fleet.add(declare({ name: 'bill', ...daily }, 'ping'), { deployment: id('v1') })
    await fleet.advance('90s')
    await fleet.add(declare('mail', 'ping'), { deployment: id('v2') })
    await stop(fleet, worker)
    await fleet.advance('3m')
    await fleet.add(declare({ name: 'invoice', was: 'bill', ...daily }, 'ping'), { deployment: id('v2') })
    await fleet.advance('10m')
    assert.deepEqual(ran(fleet, 'bill', 'invoice'), [2])
    fleet.end()
  }
})

test('schedules of the old name go on after an operator has removed that name', async () => {
  const fleet = await createFleet()
  const old = await fleet.add(declare('bill'), { deployment: 'v1' })
  await fleet.operator.schedules.create('bill for Ada', { job: 'bill', cron: EACH_MINUTE })
  await fleet.advance('150s')
  await fleet.add(declare({ name: 'invoice', was: 'bill' }), { deployment: 'v2' })
  await stop(fleet, old)
  await fleet.advance('3m')
  await fleet.operator.schedules.remove('bill')
  await fleet.advance('70m')
  assert.deepEqual(ran(fleet, 'bill for Ada').slice(-60), minutes(16, 75))
  fleet.end()
})

test('a renamed job that is removed by force, and is still in the code, starts from scratch', async () => {
  const fleet = await createFleet()
  const old = await fleet.add(declare('bill'), { deployment: 'v1' })
  await fleet.advance('150s')
  await fleet.operator.schedules.pause('bill')
  await fleet.add(declare({ name: 'invoice', was: 'bill' }), { deployment: 'v2' })
  await stop(fleet, old)
  await fleet.advance('3m')
  await fleet.operator.schedules.resume('invoice')
  await fleet.advance('26h')
  await fleet.operator.schedules.remove('invoice', { force: true })
  await fleet.advance('30m')
  const { pause } = await fleet.operator.schedules.get('invoice')
  assert.equal(pause, null)
  const last = ran(fleet, 'invoice').at(-1)!
  assert.ok(last >= 26 * 60 + 33, `${last}`)
  assert.equal(await fleet.operator.schedules.find('bill'), null)
  fleet.end()
})

test('a name that comes back after its later names were removed runs nothing that those have run', async () => {
  for (const chain of [['bill', 'invoice'] as const, ['bill', 'invoice', 'receipt'] as const]) {
    for (const force of [false, true]) {
      const fleet = await createFleet()
      let last = await fleet.add(declare({ name: 'bill', cron: HOURLY }, 'ping'), { deployment: 'v1' })
      await fleet.advance('150s')
      for (const [index, name] of chain.slice(1).entries()) {
        const next = declare({ name, was: chain[index]!, cron: HOURLY }, 'ping')
        const member = await fleet.add(next, { deployment: `v${index + 2}` })
        await stop(fleet, last)
        last = member
        await fleet.advance('61m')
      }
      const current = chain.at(-1)!
      if (!force) {
        const without = await fleet.add(declare('ping'), { deployment: 'without' })
        await stop(fleet, last)
        last = without
        await fleet.advance('3m')
      }
      await stop(fleet, last)
      await fleet.operator.schedules.remove(current, { force })
      await fleet.advance('1m')
      await fleet.add(declare({ name: 'bill', cron: HOURLY }, 'ping'), { deployment: 'v1' })
      await fleet.advance('5m')
      const all = ran(fleet, ...chain)
      assert.deepEqual(all, [...new Set(all)], `${chain.join()} ${force}`)
      fleet.end()
    }
  }
})

test('a name that comes back after another app had its later name, which was removed, runs nothing again', async () => {
  for (const [name, was] of [['bill'], ['receipt', 'invoice']] as const) {
    const fleet = await createFleet()
    const misfiring =
      (...[job, before]: readonly [string, string?]): Declare =>
      (app) =>
        void app.job(job, { cron: EACH_MINUTE, misfire: 'all', ...(before && { was: before }) }, () => {})
    const first = await fleet.add(misfiring('bill'), { app: 'shop', deployment: 'v1' })
    await fleet.advance('150s')
    const second = await fleet.add(misfiring('invoice', 'bill'), { app: 'shop', deployment: 'v2' })
    await stop(fleet, first)
    await fleet.advance('5m')
    await stop(fleet, second)
    const crm = await fleet.add(declare('invoice', 'ping'), { app: 'crm', deployment: 'c1' })
    await fleet.advance('10m')
    await fleet.add(declare('ping'), { app: 'crm', deployment: 'c2' })
    await stop(fleet, crm)
    await fleet.advance('3m')
    await fleet.operator.schedules.remove('invoice')
    assert.notEqual(await fleet.operator.schedules.find('bill'), null, 'that of another app stays')
    await fleet.add(misfiring(name, was), { app: 'shop', deployment: 'v3' })
    await fleet.advance('10m')
    const all = ran(fleet, 'bill', 'invoice', 'receipt')
    assert.deepEqual(all, [...new Set(all)], name)
    assert.ok(all.at(-1)! >= 29, 'the job goes on')
    fleet.end()
  }
})

test('a removal that is refused leaves the old names of the job', async () => {
  const fleet = await createFleet()
  const old = await fleet.add(declare('bill'), { deployment: 'v1' })
  await fleet.advance('150s')
  await fleet.add(declare({ name: 'invoice', was: 'bill' }), { deployment: 'v2' })
  await stop(fleet, old)
  await fleet.advance('3m')
  await assert.rejects(fleet.operator.schedules.remove('invoice'), { code: 'SCHEDULE_IN_CODE' })
  assert.equal((await fleet.operator.schedules.get('bill')).state, 'retired')
  fleet.end()
})

test('a rename that stopped half-way is finished by another app that has the job from then on', async () => {
  for (const isPaused of [false, true]) {
    const fleet = await createFleet()
    const all = { cron: EACH_MINUTE, misfire: 'all' } as const
    const first = await fleet.add((app) => app.job('bill', all, () => {}), { app: 'shop', deployment: 'v1' })
    await fleet.advance('150s')
    if (isPaused) await fleet.operator.schedules.pause('bill', { missed: 'all' })
    await stop(fleet, first)
    await fleet.advance('10m')
    const renamed: Declare = (app) => void app.job('invoice', { ...all, was: 'bill' }, () => {})
    const half = fleet.make(renamed, { app: 'shop', deployment: 'v2' })
    half.at('declare:sent', () => half.crash())
    half.app.start().catch(() => {})
    await fleet.advance('5s')
    await fleet.add(renamed, { app: 'billing', deployment: 'v3' })
    await fleet.advance('20m')
    if (isPaused) await fleet.operator.schedules.resume('invoice')
    await fleet.advance('5m')
    assert.deepEqual(ran(fleet, 'bill', 'invoice').slice(0, 36), minutes(0, 35), `${isPaused}`)
    fleet.end()
  }
})

test('a dropped job whose retired schedule was removed is not run by an old process that is still up', async () => {
  const fleet = await createFleet()
  await fleet.add(declare('bill', 'ping'), { deployment: 'v1' })
  await fleet.advance('90s')
  await fleet.add(declare('ping'), { deployment: 'v2' })
  await fleet.advance('15m')
  await fleet.operator.schedules.remove('bill')
  await fleet.advance('60m')
  assert.ok(ran(fleet, 'bill').at(-1)! <= 12)
  fleet.end()
})

test('one id for the releases before and after a rename is reported, since both names run', async () => {
  const fleet = await createFleet()
  await fleet.add(declare('bill'), { deployment: 'always' })
  await fleet.advance('90s')
  const renamed = await fleet.add(declare({ name: 'invoice', was: 'bill' }), { deployment: 'always' })
  await fleet.advance('3m')
  const told = fleet.told.filter(({ member, event }) => member === renamed && event.type === 'schedule.refused')
  assert.deepEqual(
    told.map(({ event }) => event.type === 'schedule.refused' && event.code),
    ['RENAME_IGNORED'],
  )
  fleet.end()
})

test('schedules made for a job of another app are run there, though the job here had that name before', async () => {
  for (const isRenamed of [false, true]) {
    const fleet = await createFleet()
    if (isRenamed) {
      const old = await fleet.add(declare('bill'), { app: 'shop', deployment: 'v1' })
      await fleet.advance('90s')
      await stop(fleet, old)
    }
    const shop = await fleet.add(declare({ name: 'invoice', was: 'bill' }), { app: 'shop', deployment: 'v2' })
    await fleet.advance('3m')
    if (isRenamed) await fleet.operator.schedules.remove('bill')
    const ledger = await fleet.add(declare({ name: 'bill', cron: '30 * * * * *' }), {
      app: 'ledger',
      deployment: 'l1',
    })
    await fleet.advance('3m')
    await fleet.operator.schedules.create('bill for Ada', { job: 'bill', cron: EACH_MINUTE })
    await fleet.advance('10m')
    await stop(fleet, ledger)
    await fleet.advance('10m')
    const by = (member: Member): number =>
      fleet.handled.filter((one) => one.schedule === 'bill for Ada' && one.member === member).length
    assert.equal(by(shop), 0, `${isRenamed}`)
    assert.ok(by(ledger) >= 10, `${isRenamed}`)
    fleet.end()
  }
})

test('the one instant of a job does not run again under a new name whose release comes back', async () => {
  const fleet = await createFleet()
  const once =
    (name: string, minute: number, was?: string): Declare =>
    (app) =>
      void app.job(name, { at: NEW_YEAR + minute * MINUTE, ...(was === undefined ? {} : { was }) }, () => {})
  let last = await fleet.add(once('promo', 10), { deployment: 'v1' })
  await fleet.advance('11m')
  for (const [declared, id] of [
    [once('sale', 10, 'promo'), 'v2'],
    [once('sale', 20, 'promo'), 'v3'],
    [once('sale', 10, 'promo'), 'v2'],
  ] as const) {
    const next = await fleet.add(declared, { deployment: id })
    await stop(fleet, last)
    last = next
    await fleet.advance('2m')
  }
  await fleet.advance('30m')
  assert.deepEqual(ran(fleet, 'promo', 'sale'), [10])
  fleet.end()
})

test('a due time that a job gets together with its new name, and that has passed, is missed unless it is on record', async () => {
  for (const [minute, reasons] of [
    [5, ['completed']],
    [5.5, ['too-late']],
  ] as const) {
    const fleet = await createFleet()
    const dueAt = NEW_YEAR + minute * MINUTE
    const redated =
      (name: string, was: string): Declare =>
      (app) =>
        void app.job(name, { at: dueAt, was }, () => {})
    let last = await fleet.add(declare('bill'), { deployment: 'v1' })
    for (const [declared, id] of [
      [redated('invoice', 'bill'), 'v2'],
      [declare({ name: 'bill', was: 'invoice' }), 'v3'],
      [redated('invoice', 'bill'), 'v4'],
    ] as const) {
      await fleet.advance('10m')
      const next = await fleet.add(declared, { deployment: id })
      await stop(fleet, last)
      last = next
    }
    await fleet.advance('30m')
    const { items } = await fleet.operator.fires.list({ limit: 1_000 })
    assert.deepEqual(
      items.filter((fire) => fire.dueAt === dueAt).map(({ reason }) => reason),
      reasons,
    )
    assert.equal((await fleet.operator.schedules.get('invoice')).state, 'finished')
    fleet.end()
  }
})

test('removing the first name of a job leaves its later names, and what waits there', async () => {
  const fleet = await createFleet()
  const first = await fleet.add(declare('bill'), { deployment: 'v1' })
  await fleet.advance('90s')
  const second = await fleet.add(declare({ name: 'invoice', was: 'bill' }), { deployment: 'v2' })
  await stop(fleet, first)
  await fleet.advance('3m')
  await fleet.add(declare({ name: 'receipt', was: 'invoice' }), { deployment: 'v3' })
  await stop(fleet, second)
  await fleet.advance('3m')
  await fleet.operator.schedules.remove('bill')
  assert.equal(await fleet.operator.schedules.find('bill'), null)
  assert.equal((await fleet.operator.schedules.get('invoice')).state, 'retired')
  await fleet.operator.schedules.remove('receipt', { force: true })
  assert.equal(await fleet.operator.schedules.find('invoice'), null)
  fleet.end()
})

test('schedules of the old name go on beside another app that is refused that name', async () => {
  const fleet = await createFleet()
  const old = await fleet.add(declare('bill'), { app: 'shop', deployment: 'v1' })
  await fleet.operator.schedules.create('bill for Ada', { job: 'bill', cron: EACH_MINUTE })
  await fleet.advance('90s')
  const shop = await fleet.add(declare({ name: 'invoice', was: 'bill' }), { app: 'shop', deployment: 'v2' })
  await stop(fleet, old)
  await fleet.advance('3m')
  await fleet.add(declare({ name: 'bill', cron: '30 * * * * *' }), { app: 'ledger', deployment: 'l1' })
  await fleet.advance('10m')
  const own = fleet.handled.filter(({ schedule, member }) => schedule === 'bill for Ada' && member === shop)
  assert.ok(own.length >= 12, `${own.length}`)
  fleet.end()
})

test('schedules of the old name come back when another app has had that name, and has it no more', async () => {
  const fleet = await createFleet()
  const old = await fleet.add(declare('bill'), { app: 'shop', deployment: 'v1' })
  await fleet.operator.schedules.create('bill for Ada', { job: 'bill', cron: EACH_MINUTE })
  await fleet.advance('90s')
  const shop = await fleet.add(declare({ name: 'invoice', was: 'bill' }), { app: 'shop', deployment: 'v2' })
  await stop(fleet, old)
  await fleet.advance('3m')
  await fleet.operator.schedules.remove('bill')
  const ledger = await fleet.add(declare({ name: 'bill', cron: '30 * * * * *' }), { app: 'ledger', deployment: 'l1' })
  await fleet.advance('5m')
  await stop(fleet, ledger)
  await fleet.operator.schedules.remove('bill', { force: true })
  await fleet.advance('30m')
  const own = fleet.handled.filter(({ schedule, member }) => schedule === 'bill for Ada' && member === shop)
  assert.deepEqual(
    own.slice(-20).map(({ dueAt }) => (dueAt - NEW_YEAR) / MINUTE),
    minutes(20, 39),
  )
  fleet.end()
})

test('removing a name leaves those that came after it, also if the job has had it twice', async () => {
  const fleet = await createFleet()
  let last = await fleet.add(declare('bill'), { deployment: 'v1' })
  await fleet.advance('90s')
  const releases: [Declare, string][] = [
    [declare({ name: 'invoice', was: 'bill' }), 'v2'],
    [declare('bill'), 'v1'],
    [declare({ name: 'invoice', was: 'bill' }), 'v2'],
    [declare({ name: 'receipt', was: 'invoice' }), 'v3'],
  ]
  for (const [declared, deployment] of releases) {
    const next = await fleet.add(declared, { deployment })
    await stop(fleet, last)
    last = next
    await fleet.advance('3m')
  }
  await fleet.operator.schedules.remove('bill')
  assert.equal(await fleet.operator.schedules.find('bill'), null)
  assert.equal((await fleet.operator.schedules.get('invoice')).state, 'retired')
  fleet.end()
})

test('the one instant of a renamed job does not run again after an operator has removed the job', async () => {
  for (const guarantee of ['at-least-once', 'at-most-once'] as const) {
    const fleet = await createFleet()
    const options = { at: NEW_YEAR + 2 * MINUTE, guarantee } as const
    const old = await fleet.add((app) => void app.job('bill', options, () => {}), { deployment: 'v1' })
    await fleet.advance('5m')
    await fleet.add((app) => void app.job('invoice', { ...options, was: 'bill' }, () => {}), { deployment: 'v2' })
    await stop(fleet, old)
    await fleet.advance('5m')
    await fleet.operator.schedules.remove('invoice', { force: true })
    await fleet.advance('5m')
    assert.deepEqual(ran(fleet, 'bill', 'invoice'), [2])
    assert.equal((await fleet.operator.schedules.get('invoice')).nextAt, null)
    fleet.end()
  }
})
