import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet, type Fleet, type Member, NEW_YEAR } from './fleet.ts'

// A job that has had three names, while another app has one of them.

type Declare = Parameters<Fleet['add']>[0]

const OPTIONS = { cron: '* * * * *', misfire: 'all' } as const
const NAMES = ['bill', 'receipt', 'invoice']

const job =
  (name: string, was?: string): Declare =>
  (app) =>
    void app.job(name, was === undefined ? OPTIONS : { ...OPTIONS, was }, () => {})

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

function assertNoneTwice(fleet: Fleet): void {
  const all = ran(fleet, ...NAMES)
  assert.deepEqual(
    all.filter((minute, index) => all.indexOf(minute) !== index),
    [],
  )
}

async function release(fleet: Fleet, deployment: string, declare: Declare, before: Member | null): Promise<Member> {
  const next = await fleet.add(both(declare, job('mail')), { app: 'shop', deployment })
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
  await fleet.add(both(job('receipt'), job('post')), { app: 'crm', deployment: 'c1' })
  await fleet.advance('30m')
  await release(fleet, 'v1', job('bill'), null)
  await fleet.advance('10m')
  assertNoneTwice(fleet)
  fleet.end()
})

test('a third name takes over when another app gives up the second one', async () => {
  const fleet = await createFleet()
  const first = await release(fleet, 'v1', job('bill'), null)
  await fleet.advance('150s')
  const second = await release(fleet, 'v2', job('receipt', 'bill'), first)
  await fleet.advance('5m')
  await fleet.world.until(second.app.stop())
  const theirs = await fleet.add(both(job('receipt'), job('post')), { app: 'crm', deployment: 'c1' })
  await fleet.advance('30m')
  await release(fleet, 'v3', job('invoice', 'receipt'), null)
  await fleet.advance('10m')
  await fleet.add(job('post'), { app: 'crm', deployment: 'c2' })
  await fleet.world.until(theirs.app.stop())
  await fleet.advance('20m')
  assertNoneTwice(fleet)
  assert.ok(ran(fleet, 'invoice').length > 10)
  fleet.end()
})
