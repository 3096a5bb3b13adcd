import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet, type Fleet, type Member, NEW_YEAR } from './fleet.ts'

// A job that has had three names, while another app has one of them.

type Declare = Parameters<Fleet['add']>[0]

const OPTIONS = { cron: '* * * * *', misfire: 'all' } as const
const NAMES = ['bill', 'receipt', 'invoice', 'order']

const job =
  (name: string, was?: string): Declare =>
  (app) =>
    void app.job(name, was === undefined ? OPTIONS : { ...OPTIONS, was }, () => {})

/** So that the newest release has something else, too. It fires after the end of every test. */
const idle =
  (name: string): Declare =>
  (app) =>
    void app.job(name, '0 0 1 7 *', () => {})

const both =
  (...all: Declare[]): Declare =>
  (app, member) => {
    for (const declare of all) declare(app, member)
  }

/** The minutes that were run under these names. */
function ran(fleet: Fleet, ...names: string[]): number[] {
  return fleet.handled
    .filter(({ schedule }) => names.includes(schedule))
    .map(({ dueAt }) => (dueAt - NEW_YEAR) / 60_000)
}

function assertNoneTwice(fleet: Fleet, message?: string): void {
  const all = ran(fleet, ...NAMES)
  const twice = all.filter((minute, index) => all.indexOf(minute) !== index)
  assert.deepEqual(twice, [], message)
}

async function release(
  fleet: Fleet,
  deployment: string | undefined,
  declare: Declare,
  before: Member | null,
): Promise<Member> {
  const next = await fleet.add(both(declare, idle('mail')), { app: 'shop', deployment })
  if (before !== null) await fleet.world.until(before.app.stop())
  return next
}

for (const was of ['receipt', 'bill']) {
  for (const theirs of [undefined, 'bill']) {
    const declared = theirs === undefined ? 'as a new job' : 'with was'
    test(`a third name, was ${was}, repeats nothing while another app has the second one ${declared}`, async () => {
      const fleet = await createFleet()
      const first = await release(fleet, 'v1', job('bill'), null)
      await fleet.advance('150s')
      const second = await release(fleet, 'v2', job('receipt', 'bill'), first)
      await fleet.advance('5m')
      await fleet.world.until(second.app.stop())
      await fleet.add(job('receipt', theirs), { app: 'crm', deployment: 'c1' })
      await fleet.advance('30m')
      await release(fleet, 'v3', job('invoice', was), null)
      await fleet.advance('10m')
      assertNoneTwice(fleet)
      fleet.end()
    })
  }
}

test('the first of three names that comes back repeats nothing while another app has the third one', async () => {
  const fleet = await createFleet()
  const first = await release(fleet, 'v1', job('bill'), null)
  await fleet.advance('150s')
  const second = await release(fleet, 'v2', job('invoice', 'bill'), first)
  await fleet.advance('150s')
  const third = await release(fleet, 'v3', job('receipt', 'invoice'), second)
  await fleet.advance('5m')
  await fleet.world.until(third.app.stop())
  await fleet.add(both(job('receipt'), idle('post')), { app: 'crm', deployment: 'c1' })
  await fleet.advance('30m')
  await release(fleet, 'v1', job('bill'), null)
  await fleet.advance('10m')
  assertNoneTwice(fleet)
  fleet.end()
})

for (const isDropped of [false, true]) {
  for (const id of [(name: string) => name, () => undefined]) {
    const given = id('v1') === undefined ? 'without ids' : 'with ids'
    const theirs = isDropped ? 'had the third one' : 'has the third one'
    test(`the second of three names that comes back repeats nothing while another app ${theirs}, ${given}`, async () => {
      const fleet = await createFleet()
      const first = await release(fleet, id('v1'), job('bill'), null)
      await fleet.advance('150s')
      const second = await release(fleet, id('v2'), job('receipt', 'bill'), first)
      await fleet.advance('150s')
      const third = await release(fleet, id('v3'), job('invoice', 'receipt'), second)
      await fleet.advance('5m')
      await fleet.world.until(third.app.stop())
      const crm = await fleet.add(both(job('invoice'), idle('post')), { app: 'crm', deployment: 'c1' })
      await fleet.advance('20m')
      if (isDropped) {
        await fleet.add(idle('post'), { app: 'crm', deployment: 'c2' })
        await fleet.world.until(crm.app.stop())
        await fleet.advance('5m')
      }
      const back = await release(fleet, id('v2'), job('receipt', 'bill'), null)
      await fleet.advance('10m')
      assertNoneTwice(fleet)
      assert.equal(fleet.events('schedule.refused', back).length, isDropped ? 0 : 1)
      if (isDropped) assert.ok(ran(fleet, 'receipt').at(-1)! >= 39, 'the job goes on')
      fleet.end()
    })
  }
}

test('a later name repeats nothing while another app has the first one, to which the job had gone back', async () => {
  const fleet = await createFleet()
  const first = await release(fleet, 'v1', job('bill'), null)
  await fleet.advance('150s')
  const second = await release(fleet, 'v2', job('receipt', 'bill'), first)
  await fleet.advance('150s')
  const third = await release(fleet, 'v3', job('invoice', 'receipt'), second)
  await fleet.advance('5m')
  await fleet.world.until(third.app.stop())
  await fleet.advance('90s')
  const back = await release(fleet, 'v1', job('bill'), null)
  await fleet.advance('3m')
  await fleet.world.until(back.app.stop())
  await fleet.add(job('bill'), { app: 'crm', deployment: 'c1' })
  await fleet.advance('10m')
  await release(fleet, 'v3', job('invoice', 'receipt'), null)
  await fleet.advance('10m')
  assertNoneTwice(fleet)
  assert.equal((await fleet.operator.schedules.get('bill')).app, 'crm')
  fleet.end()
})

test('a third name takes over when another app gives up the second one', async () => {
  const fleet = await createFleet()
  const first = await release(fleet, 'v1', job('bill'), null)
  await fleet.advance('150s')
  const second = await release(fleet, 'v2', job('receipt', 'bill'), first)
  await fleet.advance('5m')
  await fleet.world.until(second.app.stop())
  const theirs = await fleet.add(both(job('receipt'), idle('post')), { app: 'crm', deployment: 'c1' })
  await fleet.advance('30m')
  await release(fleet, 'v3', job('invoice', 'receipt'), null)
  await fleet.advance('10m')
  await fleet.add(idle('post'), { app: 'crm', deployment: 'c2' })
  await fleet.world.until(theirs.app.stop())
  await fleet.advance('20m')
  assertNoneTwice(fleet)
  assert.ok(ran(fleet, 'invoice').length > 10)
  fleet.end()
})

const RELEASES = [
  { id: 'v1', name: 'bill', was: undefined },
  { id: 'v2', name: 'receipt', was: 'bill' },
  { id: 'v3', name: 'invoice', was: 'receipt' },
] as const
const FOURTH = ['bill', 'receipt', 'invoice'].map((was) => ({ id: 'v4', name: 'order', was }))
const ENDS = ['keeps it', 'drops it', 'drops it, and it is removed'] as const

for (const last of RELEASES) {
  test(`of three names that ended as ${last.name}, which another app takes, each may come back and repeats nothing`, async () => {
    for (const theirs of [undefined, ...RELEASES.map(({ name }) => name)].filter((was) => was !== last.name)) {
      for (const end of ENDS) {
        for (const next of [...RELEASES, ...FOURTH]) {
          const fleet = await createFleet()
          await renameTo(fleet, last)
          await takeAway(fleet, last.name, theirs, end)
          await release(fleet, next.id, job(next.name, next.was), null)
          await fleet.advance('6m')
          assertNoneTwice(fleet, `was ${theirs}, ${end}, then ${next.name} was ${next.was}`)
          fleet.end()
        }
      }
    }
  })
}

/** The app shop gives the job three names, goes back to the one of `last`, and leaves. */
async function renameTo(fleet: Fleet, last: (typeof RELEASES)[number]): Promise<void> {
  let before: Member | null = null
  for (const { id, name, was } of RELEASES) {
    before = await release(fleet, id, job(name, was), before)
    await fleet.advance('150s')
  }
  await fleet.world.until(before!.app.stop())
  if (last.id === 'v3') return
  await fleet.advance('90s')
  const back = await release(fleet, last.id, job(last.name, last.was), null)
  await fleet.advance('3m')
  await fleet.world.until(back.app.stop())
}

async function takeAway(fleet: Fleet, name: string, was: string | undefined, end: (typeof ENDS)[number]) {
  const crm = await fleet.add(both(job(name, was), idle('post')), { app: 'crm', deployment: 'c1' })
  await fleet.advance('5m')
  // Refused if `was` is a name that the job had before its last one.
  const isRefused = (await fleet.operator.deployments.get('crm')).refused.length > 0
  assert.equal((await fleet.operator.schedules.get(name)).app, isRefused ? 'shop' : 'crm')
  if (isRefused || end === 'keeps it') return
  await fleet.add(idle('post'), { app: 'crm', deployment: 'c2' })
  await fleet.world.until(crm.app.stop())
  await fleet.advance('3m')
  if (end === 'drops it, and it is removed') await fleet.operator.schedules.remove(name)
}
