import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_RETIREMENTS } from '../../src/model/schedule.ts'
import { createFleet, type Declare, type Fleet, type Member, NEW_YEAR } from './fleet.ts'

const MINUTE = 60_000

/** One job that fires every minute for each name. */
const jobs =
  (...names: string[]): Declare =>
  (app) => {
    for (const name of names) app.job(name, '* * * * *', () => {})
  }

const renamed: Declare = (app) => void app.job('invoice', { cron: '* * * * *', was: 'bill' }, () => {})

/** In minutes, what was run of a schedule. */
function ran(fleet: Fleet, name: string): number[] {
  const own = fleet.handled.filter(({ schedule }) => schedule === name)
  return own.map(({ dueAt }) => (dueAt - NEW_YEAR) / MINUTE).sort((one, other) => one - other)
}

const ownersOf = (fleet: Fleet, ...names: string[]): Promise<(string | null)[]> =>
  Promise.all(names.map(async (name) => (await fleet.operator.schedules.get(name)).app))

const minutes = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

test('a job that moves to another live app goes on there once its old app has retired it', async () => {
  for (const deployment of ['w1', undefined]) {
    const fleet = await createFleet()
    const shop = await fleet.add(jobs('bill', 'report'), { app: 'shop', deployment: 's1' })
    await fleet.advance('2m')
    await fleet.add(jobs('bill'), { app: 'worker', deployment })
    await fleet.advance('2m')
    assert.equal(fleet.events('schedule.refused').length, 2, 'reported by both')
    await fleet.add(jobs('report'), { app: 'shop', deployment: 's2' })
    await fleet.advance('10s')
    await fleet.world.until(shop.app.stop())
    await fleet.advance('30m')
    assert.equal((await fleet.operator.schedules.get('bill')).state, 'active')
    assert.deepEqual(ran(fleet, 'bill').slice(-20), minutes(15, 34))
    fleet.end()
  }
})

test('of two apps that have a job of one name, the one that had it first alone runs it, and both report it', async () => {
  const fleet = await createFleet()
  const declareShop: Declare = (app, member) => {
    jobs('cleanup', 'report')(app, member)
    app.job('long', {}, () => member.clock.sleep(3 * MINUTE))
  }
  const shop = await fleet.add(declareShop, { app: 'shop', deployment: 's1', concurrency: 1 })
  await fleet.advance('1m')
  const crm = await fleet.add(jobs('cleanup', 'mail'), { app: 'crm', deployment: 'c1' })
  await fleet.operator.schedules.create('cleanup for Ada', { job: 'cleanup', cron: '* * * * *' })
  await fleet.advance('10m')
  assert.deepEqual(ran(fleet, 'cleanup'), minutes(0, 11))
  // The instance that has the job has no room for it, and then leaves.
  await fleet.operator.schedules.trigger('long')
  await fleet.advance('2m')
  await fleet.world.until(shop.app.stop())
  await fleet.advance('30s')
  for (const name of ['cleanup', 'cleanup for Ada']) {
    const by = fleet.handled.filter(({ schedule }) => schedule === name).map(({ member }) => member)
    assert.ok(by.length >= 10 && !by.includes(crm), name)
  }
  const reporters = fleet.told.filter(({ event }) => event.type === 'schedule.refused').map(({ member }) => member)
  assert.deepEqual(new Set(reporters), new Set([shop, crm]))
  assert.equal(reporters.length, 2)
  fleet.end()
})

test('a declaration that was refused for its name is accepted when an operator has removed what had the name', async () => {
  const fleet = await createFleet()
  await fleet.operator.schedules.create('bill', { job: 'other', at: NEW_YEAR + 1_000 * MINUTE })
  await fleet.add(jobs('bill', 'report'), { deployment: 'v1' })
  await fleet.advance('2m')
  await fleet.operator.schedules.remove('bill')
  await fleet.advance('10m')
  assert.deepEqual(ran(fleet, 'bill').slice(-8), minutes(5, 12))
  assert.deepEqual((await fleet.operator.deployments.get('shop')).refused, [])
  fleet.end()
})

test('a job whose new name is taken runs under its old one, also without the old processes, until the name is free', async () => {
  const fleet = await createFleet()
  await fleet.operator.schedules.create('invoice', { job: 'other', at: NEW_YEAR + 1_000 * MINUTE })
  const old = await fleet.add(jobs('bill'), { deployment: 'v1' })
  await fleet.advance('150s')
  await fleet.add(renamed, { deployment: 'v2' })
  await fleet.advance('30s')
  await fleet.world.until(old.app.stop())
  await fleet.advance('20m')
  assert.deepEqual([ran(fleet, 'bill'), ran(fleet, 'invoice')], [minutes(0, 23), []])
  await fleet.operator.schedules.remove('invoice')
  await fleet.advance('20m')
  const all = [...ran(fleet, 'bill'), ...ran(fleet, 'invoice')]
  assert.deepEqual(all, minutes(0, 43), 'none lost, none twice')
  assert.equal(ran(fleet, 'invoice').at(-1), 43)
  assert.equal((await fleet.operator.schedules.get('bill')).state, 'retired')
  fleet.end()
})

test('a process whose new names are taken leaves the old ones to a newer release that has other jobs of these names', async () => {
  const fleet = await createFleet()
  // Several, so that some of them lie in the buckets of each process; often, so that they are due before a process hears of the release.
  const names = Array.from({ length: 8 }, (_, index) => `bill ${index}`)
  const often: Declare = (app) => {
    for (const name of names) app.job(name, '* * * * * *', () => {})
  }
  for (const name of names) {
    await fleet.operator.schedules.create(`new ${name}`, { job: 'other', at: NEW_YEAR + 1_000 * MINUTE })
  }
  const old = await fleet.add(often, { deployment: 'v1' })
  await fleet.advance('1m')
  const renaming = await fleet.add(
    (app) => {
      for (const name of names) app.job(`new ${name}`, { cron: '* * * * * *', was: name }, () => {})
    },
    { deployment: 'v2' },
  )
  await fleet.world.until(old.app.stop())
  await fleet.advance('1m')
  // It has room for one fire only: others wait for a process that has their job.
  const long: Declare = (app, member) => {
    for (const name of names) app.job(name, '* * * * * *', () => member.clock.sleep(MINUTE))
  }
  // The older process cannot read the record of its app, so it does not hear of the release.
  renaming.link.fail('loadApp', { kind: 'throws' }, 1_000)
  await fleet.add(long, { deployment: 'v3', concurrency: 1 })
  const since = fleet.now()
  await fleet.advance('1m')
  const runs = fleet.handled.filter(({ member }) => member === renaming)
  assert.equal(runs.filter(({ dueAt }) => dueAt > since).length, 0)
  assert.ok(runs.length > 300, 'until then it ran them')
  fleet.end()
})

test('a job whose new name is taken is not retired when its app has other jobs, with or without ids', async () => {
  for (const [before, after] of [
    ['v1', 'v2'],
    [undefined, undefined],
    ['v1', undefined],
  ]) {
    const fleet = await createFleet()
    await fleet.operator.schedules.create('invoice', { job: 'other', at: NEW_YEAR + 1_000 * MINUTE })
    const old = await fleet.add(jobs('bill', 'report'), { deployment: before })
    await fleet.advance('90s')
    const declare: Declare = (app, member) => {
      jobs('report')(app, member)
      renamed(app, member)
    }
    await fleet.add(declare, { deployment: after })
    await fleet.advance('30s')
    await fleet.world.until(old.app.stop())
    await fleet.advance('30m')
    assert.deepEqual(ran(fleet, 'bill'), minutes(0, 32), `${before} ${after}`)
    fleet.end()
  }
})

test('a job whose role is scaled to zero keeps its name, though a live process of another app declares it', async () => {
  for (const definition of ['* * * * *', '*/2 * * * *']) {
    const fleet = await createFleet()
    await fleet.add(jobs('report'), { app: 'shop', deployment: 'v1' })
    const role = await fleet.add(jobs('cleanup'), { app: 'shop', deployment: 'v1' })
    await fleet.advance('90s')
    await fleet.world.until(role.app.stop())
    const crm = await fleet.add((app) => app.job('cleanup', definition, () => {}), { app: 'crm', deployment: 'c1' })
    await fleet.advance('30m')
    await fleet.add(jobs('cleanup'), { app: 'shop', deployment: 'v1' })
    await fleet.advance('10m')
    assert.equal(fleet.handled.filter(({ member }) => member === crm).length, 0)
    assert.deepEqual(ran(fleet, 'cleanup').slice(-10), minutes(32, 41))
    fleet.end()
  }
})

test('a process of an app that lost a name while it was away is refused, and gets the name back when the other app has left', async () => {
  const fleet = await createFleet()
  const shop = await fleet.add(jobs('bill'), { app: 'shop', deployment: 'v1' })
  const crm = await fleet.add(jobs('bill', 'mail'), { app: 'crm', deployment: 'c1' })
  await fleet.advance('90s')
  await fleet.world.until(shop.app.stop())
  await fleet.advance('5m')
  assert.deepEqual(await ownersOf(fleet, 'bill'), ['crm'])
  const back = await fleet.add(jobs('bill'), { app: 'shop', deployment: 'v1' })
  await fleet.advance('2m')
  assert.equal(fleet.events('schedule.refused', back).length, 1)
  await fleet.world.until(crm.app.stop())
  await fleet.advance('10m')
  assert.deepEqual(ran(fleet, 'bill').slice(-8), minutes(11, 18))
  fleet.end()
})

test('an app that comes back while another one is taking its name either keeps the name or is refused', async () => {
  const owners = new Set<string | null>()
  for (let delayMs = 0; delayMs <= 14_000; delayMs += 250) {
    // Without an id, a process that comes back finds itself on record and changes nothing there.
    const deployment = delayMs % 500 === 0 ? 'v1' : undefined
    const fleet = await createFleet()
    const shop = await fleet.add(jobs('bill'), { app: 'shop', deployment })
    const crm = await fleet.add(jobs('bill', 'mail'), { app: 'crm', deployment: 'c1' })
    await fleet.advance('90s')
    // The death of its only process is not written into the record of its app.
    shop.crash()
    // Every write of the other app takes long, and so do its answers.
    crm.link.disturb(({ name }) =>
      ['apply', 'saveApp', 'listInstances'].includes(name) ? { kind: 'slow', requestMs: 900, answerMs: 900 } : null,
    )
    await fleet.advance(`${90_000 + delayMs}ms`)
    const back = await fleet.add(jobs('bill'), { app: 'shop', deployment })
    await fleet.advance('5m')
    const [owner] = await ownersOf(fleet, 'bill')
    owners.add(owner!)
    const refused = fleet.events('schedule.refused', back).filter(({ process }) => process === undefined)
    assert.equal(refused.length, owner === 'crm' ? 1 : 0, `after ${delayMs} ms, ${owner}`)
    await fleet.world.until((owner === 'crm' ? crm : back).app.stop())
    await fleet.advance('10m')
    const now = (fleet.now() - NEW_YEAR) / MINUTE
    assert.ok(ran(fleet, 'bill').at(-1)! > now - 2, `after ${delayMs} ms it goes on in the app that is left`)
    fleet.end()
  }
  assert.equal(owners.size, 2, 'both happen')
})

test('the old name of a renamed job stays with its app, and so does what waits under it', async () => {
  const fleet = await createFleet()
  const retry = { attempts: 5, backoff: { base: '10m', factor: 1, jitter: 0 } } as const
  const failing = (): never => {
    throw new Error('provider is down')
  }
  const declareOld: Declare = (app) => void app.job('bill', { cron: '0 * * * *', retry }, failing)
  const declareNew: Declare = (app) => void app.job('invoice', { cron: '0 * * * *', was: 'bill', retry }, failing)
  const old = await fleet.add(declareOld, { app: 'shop', deployment: 'v1' })
  await fleet.advance('2m')
  await fleet.world.until(old.app.stop())
  await fleet.add(declareNew, { app: 'shop', deployment: 'v2' })
  await fleet.advance('1m')
  const crm = await fleet.add(jobs('bill'), { app: 'crm', deployment: 'c1' })
  await fleet.advance('2h')
  assert.deepEqual(await ownersOf(fleet, 'bill'), ['shop'])
  assert.equal(fleet.handled.filter(({ member }) => member === crm).length, 0)
  const [refusal] = fleet.events('schedule.refused', crm)
  assert.match(refusal!.message, /renamed to invoice/)
  fleet.end()
})

test('an old release that comes back takes no name of another app that its newest release does not declare', async () => {
  const fleet = await createFleet()
  const first = await fleet.add(jobs('bill'), { app: 'shop', deployment: 'v1' })
  await fleet.advance('90s')
  await fleet.world.until(first.app.stop())
  await fleet.add(jobs('report'), { app: 'shop', deployment: 'v2' })
  await fleet.advance('5m')
  const crm = await fleet.add((app) => app.job('bill', '*/2 * * * *', () => {}), { app: 'crm', deployment: 'c1' })
  await fleet.advance('5m')
  const old = await fleet.add(jobs('bill'), { app: 'shop', deployment: 'v1' })
  await fleet.advance('2m')
  await fleet.world.until(crm.app.stop())
  await fleet.advance('3m')
  assert.deepEqual(await ownersOf(fleet, 'bill'), ['crm'])
  assert.equal(fleet.handled.filter(({ member }) => member === old).length, 0)
  fleet.end()
})

test('functions that are called every few minutes keep their names, though a live process of another app declares them', async () => {
  const fleet = await createFleet()
  const call = async (): Promise<void> => {
    const called = fleet.make(jobs('cleanup'), { app: 'shop', deployment: 'v1' })
    await fleet.world.until(called.app.runDue())
    await fleet.world.until(called.app.stop())
  }
  await call()
  const crm = await fleet.add(jobs('cleanup', 'mail'), { app: 'crm', deployment: 'c1' })
  for (let calls = 0; calls < 12; calls++) {
    await fleet.advance('5m')
    await call()
  }
  assert.deepEqual(await ownersOf(fleet, 'cleanup'), ['shop'])
  assert.equal(fleet.handled.filter(({ member, schedule }) => member === crm && schedule === 'cleanup').length, 0)
  fleet.end()
})

test('a retry that is due after its schedule has passed to another app starts there in time', async () => {
  const fleet = await createFleet()
  const options = { cron: '0 * * * *', retry: { attempts: 1, backoff: { base: '1m', jitter: 0 } } } as const
  const slow: Declare = (app, member) =>
    void app.job('bill', options, async () => {
      await member.clock.sleep(25 * MINUTE)
      throw new Error('provider is down')
    })
  await fleet.add(slow, { app: 'shop', deployment: 'v1' })
  await fleet.advance('50m')
  const crm = await fleet.add((app) => app.job('bill', options, () => {}), { app: 'crm', deployment: 'c1' })
  await fleet.advance('11m')
  // It drops the job, which is retired after ten minutes, while a run of it goes on.
  await fleet.add(jobs('report'), { app: 'shop', deployment: 'v2' })
  await fleet.advance('20m')
  assert.deepEqual(await ownersOf(fleet, 'bill'), ['crm'])
  const since = fleet.now()
  await fleet.advance('10m')
  const [run] = fleet.handled.filter(({ member, dueAt }) => member === crm && dueAt === NEW_YEAR + 60 * MINUTE)
  assert.ok(run !== undefined && run.startedAt < since + 10 * MINUTE)
  fleet.end()
})

test('a schedule that disappears from the store is declared again', async () => {
  const fleet = await createFleet()
  await fleet.add(jobs('bill'), { app: 'shop', deployment: 'v1' })
  await fleet.advance('90s')
  await fleet.operator.schedules.remove('bill', { force: true })
  await fleet.advance('70m')
  assert.deepEqual(ran(fleet, 'bill').slice(-5), minutes(67, 71))
  fleet.end()
})

test('of two apps that wait for the name of a third one that has left, the first that gets it keeps it', async () => {
  const fleet = await createFleet()
  const shop = await fleet.add(jobs('bill'), { app: 'shop', deployment: 'v1' })
  await fleet.advance('90s')
  await fleet.add(jobs('bill'), { app: 'crm', deployment: 'v1' })
  // So that it finds the name free after the other one has taken it.
  await fleet.add(jobs('bill'), { app: 'depot', deployment: 'v1', holdDown: '65s' })
  await fleet.advance('90s')
  await fleet.world.until(shop.app.stop())
  const owners: (string | null)[] = []
  for (let look = 0; look < 1_200; look++) {
    await fleet.advance('100ms')
    const [app] = await ownersOf(fleet, 'bill')
    if (owners.at(-1) !== app) owners.push(app!)
  }
  assert.deepEqual(owners, ['shop', 'crm'])
  fleet.end()
})

test('an app that comes back just before the end of the hold-down keeps its names, though its rival could not look', async () => {
  for (const definition of ['* * * * *', '*/2 * * * *']) {
    const fleet = await createFleet()
    const shop = await fleet.add(jobs('bill'), { app: 'shop', deployment: 'v1' })
    const crm = await fleet.add((app) => app.job('bill', definition, () => {}), { app: 'crm', deployment: 'v1' })
    await fleet.advance('90s')
    await fleet.world.until(shop.app.stop())
    await fleet.advance('55s')
    // It last looked before the app was back, and the hold-down ends before it looks again.
    crm.link.disturb(({ name }) => (name === 'beat' ? { kind: 'slow', requestMs: 9_000 } : null))
    await fleet.advance('1s')
    await fleet.add(jobs('bill'), { app: 'shop', deployment: 'v1' })
    await fleet.advance('10s')
    crm.link.disturb(() => null)
    await fleet.advance('5m')
    assert.equal((await fleet.operator.schedules.get('bill')).app, 'shop')
    assert.equal(fleet.handled.filter(({ member }) => member === crm).length, 0)
    fleet.end()
  }
})

test('a name that another app yields is not taken by an older release while the newest one has the job under another name', async () => {
  for (const ids of [['v1', 'v2', 'v3'] as const, [undefined, undefined, undefined] as const]) {
    const fleet = await createFleet()
    const other: Declare = (app) => void app.job('invoice', '30 * * * * *', () => {})
    const crm = await fleet.add(other, { app: 'crm', deployment: 'c1' })
    await fleet.add(jobs('bill'), { app: 'shop', deployment: ids[0] })
    await fleet.advance('90s')
    await fleet.add(renamed, { app: 'shop', deployment: ids[1] })
    await fleet.advance('90s')
    await fleet.add(jobs('bill', 'report'), { app: 'shop', deployment: ids[2] })
    await fleet.advance('90s')
    await fleet.world.until(crm.app.stop())
    const from = ran(fleet, 'invoice').length
    await fleet.advance('20m')
    assert.deepEqual(ran(fleet, 'bill').slice(-15), minutes(10, 24), 'the job goes on')
    assert.deepEqual(ran(fleet, 'invoice').slice(from), [], 'and runs under one name')
    fleet.end()
  }
})

test('functions that only call runDue take over the names of an app that left an hour ago', async () => {
  const fleet = await createFleet()
  const old = await fleet.add(jobs('bill'), { app: 'shop', deployment: 'v1' })
  await fleet.advance('90s')
  await fleet.world.until(old.app.stop())
  const called = await fleet.add(jobs('bill'), { app: 'shop-v2', deployment: 'v1' })
  await fleet.world.until(called.app.stop())
  for (let minute = 0; minute < 90; minute++) {
    await fleet.advance('1m')
    await fleet.world.until(called.app.runDue())
  }
  assert.deepEqual(ran(fleet, 'bill').slice(-20), minutes(72, 91))
  fleet.end()
})

test('a job whose new name is taken goes on after a rollback that was undone', async () => {
  for (const ids of [['v1', 'v2', 'v3'] as const, [undefined, undefined, undefined] as const]) {
    const fleet = await createFleet()
    await fleet.operator.schedules.create('invoice', { job: 'other', at: NEW_YEAR + 1_000 * MINUTE })
    const old = await fleet.add(jobs('bill'), { deployment: ids[0] })
    await fleet.advance('90s')
    await fleet.add(renamed, { deployment: ids[1] })
    await fleet.world.until(old.app.stop())
    await fleet.advance('5m')
    const back = await fleet.add(jobs('bill', 'report'), { deployment: ids[2] })
    await fleet.advance('5m')
    await fleet.world.until(back.app.stop())
    await fleet.advance('30m')
    assert.deepEqual(ran(fleet, 'bill').slice(-25), minutes(17, 41), String(ids))
    fleet.end()
  }
})

/** For each process, the causes of the refused declarations that it reported, and its reports about other processes. */
const refusalsBy = (fleet: Fleet, member: Member): string[] =>
  fleet.events('schedule.refused', member).map(({ code, message, process }) => (process ? message : code))

test('a process that hung while another app took over its job does not report that it runs the job', async () => {
  const fleet = await createFleet()
  const shop = await fleet.add(jobs('bill'), { app: 'shop', deployment: 's1' })
  await fleet.advance('90s')
  shop.pause()
  const worker = await fleet.add(jobs('bill'), { app: 'worker', deployment: 'w1' })
  await fleet.advance('10m')
  assert.equal((await fleet.operator.schedules.get('bill')).app, 'worker')
  shop.resume()
  await fleet.advance('5m')
  assert.deepEqual(refusalsBy(fleet, shop), ['SCHEDULE_NAME_TAKEN'])
  const [, about] = refusalsBy(fleet, worker)
  assert.match(String(about), /^The app shop declares a job bill as well, .* worker alone runs it\./)
  fleet.end()
})

test('an app that drains keeps its names until it has left or died, and yields them after the hold-down', async () => {
  for (const end of ['leaves', 'dies', 'is drained by an operator and dies'] as const) {
    const fleet = await createFleet()
    const declare: Declare = (app, member) => {
      jobs('bill')(app, member)
      app.job('long', {}, () => member.clock.sleep(20 * MINUTE))
    }
    const shop = await fleet.add(declare, { app: 'shop', deployment: 's1', drain: '10m' })
    await fleet.operator.schedules.trigger('long')
    await fleet.advance('90s')
    await fleet.add(jobs('bill'), { app: 'worker', deployment: 'w1' })
    const isAsked = end === 'is drained by an operator and dies'
    const stopping = isAsked ? fleet.operator.instances.drain(shop.app.instance!) : shop.app.stop()
    await fleet.advance('8m')
    assert.equal((await fleet.operator.schedules.get('bill')).app, 'shop', `${end}: a draining process counts as live`)
    if (end === 'leaves') await fleet.world.until(stopping)
    else {
      shop.crash()
      // A death is noticed within a lease and a half.
      await fleet.advance('25s')
    }
    const instances = await fleet.operator.instances.list()
    assert.ok(!instances.some(({ app, state }) => app === 'shop' && (state === 'live' || state === 'draining')), end)
    await fleet.advance('65s')
    assert.equal((await fleet.operator.schedules.get('bill')).app, 'worker', end)
    await fleet.advance('3m')
    assert.equal(ran(fleet, 'bill').at(-1), Math.floor((fleet.now() - NEW_YEAR) / MINUTE), end)
    fleet.end()
  }
})

test('each of many processes whose declarations are refused reports it once', async () => {
  const fleet = await createFleet()
  const shop = await fleet.add(jobs('bill'), { app: 'shop', deployment: 's1' })
  const crm = await fleet.addMany(5, jobs('bill'), { app: 'crm', deployment: 'c1' })
  await fleet.advance('5m')
  for (const member of [shop, ...crm]) assert.equal(fleet.events('schedule.refused', member).length, 1)
  assert.ok(crm.every((member) => refusalsBy(fleet, member)[0] === 'SCHEDULE_NAME_TAKEN'))
  fleet.end()
})

test('a process whose definition stands reports once that others of its deployment are refused, and each of them once', async () => {
  const fleet = await createFleet()
  const other: Declare = (app) => void app.job('bill', '*/2 * * * *', () => {})
  const first = await fleet.add(jobs('bill'), { app: 'shop', deployment: 's1' })
  const others = await fleet.addMany(5, other, { app: 'shop', deployment: 's1' })
  await fleet.advance('5m')
  for (const member of [first, ...others]) assert.equal(fleet.events('schedule.refused', member).length, 1)
  assert.notEqual(fleet.events('schedule.refused', first)[0]?.process, undefined)
  assert.ok(others.every((member) => refusalsBy(fleet, member)[0] === 'SCHEDULE_DEFINED_TWICE'))
  fleet.end()
})

test('a new name that returns waits while another app has the old name', async () => {
  const fleet = await createFleet()
  const options = { cron: '* * * * *', misfire: 'all', guarantee: 'at-most-once' } as const
  const bill: Declare = (app) => void app.job('bill', options, () => {})
  const invoice: Declare = (app) => void app.job('invoice', { ...options, was: 'bill' }, () => {})
  const first = await fleet.add(bill, { app: 'crm', deployment: 'v1' })
  await fleet.advance('150s')
  const second = await fleet.add(invoice, { app: 'crm', deployment: 'v2' })
  await fleet.world.until(first.app.stop())
  await fleet.operator.schedules.create('invoice for Ada', { job: 'invoice', cron: '* * * * *' })
  await fleet.advance('5m')
  await fleet.world.until(second.app.stop())
  const third = await fleet.add(bill, { app: 'crm', deployment: 'v1' })
  await fleet.advance('5m')
  await fleet.world.until(third.app.stop())
  await fleet.add(bill, { app: 'shop', deployment: 's1' })
  await fleet.advance('5m')
  const last = await fleet.add(invoice, { app: 'crm', deployment: 'v2' })
  await fleet.advance('5m')
  const all = [...ran(fleet, 'bill'), ...ran(fleet, 'invoice')]
  assert.equal(all.length, new Set(all).size, all.join())
  assert.deepEqual(await ownersOf(fleet, 'bill'), ['shop'])
  assert.deepEqual(ran(fleet, 'invoice for Ada').slice(-4), minutes(19, 22))
  const refused = fleet.told.filter(({ member, event }) => member === last && event.type === 'schedule.refused')
  assert.equal(refused.length, 1)
  fleet.end()
})

test('functions take a name of an app whose last process was killed, a day after it', async () => {
  for (const isFunction of [true, false]) {
    const fleet = await createFleet()
    const call = async (app: string): Promise<void> => {
      await fleet.world.until(fleet.make(jobs('bill'), { app }).app.runDue())
    }
    if (isFunction) await call('crm')
    const killed = isFunction ? fleet.make(jobs('bill'), { app: 'crm' }) : await fleet.add(jobs('bill'), { app: 'crm' })
    if (isFunction) {
      killed.at('due:sent', () => killed.crash())
      void killed.app.runDue()
    } else killed.crash()
    for (let hours = 0; hours < 23; hours++) {
      await fleet.advance('1h')
      await call('shop')
    }
    assert.deepEqual(await ownersOf(fleet, 'bill'), ['crm'])
    for (let hours = 0; hours < 3; hours++) {
      await fleet.advance('1h')
      await call('shop')
    }
    assert.deepEqual(await ownersOf(fleet, 'bill'), ['shop'])
    fleet.end()
  }
})

test('no process counts a live peer as dead because the store was down, or its clock was set', async () => {
  for (const how of ['outage', 'step'] as const) {
    for (let seed = 1; seed <= 5; seed++) {
      const fleet = await createFleet({ seed })
      const old = await fleet.add(jobs('bill'), { app: 'crm', deployment: 'v1' })
      await fleet.advance('2m')
      await fleet.add(jobs('bill', 'report'), { app: 'crm', deployment: 'v2' })
      await fleet.add(jobs('report'), { app: 'shop' })
      await fleet.advance('1m')
      await fleet.world.until(old.app.stop())
      await fleet.advance(10 * MINUTE + seed * 1_700)
      const end = how === 'outage' ? fleet.outage({ kind: 'throws' }) : () => {}
      if (how === 'outage') await fleet.advance('30s')
      fleet.stepStore(25 * 60 * MINUTE)
      end()
      await fleet.advance(seed * 100)
      await fleet.add(jobs('bill'), { app: 'crm', deployment: 'v1' })
      await fleet.advance('15m')
      assert.deepEqual(await ownersOf(fleet, 'bill', 'report'), ['crm', 'crm'], `${how}, seed ${seed}`)
      assert.equal((await fleet.operator.schedules.get('report')).state, 'active', `${how}, seed ${seed}`)
      fleet.end()
    }
  }
})

test('an old name that comes back repeats nothing that ran under the new one, when another app gives that up', async () => {
  const fleet = await createFleet()
  const options = { cron: '* * * * *', misfire: 'all' } as const
  const bill: Declare = (app) => void app.job('bill', options, () => {})
  const invoice: Declare = (app) => void app.job('invoice', { ...options, was: 'bill' }, () => {})
  const first = await fleet.add(bill, { app: 'shop', deployment: 'v1' })
  await fleet.advance('150s')
  const second = await fleet.add(invoice, { app: 'shop', deployment: 'v2' })
  await fleet.world.until(first.app.stop())
  await fleet.advance('5m')
  await fleet.world.until(second.app.stop())
  const crm = await fleet.add(jobs('invoice', 'mail'), { app: 'crm', deployment: 'c1' })
  await fleet.advance('5m')
  await fleet.add(bill, { app: 'shop', deployment: 'v1' })
  await fleet.advance('5m')
  await fleet.add(jobs('mail'), { app: 'crm', deployment: 'c2' })
  await fleet.world.until(crm.app.stop())
  await fleet.advance('10m')
  const all = [...ran(fleet, 'bill'), ...ran(fleet, 'invoice')]
  assert.equal(all.length, new Set(all).size, all.join())
  assert.deepEqual(ran(fleet, 'bill').slice(-5), minutes(23, 27))
  assert.deepEqual(await ownersOf(fleet, 'bill', 'invoice'), ['shop', 'shop'])
  fleet.end()
})

/** The app `shop` renames `bill` to `invoice`; between its two writes the app `crm` gets a job of the new name. */
async function loseNewName(end: (member: Member) => void): Promise<{ fleet: Fleet; second: Member; crm: Member }> {
  const fleet = await createFleet()
  const first = await fleet.add(jobs('bill'), { app: 'shop', deployment: 's1' })
  await fleet.advance('2m50s')
  await fleet.world.until(first.app.stop())
  const second = fleet.make(renamed, { app: 'shop', deployment: 's2' })
  let isFirst = true
  second.at('declare:sent', async () => {
    if (!isFirst) return
    isFirst = false
    await second.clock.sleep(20_000)
    end(second)
  })
  void second.app.start()
  await fleet.advance('5s')
  assert.equal((await fleet.operator.schedules.get('bill')).state, 'retired')
  const crm = await fleet.add(jobs('invoice', 'mail'), { app: 'crm', deployment: 'c1' })
  await fleet.advance('5m')
  assert.deepEqual(await ownersOf(fleet, 'bill', 'invoice'), ['shop', 'crm'])
  return { fleet, second, crm }
}

test('a job that loses its new name to another app in the middle of the rename goes on under the old one, until that is free', async () => {
  const { fleet, second, crm } = await loseNewName(() => {})
  assert.equal((await fleet.operator.schedules.get('bill')).state, 'active')
  const refused = fleet.events('schedule.refused', second).map(({ code, schedule }) => `${code} ${schedule}`)
  assert.deepEqual(refused, ['SCHEDULE_NAME_TAKEN invoice'])
  assert.deepEqual(ran(fleet, 'bill'), minutes(0, 7))
  await fleet.add(jobs('mail'), { app: 'crm', deployment: 'c2' })
  await fleet.world.until(crm.app.stop())
  await fleet.advance('10m')
  assert.deepEqual(await ownersOf(fleet, 'bill', 'invoice'), ['shop', 'shop'])
  assert.equal((await fleet.operator.schedules.get('bill')).state, 'retired')
  const own = fleet.handled.filter(({ member, schedule }) => member !== crm && schedule === 'invoice')
  const all = [...ran(fleet, 'bill'), ...own.map(({ dueAt }) => (dueAt - NEW_YEAR) / MINUTE)]
  assert.deepEqual(all, minutes(0, 17), 'none lost, none twice')
})

test('a job that was to get a name which another app has by now goes on when a release declares the old name', async () => {
  // The first one counts again when the second one has left for the hold-down.
  for (const [deployment, latest] of [
    ['s1', 8],
    ['s3', 7],
  ] as const) {
    const { fleet } = await loseNewName((second) => second.crash())
    await fleet.add(jobs('bill'), { app: 'shop', deployment })
    await fleet.advance('3m')
    assert.equal((await fleet.operator.schedules.get('bill')).state, 'active')
    assert.deepEqual(ran(fleet, 'bill'), [0, 1, 2, ...minutes(latest, 10)])
  }
})

test('an old name stays retired while another app has the job under the new one, however often that was retired', async () => {
  const fleet = await createFleet()
  let releases = 0
  let last = await fleet.add(jobs('bill', 'ping'), { app: 'shop', deployment: 's0' })
  const release = async (declare: Declare): Promise<void> => {
    await fleet.advance('150s')
    await fleet.world.until(last.app.stop())
    last = await fleet.add(declare, { app: 'shop', deployment: `s${++releases}` })
  }
  const withRename: Declare = (app, member) => {
    jobs('ping')(app, member)
    renamed(app, member)
  }
  await release(withRename)
  for (let cycles = 0; cycles <= MAX_RETIREMENTS; cycles++) {
    await release(jobs('ping'))
    await release(withRename)
  }
  await fleet.advance('150s')
  await fleet.world.until(last.app.stop())
  await fleet.advance('70m')
  const crm = await fleet.add(jobs('invoice'), { app: 'crm', deployment: 'c1' })
  await fleet.advance('5m')
  assert.deepEqual(await ownersOf(fleet, 'bill', 'invoice'), ['shop', 'crm'])
  const { retirements } = await fleet.operator.schedules.get('invoice')
  assert.ok(retirements.length >= MAX_RETIREMENTS)
  const before = ran(fleet, 'bill')
  const back = await fleet.add(withRename, { app: 'shop', deployment: `s${releases}` })
  await fleet.advance('5m')
  assert.deepEqual(ran(fleet, 'bill'), before)
  assert.equal((await fleet.operator.schedules.get('bill')).state, 'retired')
  assert.deepEqual(refusalsBy(fleet, back), ['SCHEDULE_NAME_TAKEN'])
  assert.equal(fleet.handled.findLast(({ schedule }) => schedule === 'invoice')?.member, crm)
  // Without a look at the promises: the schedule no longer knows all stretches in which it was retired.
  for (const member of fleet.members) member.crash()
})
