import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet, type Fleet, NEW_YEAR } from './fleet.ts'

const MINUTELY = '* * * * *'
const HALF_PAST = '30 * * * *'

async function ruleOf(fleet: Fleet): Promise<unknown> {
  const { trigger } = await fleet.operator.schedules.get('job')
  return trigger?.kind === 'cron' ? trigger.expression : trigger
}

test('a declaration that the clock of the store did not let happen is made again', async () => {
  const fleet = await createFleet()
  const old = await fleet.add((app) => app.job('job', MINUTELY, () => {}), { deployment: 'v1' })
  await fleet.advance('2m30s')
  old.crash()
  await fleet.advance(150_500)
  const next = fleet.make((app) => app.job('job', HALF_PAST, () => {}), { deployment: 'v2' })
  let applies = 0
  next.link.disturb(({ name }) => {
    if (name === 'apply' && applies++ === 0) fleet.stepStore(-1_000)
    return null
  })
  await fleet.world.until(next.app.start())
  await fleet.advance('1m')
  assert.deepEqual([applies > 1, await ruleOf(fleet)], [true, HALF_PAST])
  fleet.end()
})

test('an instant on record that an earlier schedule of the name has left is not in the way of a declaration', async () => {
  const fleet = await createFleet()
  const hourly = () => fleet.add((app) => app.job('job', '0 * * * *', () => {}), { deployment: 'v1' })
  const first = await hourly()
  await fleet.advance('2m30s')
  const { nextAt } = await fleet.operator.schedules.get('job')
  await fleet.operator.schedules.skipNext('job', { dueAt: nextAt! })
  await fleet.operator.schedules.remove('job', { force: true })
  first.crash()
  await fleet.advance('1m')
  const second = await hourly()
  await fleet.advance('1m')
  second.crash()
  await fleet.advance('1h')
  await fleet.add((app) => app.job('job', HALF_PAST, () => {}), { deployment: 'v2' })
  await fleet.advance('1m')
  assert.equal(await ruleOf(fleet), HALF_PAST)
  for (const member of fleet.members) member.crash()
})

test('a declaration that must wait until a schedule has caught up is reported once, and applied then', async () => {
  const fleet = await createFleet()
  const old = await fleet.add((app) => app.job('job', { every: '1s', misfire: 'skip' }, () => {}), { deployment: 'v1' })
  await fleet.advance('10s')
  await fleet.operator.schedules.pause('job')
  old.crash()
  await fleet.advance('13d')
  await fleet.add((app) => app.job('job', HALF_PAST, () => {}), { deployment: 'v2' })
  await fleet.advance('1m')
  assert.deepEqual(
    fleet.events('schedule.refused').map(({ code }) => code),
    ['SCHEDULE_BEHIND'],
  )
  await fleet.operator.schedules.resume('job')
  await fleet.advance('2m')
  assert.equal(await ruleOf(fleet), HALF_PAST)
  for (const member of fleet.members) member.crash()
})

/** How each fire of the job ended, by its due time in seconds. */
async function endsOf(fleet: Fleet): Promise<ReadonlyMap<number, string>> {
  const { items } = await fleet.operator.fires.list({ schedule: 'job', limit: 100 })
  return new Map(items.map(({ dueAt, reason }) => [(dueAt - NEW_YEAR) / 1_000, String(reason)]))
}

test('one instant that is deployed after the cron before it has gone past it ends on record, once', async () => {
  for (const [second, isNew] of [
    [150, true],
    [180, false],
  ] as const) {
    const fleet = await createFleet()
    await fleet.add((app) => app.job('job', MINUTELY, () => {}), { deployment: 'v1' })
    await fleet.advance('5m30s')
    const before = await endsOf(fleet)
    const at = NEW_YEAR + second * 1_000
    await fleet.add((app) => app.job('job', { at }, () => {}), { deployment: 'v2' })
    await fleet.advance('5m')
    const after = await endsOf(fleet)
    assert.deepEqual([before.has(second), after.get(second)], [!isNew, 'completed'])
    assert.equal(after.size, before.size + (isNew ? 1 : 0))
    assert.equal(fleet.handled.filter(({ dueAt }) => dueAt === at).length, 1)
    fleet.end()
  }
})

test('one instant within a range that was missed is not planned again when it is deployed', async () => {
  const fleet = await createFleet()
  const old = await fleet.add((app) => app.job('job', MINUTELY, () => {}), { deployment: 'v1' })
  await fleet.advance('90s')
  old.crash()
  await fleet.advance('1h')
  const hourly = await fleet.add((app) => app.job('job', '0 * * * *', () => {}), { deployment: 'v2' })
  await fleet.advance('1m')
  const before = await endsOf(fleet)
  const at = NEW_YEAR + 1_800_000
  await fleet.add((app) => app.job('job', { at }, () => {}), { deployment: 'v3' })
  await fleet.world.until(hourly.app.stop())
  await fleet.advance('1m')
  assert.deepEqual(await endsOf(fleet), before)
  assert.equal(fleet.handled.filter(({ dueAt }) => dueAt === at).length, 0)
  fleet.end()
})
