import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet, type Declare, type Fleet, type Member, NEW_YEAR } from './fleet.ts'

// A job that is renamed and moves to another app: `was` links names inside one app, and takes a name of another app only if that is free.

const MINUTE = 60_000
const OPTIONS = { cron: '* * * * *', misfire: 'all' } as const
const IDS = [(id: string) => id, () => undefined] as const

const job =
  (name: string, was?: string): Declare =>
  (app) =>
    void app.job(name, was === undefined ? OPTIONS : { ...OPTIONS, was }, () => {})

/** It fires after the end of every test. */
const idle =
  (name: string): Declare =>
  (app) =>
    void app.job(name, '0 0 1 7 *', () => {})

const both =
  (...all: Declare[]): Declare =>
  (app, member) => {
    for (const declare of all) declare(app, member)
  }

/** In minutes, what was run under these names, in the order of the instants; without what was run again after a crash. */
function ran(fleet: Fleet, ...names: string[]): number[] {
  const own = fleet.handled.filter(({ schedule, attempt }) => names.includes(schedule) && attempt === 1)
  return own.map(({ dueAt }) => (dueAt - NEW_YEAR) / MINUTE).sort((one, other) => one - other)
}

const minutes = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

const minute = (fleet: Fleet): number => Math.floor((fleet.now() - NEW_YEAR) / MINUTE)

const stop = (fleet: Fleet, member: Member): Promise<void> => fleet.world.until(member.app.stop())

const ownersOf = (fleet: Fleet, ...names: string[]): Promise<(string | null)[]> =>
  Promise.all(names.map(async (name) => (await fleet.operator.schedules.find(name))?.app ?? null))

const refusals = (fleet: Fleet, member: Member): string[] =>
  fleet.events('schedule.refused', member).map(({ message }) => message)

/** Instead of `fleet.end()`, which takes the names of two apps for one job if a release has linked them. */
function crashAll(fleet: Fleet): void {
  for (const member of fleet.members) member.crash()
}

/** The app `crm` has the job of `shop` under the name `invoice`. */
async function moved(fleet: Fleet, id: (typeof IDS)[number]): Promise<Member> {
  const shop = await fleet.add(job('bill'), { app: 'shop', deployment: id('v1') })
  await fleet.advance('150s')
  const crm = await fleet.add(job('invoice', 'bill'), { app: 'crm', deployment: id('v2') })
  await stop(fleet, shop)
  await fleet.advance('5m')
  assert.deepEqual(await ownersOf(fleet, 'bill', 'invoice'), ['crm', 'crm'])
  assert.deepEqual(ran(fleet, 'bill', 'invoice'), minutes(0, 7))
  return crm
}

test('a release that moved a job to another app and renamed it is rolled back: the old name starts from scratch when the other app has left', async () => {
  for (const id of IDS) {
    const fleet = await createFleet()
    const crm = await moved(fleet, id)
    const shop = await fleet.add(job('bill'), { app: 'shop', deployment: id('v1') })
    await fleet.advance('90s')
    assert.match(refusals(fleet, shop)[0]!, /which the app crm renamed to invoice\. .* free once crm is gone/)
    assert.deepEqual(ran(fleet, 'bill', 'invoice'), minutes(0, 9), 'crm runs it')
    await stop(fleet, crm)
    await fleet.advance('10m')
    assert.deepEqual(await ownersOf(fleet, 'bill', 'invoice'), ['shop', 'crm'])
    const since = ran(fleet, 'bill').find((one) => one > 9)!
    assert.deepEqual(ran(fleet, 'bill', 'invoice'), [...minutes(0, 9), ...minutes(since, 19)])
    assert.ok(since <= 11)
    // The other app continues where it stopped, with its own job; that it was `bill` does not matter.
    const again = await fleet.add(job('invoice', 'bill'), { app: 'crm', deployment: id('v2') })
    await fleet.advance('5m')
    assert.deepEqual(refusals(fleet, again), [])
    assert.deepEqual(ran(fleet, 'invoice'), minutes(ran(fleet, 'invoice')[0]!, 24))
    assert.deepEqual(ran(fleet, 'bill').slice(-10), minutes(15, 24))
    crashAll(fleet)
  }
})

test('fires that wait under the old name of an app that has left end as retired when another app takes the name, and the history stays', async () => {
  const fleet = await createFleet()
  const failing: Declare = (app) =>
    void app.job('bill', { cron: '0 0 1 7 *', retry: { attempts: 3, backoff: { base: '20m', jitter: 0 } } }, () => {
      throw new Error('provider is down')
    })
  const first = await fleet.add(failing, { app: 'shop', deployment: 'v1' })
  await fleet.operator.schedules.trigger('bill', { dedupe: 'order-1' })
  await fleet.advance('150s')
  await fleet.operator.schedules.pause('bill', { note: 'audit' })
  const second = await fleet.add(job('invoice', 'bill'), { app: 'shop', deployment: 'v2' })
  await stop(fleet, first)
  await fleet.advance('2m')
  await fleet.operator.schedules.resume('invoice')
  await stop(fleet, second)
  const crm = await fleet.add(job('bill'), { app: 'crm', deployment: 'c1' })
  await fleet.advance('5m')
  assert.deepEqual(await ownersOf(fleet, 'bill', 'invoice'), ['crm', 'shop'])
  const { items } = await fleet.operator.fires.list({ schedule: 'bill', limit: 10 })
  assert.deepEqual(
    items.map(({ state, reason }) => [state, reason]),
    [['cancelled', 'retired']],
  )
  assert.equal((await fleet.operator.schedules.get('bill')).pause?.note, 'audit', 'the name brings its own pause')
  await fleet.operator.schedules.resume('bill', { missed: 'all' })
  await fleet.advance('5m')
  assert.ok(ran(fleet, 'bill').every((one) => one === 0 || one >= 5))
  assert.ok(fleet.handled.filter(({ member }) => member === crm).length >= 5)
  crashAll(fleet)
})

test('a job that was the old name of a job of another app is refused, with the name that it has now', async () => {
  for (const id of IDS) {
    const fleet = await createFleet()
    const crm = await moved(fleet, id)
    const third = await fleet.add(job('receipt', 'bill'), { app: 'shop', deployment: id('v3') })
    await fleet.advance('2m')
    await stop(fleet, crm)
    await fleet.advance('5m')
    assert.deepEqual(await ownersOf(fleet, 'bill', 'invoice', 'receipt'), ['crm', 'crm', null], 'also if that is gone')
    assert.match(
      refusals(fleet, third)[0]!,
      /^The job receipt was bill, which the app crm renamed to invoice\. Write was: 'invoice'/,
    )
    await fleet.add(job('receipt', 'invoice'), { app: 'shop', deployment: id('v4') })
    await stop(fleet, third)
    await fleet.advance('5m')
    assert.deepEqual(await ownersOf(fleet, 'bill', 'invoice', 'receipt'), ['crm', 'shop', 'shop'])
    assert.deepEqual(ran(fleet, 'bill', 'invoice', 'receipt'), minutes(0, minute(fleet)))
    fleet.end()
  }
})

test('a job that an app has lost under its new name does not come back under the old one beside it, until that is free', async () => {
  for (const id of IDS) {
    for (const end of ['is gone', 'drops it', 'renames it, and is gone'] as const) {
      const fleet = await createFleet()
      const first = await fleet.add(job('bill'), { app: 'shop', deployment: id('v1') })
      await fleet.advance('150s')
      const second = await fleet.add(job('invoice', 'bill'), { app: 'shop', deployment: id('v2') })
      await stop(fleet, first)
      await fleet.advance('2m')
      await stop(fleet, second)
      let crm = await fleet.add(both(job('invoice'), idle('post')), { app: 'crm', deployment: 'c1' })
      await fleet.advance('3m')
      if (end === 'renames it, and is gone') {
        const next = await fleet.add(both(job('receipt', 'invoice'), idle('post')), { app: 'crm', deployment: 'c2' })
        await stop(fleet, crm)
        crm = next
      }
      const back = await fleet.add(job('bill'), { app: 'shop', deployment: id('v1') })
      await fleet.advance('3m')
      assert.match(refusals(fleet, back)[0]!, /^The job bill was renamed to invoice, which belongs to the app crm now/)
      assert.equal(fleet.handled.filter(({ member }) => member === back).length, 0)
      const { refused } = await fleet.operator.deployments.get('shop')
      assert.deepEqual(
        refused.map(({ schedule, code, instance }) => [schedule, code, instance === back.app.instance]),
        [['bill', 'SCHEDULE_NAME_TAKEN', true]],
      )
      if (end === 'drops it') await fleet.add(idle('post'), { app: 'crm', deployment: 'c3' })
      await stop(fleet, crm)
      await fleet.advance('5m')
      assert.deepEqual(await ownersOf(fleet, 'bill', 'invoice'), ['shop', 'shop'], end)
      const all = ran(fleet, 'bill', 'invoice', 'receipt')
      assert.deepEqual(all, [...new Set(all)], `${end}: none twice`)
      if (end === 'is gone') assert.deepEqual(all, minutes(0, minute(fleet)))
      assert.equal(ran(fleet, 'bill').at(-1), minute(fleet), end)
      fleet.end()
    }
  }
})

test('a name that another app has dropped is taken, also if the releases of this app have declared it as another job', async () => {
  for (const id of IDS) {
    const fleet = await createFleet()
    const earlier = await fleet.add(both(idle('bill'), idle('invoice')), { app: 'crm', deployment: id('c1') })
    await fleet.advance('90s')
    await stop(fleet, earlier)
    await fleet.operator.schedules.remove('bill', { force: true })
    await fleet.operator.schedules.remove('invoice', { force: true })
    const shop = await fleet.add(both(job('bill'), idle('mail')), { app: 'shop', deployment: 'v1' })
    await fleet.advance('90s')
    await fleet.add(idle('mail'), { app: 'shop', deployment: 'v2' })
    await stop(fleet, shop)
    await fleet.advance('3m')
    const crm = await fleet.add(job('invoice', 'bill'), { app: 'crm', deployment: id('c2') })
    await fleet.advance('5m')
    const codes = fleet.events('schedule.refused', crm).map(({ code }) => code)
    assert.deepEqual(codes, ['RENAME_IGNORED'], 'they were two jobs')
    assert.deepEqual(ran(fleet, 'invoice').slice(-4), minutes(minute(fleet) - 3, minute(fleet)))
    crashAll(fleet)
  }
})

test('a release that leaves out was, before anything was taken, starts a job of its own that no pause holds', async () => {
  for (const id of IDS) {
    const fleet = await createFleet()
    const shop = await fleet.add(both(job('bill'), idle('mail')), { app: 'shop', deployment: 'v1' })
    await fleet.advance('90s')
    await fleet.operator.schedules.pause('bill')
    const linked = await fleet.add(job('invoice', 'bill'), { app: 'crm', deployment: id('c1') })
    await fleet.advance('2m')
    assert.equal(refusals(fleet, linked).length, 1)
    await fleet.add(job('invoice'), { app: 'crm', deployment: id('c2') })
    await stop(fleet, linked)
    await fleet.advance('2m')
    await fleet.add(idle('mail'), { app: 'shop', deployment: 'v2' })
    await stop(fleet, shop)
    await fleet.advance('5m')
    assert.deepEqual(await ownersOf(fleet, 'bill', 'invoice'), ['shop', 'crm'])
    assert.equal((await fleet.operator.schedules.get('invoice')).pause, null)
    assert.deepEqual(ran(fleet, 'invoice').slice(-6), minutes(minute(fleet) - 5, minute(fleet)))
    crashAll(fleet)
  }
})

test('was is checked also if the new name is a free schedule of another app', async () => {
  const fleet = await createFleet()
  const shop = await fleet.add(job('bill'), { app: 'shop', deployment: 'v1' })
  const depot = await fleet.add(both(job('invoice'), idle('post')), { app: 'depot', deployment: 'd1' })
  await fleet.advance('90s')
  await fleet.add(idle('post'), { app: 'depot', deployment: 'd2' })
  await stop(fleet, depot)
  await fleet.advance('3m')
  const earlier = ran(fleet, 'invoice').length
  const crm = await fleet.add(job('invoice', 'bill'), { app: 'crm', deployment: 'c1' })
  await fleet.advance('5m')
  assert.match(refusals(fleet, crm)[0]!, /^The job invoice was bill, which belongs to the app shop\. Move the job/)
  assert.deepEqual(await ownersOf(fleet, 'bill', 'invoice'), ['shop', 'depot'])
  await stop(fleet, shop)
  await fleet.advance('5m')
  assert.deepEqual(await ownersOf(fleet, 'bill', 'invoice'), ['crm', 'crm'])
  const all = [...ran(fleet, 'bill'), ...ran(fleet, 'invoice').slice(earlier)]
  assert.deepEqual(all, minutes(0, minute(fleet)), 'none lost, none twice')
  crashAll(fleet)
})

test('an old name stays in its app with what waits under it when another app takes the job; schedules made for it go along', async () => {
  for (const id of IDS) {
    const fleet = await createFleet()
    const retry = { attempts: 3, backoff: { base: '5m', factor: 1, jitter: 0 } } as const
    const failing: Declare = (app) =>
      void app.job('bill', { cron: '0 0 1 1 *', retry }, () => {
        throw new Error('provider is down')
      })
    const invoice: Declare = (app) => void app.job('invoice', { cron: '0 0 1 1 *', was: 'bill', retry }, () => {})
    const first = await fleet.add(failing, { app: 'shop', deployment: id('v1') })
    await fleet.operator.schedules.trigger('bill', { dedupe: 'order-1' })
    await fleet.operator.schedules.create('bill for Ada', { job: 'bill', cron: '* * * * *' })
    await fleet.advance('10s')
    await stop(fleet, first)
    const second = await fleet.add(invoice, { app: 'shop', deployment: id('v2') })
    await fleet.advance('30s')
    await stop(fleet, second)
    const crm = await fleet.add(invoice, { app: 'crm', deployment: id('v3') })
    await fleet.advance('30m')
    assert.deepEqual(await ownersOf(fleet, 'invoice', 'bill'), ['crm', 'shop'])
    const again = await fleet.operator.schedules.trigger('invoice', { dedupe: 'order-1' })
    assert.equal(again.created, false, 'the key is known')
    const by = (member: Member, name: string) =>
      fleet.handled.filter((one) => one.member === member && one.schedule === name)
    assert.equal(by(crm, 'bill').length, 0)
    assert.ok(by(crm, 'bill for Ada').length > 20)
    const back = await fleet.add(invoice, { app: 'shop', deployment: id('v2') })
    await fleet.advance('5m')
    assert.ok(
      by(back, 'bill').some(({ attempt }) => attempt > 1),
      'what waited is run when its app is back',
    )
    fleet.end()
  }
})

test('a name that this app continues under one it has taken is not free for a third app', async () => {
  const fleet = await createFleet()
  const first = await fleet.add(both(job('bill'), idle('mail')), { app: 'shop', deployment: 'v1' })
  const theirs = await fleet.add(both(job('invoice'), idle('post')), { app: 'crm', deployment: 'c1' })
  await fleet.advance('90s')
  const second = await fleet.add(idle('mail'), { app: 'shop', deployment: 'v2' })
  await stop(fleet, first)
  await fleet.add(idle('post'), { app: 'crm', deployment: 'c2' })
  await stop(fleet, theirs)
  await fleet.advance('3m')
  await fleet.add(both(job('invoice', 'bill'), idle('mail')), { app: 'shop', deployment: 'v3' })
  await stop(fleet, second)
  await fleet.advance('2m')
  assert.deepEqual(await ownersOf(fleet, 'bill', 'invoice'), ['shop', 'shop'])
  const depot = await fleet.add(job('bill'), { app: 'depot', deployment: 'd1' })
  await fleet.advance('5m')
  assert.match(refusals(fleet, depot)[0]!, /which the app shop renamed to invoice/)
  assert.equal(fleet.handled.filter(({ member }) => member === depot).length, 0)
  crashAll(fleet)
})

test('a name that was brings along its own pause, also if the new name is an older one of the same job', async () => {
  const fleet = await createFleet()
  let crm = await fleet.add(both(job('bill'), idle('post')), { app: 'crm', deployment: 'c1' })
  for (const [deployment, declare] of [
    ['c2', both(job('receipt', 'bill'), idle('post'))],
    ['c1', both(job('bill'), idle('post'))],
    ['c3', idle('post')],
  ] as const) {
    await fleet.advance('90s')
    if (deployment === 'c3') await fleet.operator.schedules.pause('bill', { note: 'audit' })
    const next = await fleet.add(declare, { app: 'crm', deployment })
    await stop(fleet, crm)
    crm = next
  }
  await fleet.advance('3m')
  await fleet.add(job('receipt', 'bill'), { app: 'shop', deployment: 'v1' })
  await fleet.advance('2m')
  assert.deepEqual(await ownersOf(fleet, 'bill', 'receipt'), ['shop', 'crm'], 'the old name of a live app')
  await stop(fleet, crm)
  await fleet.advance('3m')
  assert.deepEqual(await ownersOf(fleet, 'bill', 'receipt'), ['shop', 'shop'])
  assert.equal((await fleet.operator.schedules.get('receipt')).pause?.note, 'audit')
  crashAll(fleet)
})

test('a job whose rename stopped half-way, and that got a third name, is not run under the first one beside that', async () => {
  const fleet = await createFleet()
  const first = await fleet.add(job('bill'), { app: 'shop', deployment: 'v1' })
  await fleet.advance('90s')
  await stop(fleet, first)
  const half = fleet.make(job('receipt', 'bill'), { app: 'shop', deployment: 'v2' })
  half.at('declare:sent', () => half.crash())
  void half.app.start()
  await fleet.advance('30s')
  const third = await fleet.add(job('invoice', 'bill'), { app: 'shop', deployment: 'v3' })
  await fleet.advance('2m')
  await stop(fleet, third)
  await fleet.add(job('invoice'), { app: 'crm', deployment: 'c1' })
  await fleet.advance('3m')
  const back = await fleet.add(job('bill'), { app: 'shop', deployment: 'v1' })
  await fleet.advance('3m')
  assert.match(refusals(fleet, back)[0]!, /^The job bill was renamed to invoice, which belongs to the app crm now/)
  assert.deepEqual(ran(fleet, 'bill', 'invoice', 'receipt'), minutes(0, minute(fleet)), 'none lost, none twice')
  fleet.end()
})

/** A process of `crm` dies after this many calls of a kind while it takes `bill` from `shop` and renames it. */
async function crashedAfter(fleet: Fleet, name: 'saveApp' | 'apply', calls: number): Promise<void> {
  const shop = await fleet.add(job('bill'), { app: 'shop', deployment: 'v1' })
  await fleet.advance('150s')
  const half = await fleet.add(both(job('invoice', 'bill'), idle('post')), { app: 'crm', deployment: 'c1' })
  await fleet.advance('30s')
  await stop(fleet, shop)
  let left = calls
  half.link.disturb((call) => {
    const isTaking = call.name === 'saveApp' || call.name === 'apply'
    if (isTaking && call.name === name && left-- === 0) half.crash()
    return null
  })
  await fleet.advance('315s')
  half.crash()
}

test('a process that dies while it takes a job and renames it leaves it to the next process of its app', async () => {
  for (let calls = 0; calls <= 8; calls++) {
    for (const name of ['saveApp', 'apply'] as const) {
      const fleet = await createFleet()
      await crashedAfter(fleet, name, calls)
      await fleet.add(both(job('invoice', 'bill'), idle('post')), { app: 'crm', deployment: 'c1' })
      await fleet.advance('10m')
      assert.deepEqual(ran(fleet, 'bill', 'invoice'), minutes(0, minute(fleet)), `${name} ${calls}`)
      assert.equal(ran(fleet, 'invoice').at(-1), minute(fleet), `${name} ${calls}`)
      fleet.end()
    }
  }
})

test('a process that dies while it takes a job leaves it to the first app, once its own has retired it', async () => {
  const outcomes = new Set<string>()
  for (const id of IDS) {
    for (let calls = 0; calls <= 8; calls++) {
      for (const name of ['saveApp', 'apply'] as const) {
        const about = `${id('v1')} ${name} ${calls}`
        const fleet = await createFleet()
        await crashedAfter(fleet, name, calls)
        const hasNewName = (await fleet.operator.schedules.find('invoice')) !== null
        // The other app goes on without the job.
        await fleet.add(idle('post'), { app: 'crm', deployment: id('c2') })
        const back = await fleet.add(job('bill'), { app: 'shop', deployment: 'v1' })
        await fleet.advance('8m')
        const all = ran(fleet, 'bill', 'invoice')
        assert.deepEqual(all, [...new Set(all)], `${about}: none twice`)
        if (hasNewName) assert.match(refusals(fleet, back)[0]!, /which the app crm renamed to invoice/, about)
        else assert.equal(ran(fleet, 'bill').at(-1), minute(fleet), about)
        outcomes.add(`${hasNewName}`)
        fleet.end()
      }
    }
  }
  assert.equal(outcomes.size, 2, 'it dies before and after the new name is there')
})

/** `crm` has taken `bill` from `shop`, which has stopped, and has died before the new name was there. */
async function halfRenamed(fleet: Fleet, id: (typeof IDS)[number]): Promise<void> {
  const first = await fleet.add(job('bill'), { app: 'shop', deployment: id('v1') })
  await fleet.advance('200s')
  await stop(fleet, first)
  const crm = await fleet.add(job('invoice', 'bill'), { app: 'crm', deployment: id('c1') })
  let calls = 0
  crm.link.disturb((call) => {
    if (call.name === 'apply' && ++calls === 2) crm.crash()
    return null
  })
  await fleet.advance('150s')
  const { app, retirements } = await fleet.operator.schedules.get('bill')
  assert.deepEqual([app, retirements.at(-1)?.renamedTo], ['crm', 'invoice'])
  assert.equal(await fleet.operator.schedules.find('invoice'), null)
}

test('a rename that stopped half-way in another app is undone: the first app plans what was due in between', async () => {
  for (const id of IDS) {
    for (const declare of [job('bill'), job('receipt', 'bill')]) {
      const fleet = await createFleet()
      await halfRenamed(fleet, id)
      const back = await fleet.add(declare, { app: 'shop', deployment: id('v3') })
      await fleet.advance('6m')
      assert.deepEqual(ran(fleet, 'bill', 'receipt'), minutes(0, minute(fleet)), 'none lost, none twice')
      assert.doesNotMatch(refusals(fleet, back).join(), /remove invoice/, 'it does not exist')
      const again = await fleet.add(job('invoice', 'bill'), { app: 'crm', deployment: id('c1') })
      await fleet.advance('3m')
      assert.equal(refusals(fleet, again).length, 1)
      assert.deepEqual(ran(fleet, 'bill', 'receipt', 'invoice'), minutes(0, minute(fleet)))
      crashAll(fleet)
    }
  }
})

test('a rename that stopped half-way is undone also if the other app had the new name before', async () => {
  for (const id of IDS) {
    const fleet = await createFleet()
    let crm = await fleet.add(job('bill'), { app: 'crm', deployment: id('c1') })
    for (const [release, declare] of [
      ['c2', job('invoice', 'bill')],
      ['c3', job('bill')],
    ] as const) {
      await fleet.advance('90s')
      await stop(fleet, crm)
      crm = await fleet.add(declare, { app: 'crm', deployment: id(release) })
    }
    await fleet.advance('90s')
    await stop(fleet, crm)
    const half = fleet.make(job('invoice', 'bill'), { app: 'crm', deployment: id('c4') })
    half.at('declare:sent', () => half.crash())
    half.app.start().catch(() => {})
    await fleet.advance('5s')
    const states = await Promise.all(['bill', 'invoice'].map((name) => fleet.operator.schedules.get(name)))
    assert.deepEqual(
      states.map(({ state, retirements }) => [state, retirements.at(-1)?.renamedTo]),
      [
        ['retired', 'invoice'],
        ['retired', 'bill'],
      ],
    )
    await fleet.add(job('bill'), { app: 'shop', deployment: id('v1') })
    await fleet.advance('5m')
    assert.deepEqual(await ownersOf(fleet, 'bill', 'invoice'), ['shop', 'crm'])
    assert.deepEqual(ran(fleet, 'bill', 'invoice'), minutes(0, minute(fleet)), 'none lost, none twice')
    const again = await fleet.add(job('invoice', 'bill'), { app: 'crm', deployment: id('c4') })
    await fleet.advance('3m')
    assert.match(refusals(fleet, again).join(), /belongs to the app shop/)
    assert.deepEqual(ran(fleet, 'bill', 'invoice'), minutes(0, minute(fleet)))
    crashAll(fleet)
  }
})

test('a job that went on in a third app, and was removed there, is not repeated under the old name', async () => {
  for (const id of IDS) {
    const fleet = await createFleet()
    const crm = await moved(fleet, id)
    await stop(fleet, crm)
    const depot = await fleet.add(job('invoice'), { app: 'depot', deployment: 'd1' })
    await fleet.advance('3m')
    await stop(fleet, depot)
    assert.deepEqual(await ownersOf(fleet, 'bill', 'invoice'), ['crm', 'depot'])
    await fleet.operator.schedules.remove('invoice', { force: true })
    await fleet.add(job('bill'), { app: 'shop', deployment: id('v3') })
    await fleet.advance('3m')
    assert.deepEqual(await ownersOf(fleet, 'bill'), ['shop'])
    const all = ran(fleet, 'bill', 'invoice')
    assert.deepEqual(all, [...new Set(all)], 'none twice')
    assert.equal(all.at(-1), minute(fleet))
    crashAll(fleet)
  }
})

test('an old name of a job that another app has dropped is free when an operator removes it, as the refusal suggests', async () => {
  for (const id of IDS) {
    const fleet = await createFleet()
    const crm = await moved(fleet, id)
    await fleet.add(idle('post'), { app: 'crm', deployment: 'v3' })
    await stop(fleet, crm)
    const back = await fleet.add(job('bill'), { app: 'shop', deployment: id('v1') })
    await fleet.advance('3m')
    assert.match(refusals(fleet, back)[0]!, /if crm no longer has the job, remove bill\./)
    await fleet.operator.schedules.remove('bill')
    await fleet.advance('3m')
    assert.equal(ran(fleet, 'bill').at(-1), minute(fleet))
    crashAll(fleet)
  }
})

test('an app that dies while it takes the names of a job is refused when it returns and the first app has the job again', async () => {
  for (const id of IDS) {
    for (const aliveMs of [70_000, 80_000, 110_000]) {
      const fleet = await createFleet()
      const first = await fleet.add(job('bill'), { app: 'shop', deployment: id('s1') })
      await fleet.advance('90s')
      const second = await fleet.add(job('invoice', 'bill'), { app: 'shop', deployment: id('s2') })
      await stop(fleet, first)
      await fleet.advance('2m')
      await stop(fleet, second)
      const crm = await fleet.add(job('bill', 'invoice'), { app: 'crm', deployment: id('c1') })
      await fleet.advance(aliveMs)
      crm.crash()
      await fleet.add(job('invoice', 'bill'), { app: 'shop', deployment: id('s2') })
      await fleet.advance('4m')
      const before = ran(fleet, 'bill', 'invoice')
      const again = await fleet.add(job('bill', 'invoice'), { app: 'crm', deployment: id('c1') })
      await fleet.advance('5m')
      assert.match(refusals(fleet, again).join(), /invoice/)
      const after = ran(fleet, 'bill', 'invoice')
      assert.equal(new Set(after).size, after.length, 'nothing ran twice')
      assert.deepEqual(after.slice(0, before.length), before)
      crashAll(fleet)
    }
  }
})

test('a refusal whose reason changes is reported again', async () => {
  const fleet = await createFleet()
  const shop = await fleet.add(job('bill'), { app: 'shop', deployment: 's1' })
  await fleet.advance('90s')
  const crm = await fleet.add(job('invoice', 'bill'), { app: 'crm', deployment: 'c1' })
  await fleet.advance('1m')
  const renamed = await fleet.add(job('charge', 'bill'), { app: 'shop', deployment: 's2' })
  await stop(fleet, shop)
  await fleet.advance('3m')
  await stop(fleet, renamed)
  await fleet.advance('5m')
  const messages = refusals(fleet, crm)
  assert.equal(new Set(messages).size, messages.length, 'each reason once')
  assert.match(messages.at(-1)!, /charge/)
  crashAll(fleet)
})
