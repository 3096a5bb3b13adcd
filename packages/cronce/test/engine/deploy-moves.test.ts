import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet, type Declare, type Fleet, type Member, NEW_YEAR } from './fleet.ts'

const MINUTE = 60_000
const EACH_MINUTE = '* * * * *'

const jobs =
  (...names: string[]): Declare =>
  (app) => {
    for (const name of names) app.job(name, EACH_MINUTE, () => {})
  }

const renamed: Declare = (app) => void app.job('invoice', { cron: EACH_MINUTE, was: 'bill' }, () => {})

/** In minutes, what was run of these schedules, by whichever process. */
function ran(fleet: Fleet, ...names: string[]): number[] {
  const own = fleet.handled.filter(({ schedule }) => names.includes(schedule))
  return own.map(({ dueAt }) => (dueAt - NEW_YEAR) / MINUTE).sort((one, other) => one - other)
}

const minutes = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

const ownersOf = (fleet: Fleet, ...names: string[]): Promise<(string | null)[]> =>
  Promise.all(names.map(async (name) => (await fleet.operator.schedules.get(name)).app))

const stop = (fleet: Fleet, member: Member): Promise<void> => fleet.world.until(member.app.stop())

test('with ids, a program whose app gets a name of its own has its jobs once its old app has a release without them', async () => {
  const fleet = await createFleet()
  const web = await fleet.add(jobs('report'), { app: 'shop', deployment: 'v1' })
  const worker = await fleet.add(jobs('bill'), { app: 'shop', deployment: 'v1' })
  await fleet.advance('90s')
  await fleet.add(jobs('bill'), { app: 'worker', deployment: 'v2' })
  await fleet.add(jobs('report'), { app: 'shop', deployment: 'v2' })
  await stop(fleet, worker)
  await stop(fleet, web)
  await fleet.advance('30m')
  assert.deepEqual(await ownersOf(fleet, 'bill', 'report'), ['worker', 'shop'])
  assert.deepEqual(ran(fleet, 'bill').slice(-25), minutes(7, 31))
  fleet.end()
})

test('a job with a single due time that has passed takes its name from an app that no longer has it, and is on record once', async () => {
  for (const isGone of [true, false]) {
    for (const minute of [3, 3.5]) {
      const fleet = await createFleet()
      const old = await fleet.add(jobs('promo', 'report'), { app: 'shop', deployment: 'v1' })
      await fleet.advance('10m')
      if (!isGone) await fleet.add(jobs('report'), { app: 'shop', deployment: 'v2' })
      await stop(fleet, old)
      await fleet.advance('5m')
      const dueAt = NEW_YEAR + minute * MINUTE
      await fleet.add((app) => void app.job('promo', { at: dueAt }, () => {}), { app: 'sale', deployment: 's1' })
      await fleet.advance('10m')
      assert.deepEqual(await ownersOf(fleet, 'promo'), ['sale'])
      assert.equal((await fleet.operator.schedules.get('promo')).trigger?.kind, 'at')
      const { reason } = await fleet.operator.fires.get({ schedule: 'promo', dueAt })
      // Once the old app is gone, its rule counts until the name has passed on: a fire of it made up for the late one.
      const isSuperseded = isGone && minute === 3.5
      assert.equal(reason, isSuperseded ? 'superseded' : 'completed')
      assert.equal(ran(fleet, 'promo').filter((one) => one === minute).length, isSuperseded ? 0 : 1)
      fleet.end()
    }
  }
})

test('a process that restarts keeps its job, though another app with the very same jobs waits for the name', async () => {
  for (const awayMs of [2_000, 10_000, 30_000]) {
    const fleet = await createFleet()
    const shop = await fleet.add(jobs('cleanup'), { app: 'shop', deployment: undefined })
    const crm = await fleet.add(jobs('cleanup'), { app: 'crm', deployment: undefined })
    await fleet.advance('155s')
    await stop(fleet, shop)
    await fleet.advance(awayMs)
    await fleet.add(jobs('cleanup'), { app: 'shop', deployment: undefined })
    await fleet.advance('5m')
    assert.deepEqual(await ownersOf(fleet, 'cleanup'), ['shop'])
    assert.equal(fleet.handled.filter(({ member }) => member === crm).length, 0)
    fleet.end()
  }
})

test('schedules made for the old name of a job go on in an app that takes the job from a live one', async () => {
  const fleet = await createFleet()
  const invoice: Declare = (app) => void app.job('invoice', { cron: EACH_MINUTE, was: 'bill' }, () => {})
  const first = await fleet.add(jobs('bill', 'report'), { app: 'shop', deployment: 'v1' })
  await fleet.operator.schedules.create('bill for Ada', { job: 'bill', cron: EACH_MINUTE })
  await fleet.advance('90s')
  const second = await fleet.add((app, member) => [invoice(app, member), jobs('report')(app, member)], {
    app: 'shop',
    deployment: 'v2',
  })
  await stop(fleet, first)
  await fleet.advance('3m')
  await fleet.add(invoice, { app: 'worker', deployment: 'v3' })
  await fleet.add(jobs('report'), { app: 'shop', deployment: 'v3' })
  await stop(fleet, second)
  await fleet.advance('30m')
  assert.deepEqual(await ownersOf(fleet, 'invoice', 'bill', 'report'), ['worker', 'shop', 'shop'])
  assert.deepEqual(ran(fleet, 'bill for Ada').slice(-20), minutes(15, 34))
  fleet.end()
})

test('a job is renamed a second time though another app has its first name by now', async () => {
  for (const ids of [['v1', 'v2', 'v3'] as const, [undefined, undefined, undefined] as const]) {
    const fleet = await createFleet()
    const receipt: Declare = (app) => void app.job('receipt', { cron: EACH_MINUTE, was: 'invoice' }, () => {})
    const first = await fleet.add(jobs('bill'), { app: 'shop', deployment: ids[0] })
    await fleet.advance('90s')
    const second = await fleet.add(renamed, { app: 'shop', deployment: ids[1] })
    await stop(fleet, first)
    await fleet.advance('3m')
    await fleet.operator.schedules.remove('bill', { force: true })
    await fleet.add((app) => app.job('bill', '30 * * * * *', () => {}), { app: 'crm', deployment: 'c1' })
    await fleet.advance('3m')
    assert.deepEqual(await ownersOf(fleet, 'bill'), ['crm'])
    await fleet.add(receipt, { app: 'shop', deployment: ids[2] })
    await stop(fleet, second)
    await fleet.advance('30m')
    assert.deepEqual(ran(fleet, 'receipt').slice(-25), minutes(13, 37), String(ids))
    fleet.end()
  }
})

test('after a forced removal the newest release defines the schedule, not an older one that is still live', async () => {
  for (let phase = 0; phase < 10_000; phase += 1_000) {
    const fleet = await createFleet()
    await fleet.add((app) => app.job('bill', '*/5 * * * *', () => {}), { deployment: 'v1' })
    await fleet.advance('70s')
    await fleet.add(jobs('bill'), { deployment: 'v2' })
    await fleet.advance(70_000 + phase)
    await fleet.operator.schedules.remove('bill', { force: true })
    await fleet.advance('3m')
    const { trigger } = await fleet.operator.schedules.get('bill')
    assert.ok(trigger?.kind === 'cron' && trigger.expression === EACH_MINUTE, `${phase}`)
    fleet.end()
  }
})

test('a paused job is renamed to a name of an app that has left when it has planned what the pause held back', async () => {
  const fleet = await createFleet()
  const theirs: Declare = (app) => void app.job('invoice', '30 * * * * *', () => {})
  const crm = await fleet.add(theirs, { app: 'crm', deployment: 'c1' })
  const old = await fleet.add(jobs('bill'), { app: 'shop', deployment: 'v1' })
  await fleet.advance('150s')
  await fleet.operator.schedules.pause('bill')
  await stop(fleet, crm)
  await stop(fleet, old)
  await fleet.add(renamed, { app: 'shop', deployment: 'v2' })
  await fleet.advance('20m')
  await fleet.operator.schedules.resume('bill', { missed: 'all' })
  await fleet.advance('20m')
  const own = fleet.handled.filter(({ member }) => member !== crm).map(({ dueAt }) => (dueAt - NEW_YEAR) / MINUTE)
  assert.deepEqual(
    own.sort((one, next) => one - next),
    minutes(0, 42),
  )
  assert.ok(ran(fleet, 'invoice').at(-1)! >= 41)
  fleet.end()
})

test('a release that renames its app and a job at the same time runs nothing twice, and continues when the old app has left', async () => {
  for (const deployment of ['v2', undefined]) {
    const fleet = await createFleet()
    const shop = await fleet.add(jobs('bill'), { app: 'shop', deployment: deployment && 'v1' })
    await fleet.advance('150s')
    const worker = await fleet.add(renamed, { app: 'worker', deployment })
    await fleet.advance('3m')
    const [refusal] = fleet.events('schedule.refused', worker)
    assert.match(refusal!.message, /The job invoice was bill, which belongs to the app shop/)
    await stop(fleet, shop)
    await fleet.advance('30m')
    const all = ran(fleet, 'bill', 'invoice')
    assert.deepEqual(all, [...new Set(all)], 'none twice')
    assert.deepEqual(ran(fleet, 'invoice').slice(-25), minutes(11, 35))
    fleet.end()
  }
})

test('a new name that is refused stays refused when the app that has the job renames it, until was names its current name', async () => {
  for (const isPaused of [false, true]) {
    const fleet = await createFleet()
    const receipt: Declare = (app) => void app.job('receipt', { cron: EACH_MINUTE, was: 'bill' }, () => {})
    const old = await fleet.add(jobs('bill'), { app: 'shop', deployment: 'v1' })
    await fleet.advance('150s')
    const worker = await fleet.add(renamed, { app: 'worker', deployment: 'w1' })
    await fleet.advance('5m')
    if (isPaused) await fleet.operator.schedules.pause('bill')
    const next = await fleet.add(receipt, { app: 'shop', deployment: 'v2' })
    await stop(fleet, old)
    await fleet.advance('10m')
    assert.equal(await fleet.operator.schedules.find('invoice'), null)
    assert.equal(ran(fleet, 'bill', 'receipt').at(-1), isPaused ? 7 : 17)
    const { refused } = await fleet.operator.deployments.get('worker')
    assert.match(refused[0]!.message, /was bill, which the app shop renamed to receipt\. Write was: 'receipt'/)
    await fleet.add(jobs('report'), { app: 'shop', deployment: 'v3' })
    await stop(fleet, next)
    await fleet.advance('5m')
    assert.equal(await fleet.operator.schedules.find('invoice'), null)
    const fixed: Declare = (app) => void app.job('invoice', { cron: EACH_MINUTE, was: 'receipt' }, () => {})
    const last = await fleet.add(fixed, { app: 'worker', deployment: 'w2' })
    await stop(fleet, worker)
    await fleet.advance('10m')
    if (isPaused) {
      assert.notEqual((await fleet.operator.schedules.get('invoice')).pause, null, 'the pause came with the job')
      await fleet.operator.schedules.resume('invoice')
      await fleet.advance('10m')
    }
    const all = ran(fleet, 'bill', 'receipt', 'invoice')
    assert.deepEqual(all, [...new Set(all)], 'none twice')
    assert.ok(fleet.handled.filter(({ member }) => member === last).length > 5, 'it goes on here after that')
    fleet.end()
  }
})

test('a name is refused while another app has stopped half-way in a rename of the job, and continues when that app has left', async () => {
  for (const name of ['receipt', 'invoice']) {
    const fleet = await createFleet()
    const half: Declare = (app) => void app.job(name, { cron: EACH_MINUTE, was: 'bill' }, () => {})
    const shop = await fleet.add(jobs('bill', 'report'), { app: 'shop', deployment: 'v1' })
    await fleet.advance('150s')
    const worker = await fleet.add(renamed, { app: 'worker', deployment: 'w1' })
    const sister = await fleet.add(jobs('report'), { app: 'shop', deployment: 'v1' })
    const renaming = fleet.make(half, { app: 'shop', deployment: 'v2' })
    // The old name is retired by then, and the new one is not declared yet.
    renaming.at('declare:sent', () => renaming.crash())
    void renaming.app.start()
    await fleet.advance('5s')
    await stop(fleet, shop)
    await fleet.advance('40s')
    assert.deepEqual(
      [(await fleet.operator.schedules.get('bill')).state, (await ownersOf(fleet, 'bill'))[0]],
      ['retired', 'shop'],
    )
    assert.equal(await fleet.operator.schedules.find('invoice'), null, 'the app is live')
    await stop(fleet, sister)
    const from = fleet.handled.length
    await fleet.advance('10m')
    assert.ok(fleet.handled.slice(from).filter(({ member }) => member === worker).length >= 8, name)
    const all = ran(fleet, 'bill', 'receipt', 'invoice')
    assert.deepEqual(all, [...new Set(all)], 'none twice')
    fleet.end()
  }
})

test('a job that was a name which another app had renamed to the name of a second job here is refused beside that', async () => {
  const fleet = await createFleet()
  const misfiring =
    (...named: readonly (readonly [string, string?])[]): Declare =>
    (app) => {
      for (const [name, was] of named)
        app.job(name, { cron: EACH_MINUTE, misfire: 'all', ...(was && { was }) }, () => {})
    }
  const first = await fleet.add(misfiring(['bill']), { app: 'shop', deployment: 'v1' })
  await fleet.advance('150s')
  const second = await fleet.add(misfiring(['receipt', 'bill']), { app: 'shop', deployment: 'v2' })
  await stop(fleet, first)
  await fleet.advance('3m')
  const worker = await fleet.add(misfiring(['receipt'], ['invoice', 'bill']), { app: 'worker', deployment: 'w1' })
  await fleet.advance('3m')
  assert.equal(fleet.events('schedule.refused', worker).length, 2)
  await stop(fleet, second)
  await fleet.advance('10m')
  assert.deepEqual(ran(fleet, 'receipt').slice(-10), minutes(9, 18))
  assert.deepEqual(ran(fleet, 'invoice'), [])
  const { refused } = await fleet.operator.deployments.get('worker')
  assert.deepEqual(
    refused.map(({ schedule }) => schedule),
    ['invoice'],
  )
  fleet.end()
})

test('a job is renamed to a name of an app that has left, with no instant lost or run twice', async () => {
  for (const ids of [['v1', 'v2'] as const, [undefined, undefined] as const]) {
    const fleet = await createFleet()
    const other: Declare = (app) => void app.job('invoice', '30 * * * * *', () => {})
    const crm = await fleet.add(other, { app: 'crm', deployment: 'c1' })
    const old = await fleet.add(jobs('bill'), { app: 'shop', deployment: ids[0] })
    await fleet.advance('90s')
    const shop = await fleet.add(renamed, { app: 'shop', deployment: ids[1] })
    await stop(fleet, old)
    await fleet.advance('3m')
    await stop(fleet, crm)
    await fleet.advance('30m')
    const own = fleet.handled.filter(({ member }) => member !== crm).map(({ dueAt }) => (dueAt - NEW_YEAR) / MINUTE)
    assert.deepEqual(
      own.sort((one, next) => one - next),
      minutes(0, 34),
      String(ids),
    )
    assert.deepEqual(await ownersOf(fleet, 'invoice'), ['shop'])
    assert.ok(fleet.handled.filter(({ member, schedule }) => member === shop && schedule === 'invoice').length > 20)
    fleet.end()
  }
})

test('a schedule of another app whose next instants are on record already is taken over', async () => {
  const fleet = await createFleet()
  const shop = await fleet.add(jobs('bill'), { app: 'shop', deployment: 'v1' })
  await fleet.advance('90s')
  for (let skips = 0; skips < 3; skips++) {
    const { nextAt } = await fleet.operator.schedules.get('bill')
    await fleet.operator.schedules.skipNext('bill', { dueAt: nextAt! })
  }
  await fleet.operator.schedules.remove('bill', { force: true })
  await fleet.advance('15s')
  await stop(fleet, shop)
  await fleet.add((app) => app.job('bill', '*/2 * * * *', () => {}), { app: 'crm', deployment: 'c1' })
  await fleet.advance('30m')
  assert.deepEqual(await ownersOf(fleet, 'bill'), ['crm'])
  assert.ok(ran(fleet, 'bill').filter((minute) => minute > 10).length > 9)
  fleet.end()
})

test('a steady state with many refused declarations writes nothing', async () => {
  const fleet = await createFleet()
  const names = Array.from({ length: 130 }, (_, index) => `job ${index}`)
  await fleet.add((app) => names.map((name) => app.job(name, '0 0 1 1 *', () => {})), { app: 'shop' })
  const crm: Member[] = []
  for (const _ of [1, 2]) {
    crm.push(await fleet.add((app) => names.map((name) => app.job(name, '0 0 1 1 *', () => {})), { app: 'crm' }))
  }
  await fleet.advance('10m')
  const before = crm.map(({ link }) => link.calls.get('saveApp'))
  await fleet.advance('1h')
  assert.deepEqual(
    crm.map(({ link }) => link.calls.get('saveApp')),
    before,
  )
  fleet.end()
})

test('a schedule that is removed by force is declared again by its own app, not by another that waits for its name', async () => {
  const fleet = await createFleet()
  await fleet.add(jobs('bill'), { app: 'shop', deployment: 'v1' })
  await fleet.add(jobs('bill', 'mail'), { app: 'crm', deployment: 'c1' })
  await fleet.advance('5m')
  await fleet.operator.schedules.remove('bill', { force: true })
  await fleet.advance('10m')
  assert.deepEqual(await ownersOf(fleet, 'bill'), ['shop'])
  assert.deepEqual(ran(fleet, 'bill').slice(-8), minutes(8, 15))
  fleet.end()
})

test('a schedule that is removed by force is created by an older release if no live process of the newest one declares it', async () => {
  const fleet = await createFleet()
  await fleet.add(jobs('bill'), { deployment: 'v1' })
  await fleet.add(jobs('report'), { deployment: 'v2' })
  const role = await fleet.add(jobs('bill'), { deployment: 'v2' })
  await fleet.advance('90s')
  await stop(fleet, role)
  await fleet.operator.schedules.remove('bill', { force: true })
  await fleet.advance('10m')
  assert.deepEqual(ran(fleet, 'bill').slice(-8), minutes(4, 11))
  fleet.end()
})

const LATE_RUNS = { cron: EACH_MINUTE, misfire: 'all' } as const
const billing: Declare = (app) => void app.job('bill', LATE_RUNS, () => {}).job('mail', '0 0 1 7 *', () => {})
const mailing: Declare = (app) => void app.job('mail', '0 0 1 7 *', () => {})
const invoicing: Declare = (app) => void app.job('invoice', { ...LATE_RUNS, was: 'bill' }, () => {})

for (const deployment of ['1', undefined]) {
  const title = deployment === undefined ? 'without ids' : 'with ids'
  const idOf = (id: string): string | undefined => deployment && id

  test(`a job that moves to another app under a new name, while its old app goes on without it, comes back without a double run, ${title}`, async () => {
    for (const isFirst of [true, false]) {
      const fleet = await createFleet()
      const first = await fleet.add(billing, { app: 'shop', deployment: idOf('v1') })
      await fleet.advance('150s')
      if (isFirst) await fleet.add(invoicing, { app: 'crm', deployment })
      const second = await fleet.add(mailing, { app: 'shop', deployment: idOf('v2') })
      await stop(fleet, first)
      await fleet.advance('10s')
      if (!isFirst) await fleet.add(invoicing, { app: 'crm', deployment })
      await fleet.advance('10m')
      assert.deepEqual(await ownersOf(fleet, 'bill', 'invoice'), ['crm', 'crm'])
      assert.deepEqual(ran(fleet, 'bill', 'invoice'), minutes(0, 12))
      const back = await fleet.add(billing, { app: 'shop', deployment: idOf('v1') })
      await stop(fleet, second)
      await fleet.advance('10m')
      assert.equal(fleet.events('schedule.refused', back)[0]?.code, 'SCHEDULE_NAME_TAKEN')
      assert.deepEqual(ran(fleet, 'bill', 'invoice'), minutes(0, 22))
      fleet.end()
    }
  })

  test(`a pause goes with a job that moves to another app under a new name, ${title}`, async () => {
    const fleet = await createFleet()
    const first = await fleet.add(billing, { app: 'shop', deployment: idOf('v1') })
    await fleet.advance('150s')
    await fleet.operator.schedules.pause('bill', { note: 'audit' })
    await fleet.add(mailing, { app: 'shop', deployment: idOf('v2') })
    await stop(fleet, first)
    await fleet.add(invoicing, { app: 'crm', deployment })
    await fleet.advance('10m')
    assert.equal((await fleet.operator.schedules.get('invoice')).pause?.note, 'audit')
    assert.deepEqual(ran(fleet, 'bill', 'invoice'), minutes(0, 2))
    fleet.end()
  })
}

test('an app that could not look for a while does not count that time as the absence of another one', async () => {
  const fleet = await createFleet()
  const shop = await fleet.add(jobs('bill'), { app: 'shop', deployment: 'v1' })
  const crm = await fleet.add(jobs('bill'), { app: 'crm', deployment: 'v1' })
  await fleet.advance('150s')
  await stop(fleet, shop)
  await fleet.advance('2s')
  crm.link.fail('beat', { kind: 'applied-then-throws' }, 1_000)
  await fleet.advance('20s')
  const back = await fleet.add(jobs('bill'), { app: 'shop', deployment: 'v1' })
  await fleet.advance('50s')
  await stop(fleet, back)
  await fleet.advance('55s')
  assert.deepEqual(await ownersOf(fleet, 'bill'), ['shop'], 'shop has not been away for the hold-down')
  fleet.end()
})

test('a rename to a name that another app has dropped runs nothing twice', async () => {
  for (const deployment of ['v1', undefined]) {
    const fleet = await createFleet()
    const first = await fleet.add(jobs('bill'), { app: 'shop', deployment })
    await fleet.advance('1m')
    const other = await fleet.add(jobs('invoice', 'report'), { app: 'crm', deployment: 'c1' })
    await fleet.advance('2m')
    await fleet.add(jobs('report'), { app: 'crm', deployment: 'c2' })
    await stop(fleet, other)
    await fleet.advance('20m')
    // What the other app ran under the name until now was its own job.
    const foreign = fleet.handled.filter(({ schedule }) => schedule === 'invoice').length
    await fleet.add(renamed, { app: 'shop', deployment: deployment && 'v2' })
    await stop(fleet, first)
    await fleet.advance('5m')
    const later = fleet.handled.filter(({ schedule }) => schedule === 'invoice').slice(foreign)
    const own = [...ran(fleet, 'bill'), ...later.map(({ dueAt }) => (dueAt - NEW_YEAR) / MINUTE)]
    assert.deepEqual(own, [...new Set(own)], 'none twice')
    // Not `end()`: it takes what the other app ran under the name for runs of this job.
    for (const member of fleet.members) member.crash()
  }
})
