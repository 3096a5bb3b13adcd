import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bucketsOf } from '../../src/engine/claim/buckets.ts'
import { bucketOf } from '../../src/model/bucket.ts'
import { createFleet, type Fleet } from './fleet.ts'

/** Schedules of this job, all due at once. */
async function createAt(fleet: Fleet, job: string, count: number, at: number): Promise<void> {
  await fleet.operator.schedules.createMany(
    Array.from({ length: count }, (_, number) => [`${job}-${number}`, { job, at, misfire: 'all' }]),
  )
}

test('a fleet that is behind by more than any patience shares what is due, and does not race for it', async (t) => {
  const COUNT = 4_000
  const fleet = await createFleet({ seed: 5 })
  await fleet.addMany(8, (app, member) => app.job('bill', {}, () => member.clock.sleep(20)), { concurrency: 10 })
  await createAt(fleet, 'bill', COUNT, fleet.now() + 60_000)
  let isDown = true
  let sent = 0
  fleet.outage(({ name, args }) => {
    if (name === 'due' && isDown) return { kind: 'throws' }
    if (name === 'claim') sent += (args[0] as readonly unknown[]).length
    return { kind: 'slow', requestMs: 1, answerMs: 1 }
  })
  await fleet.advance('90s')
  isDown = false
  await fleet.advance('60s')
  assert.equal(fleet.handled.length, COUNT)
  t.diagnostic(`${sent} claims were sent for ${COUNT} fires`)
  assert.ok(sent < 1.3 * COUNT, `${sent} claims for ${COUNT} fires`)
  fleet.end()
})

test('schedules that a live instance does not get to are also taken by peers that are behind with their own', async () => {
  const fleet = await createFleet({ seed: 5 })
  const declare = (ms: number): Parameters<Fleet['add']>[0] => {
    return (app, member) => app.job('bill', {}, () => member.clock.sleep(ms))
  }
  const stuck = await fleet.add(declare(3_600_000), { concurrency: 1 })
  const busy = await fleet.add(declare(1_000), { concurrency: 1 })
  await createAt(fleet, 'bill', 200, fleet.now() + 60_000)
  await fleet.advance('2m')
  const its = fleet.handled.filter(({ member }) => member === stuck)
  assert.equal(its.length, 1)
  const taken = fleet.handled.filter(({ member }) => member === busy)
  const ids = [its[0]!.instance, taken[0]!.instance]
  const own = bucketsOf(ids[1]!, ids)
  const isOwn = ({ schedule }: { readonly schedule: string }): boolean => own[bucketOf(schedule)] === '1'
  const ownCount = Array.from({ length: 200 }, (_, number) => ({ schedule: `bill-${number}` })).filter(isOwn).length
  assert.ok(taken.filter(isOwn).length < ownCount, 'it is still behind')
  assert.ok(!taken.every(isOwn), 'and has helped all the same')
  fleet.end()
})
