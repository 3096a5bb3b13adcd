import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet, type Fleet } from './fleet.ts'

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

test('what is refused because too much is to be caught up with first is told once, and declared when that is done', async () => {
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
