import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OnLabels } from '../../src/client/schedule-options.ts'
import { createFleet, type Declare, type Fleet, type MemberOptions, NEW_YEAR } from './fleet.ts'

const MINUTE = 60_000

const backup =
  (on: OnLabels, more: Partial<{ was: string }> = {}): Declare =>
  (app) => {
    app.job('backup', { cron: '* * * * *', on, ...more }, () => {})
    app.job('mail', '* * * * *', () => {})
  }

const labelled = (labels: Record<string, string>, options: MemberOptions = {}): MemberOptions => ({
  ...options,
  labels,
})

const ran = (fleet: Fleet, schedule: string): (readonly [string, number])[] =>
  fleet.handled
    .filter((run) => run.schedule === schedule && run.dueAt > NEW_YEAR)
    .map(({ member, dueAt }) => [member.name, (dueAt - NEW_YEAR) / MINUTE])

test('a job with on runs only on instances whose labels match all of them, and in time, whichever owns its bucket', async () => {
  const fleet = await createFleet()
  for (let count = 0; count < 5; count++)
    await fleet.add(backup({ role: 'db', zone: ['a', 'b'] }), labelled({ role: 'web', zone: 'a' }))
  await fleet.add(backup({ role: 'db', zone: ['a', 'b'] }), labelled({ role: 'db', zone: 'c' }))
  await fleet.add(backup({ role: 'db', zone: ['a', 'b'] }), labelled({ role: 'db', zone: 'b' }, { name: 'db' }))
  await fleet.advance('3m1s')
  assert.deepEqual(ran(fleet, 'backup'), [
    ['db', 1],
    ['db', 2],
    ['db', 3],
  ])
  for (const { schedule, startedAt, dueAt } of fleet.handled) {
    if (schedule === 'backup') assert.ok(startedAt - dueAt < 250, 'it waited for an instance that does not match')
  }
  fleet.end()
})

test('while no live instance matches, fires wait, the misfire policy judges what is late, and nothing is retired', async () => {
  const fleet = await createFleet()
  const on = backup({ role: 'db' })
  await fleet.add(on, labelled({ role: 'web' }))
  const db = await fleet.add(on, labelled({ role: 'db' }, { name: 'db' }))
  await fleet.advance('1m1s')
  await fleet.world.until(db.app.stop())
  await fleet.advance('3h')
  const view = await fleet.operator.schedules.get('backup')
  assert.equal(view.state, 'active')
  assert.deepEqual(view.on, { role: ['db'] })
  await fleet.add(on, labelled({ role: 'db' }, { name: 'db-again' }))
  await fleet.advance('1m')
  assert.deepEqual(ran(fleet, 'backup'), [
    ['db', 1],
    ['db-again', 181],
    ['db-again', 182],
  ])
  fleet.end()
})

test('an instance that does not match requests nothing of the job while its fires wait', async () => {
  const fleet = await createFleet()
  const only: Declare = (app) => {
    app.job('backup', { cron: '* * * * *', on: { role: 'db' } }, () => {})
    app.job('idle', {}, () => {})
  }
  const web = await fleet.add(only, labelled({ role: 'web' }))
  await fleet.advance('5m')
  let asked = 0
  web.link.disturb(({ name }) => {
    if (name === 'due') asked++
    return null
  })
  await fleet.advance('10m')
  assert.equal(asked, 0)
  fleet.end()
})

test('a process that restarts with other labels runs what belongs to these', async () => {
  const fleet = await createFleet()
  const on = backup({ role: 'db' })
  const first = await fleet.add(on, labelled({ role: 'db' }, { name: 'first' }))
  const second = await fleet.add(on, labelled({ role: 'web' }, { name: 'second' }))
  await fleet.advance('1m1s')
  for (const member of [first, second]) await fleet.world.until(member.app.stop())
  await fleet.add(on, labelled({ role: 'web' }, { name: 'first-as-web' }))
  await fleet.add(on, labelled({ role: 'db' }, { name: 'second-as-db' }))
  await fleet.advance('1m')
  assert.deepEqual(ran(fleet, 'backup'), [
    ['first', 1],
    ['second-as-db', 2],
  ])
  fleet.end()
})

test('a release that moves a job to other labels takes it away from the instances of the old ones, though those still run', async () => {
  const fleet = await createFleet()
  await fleet.add(backup({ role: 'db' }), labelled({ role: 'db' }, { name: 'old-db' }))
  await fleet.advance('1m1s')
  const moved = backup({ role: 'big' })
  const big = await fleet.add(moved, labelled({ role: 'big' }, { name: 'big', deployment: 'v2' }))
  await fleet.advance('1m')
  await fleet.world.until(big.app.stop())
  await fleet.add(moved, labelled({ role: 'db' }, { name: 'new-db', deployment: 'v2' }))
  await fleet.advance('5m')
  assert.deepEqual(ran(fleet, 'backup'), [
    ['old-db', 1],
    ['big', 2],
  ])
  assert.equal(ran(fleet, 'mail').length, 7)
  fleet.end()
})

test('a schedule made at run time belongs to one label of the instances that have its job', async () => {
  const fleet = await createFleet()
  const report: Declare = (app) => app.job('report', {}, () => {})
  for (const zone of ['a', 'b', 'c']) await fleet.add(report, labelled({ zone }, { name: zone }))
  for (const zone of ['a', 'b', 'd']) {
    await fleet.operator.schedules.create(`of-${zone}`, { job: 'report', cron: '* * * * *', on: { zone } })
  }
  await fleet.operator.schedules.put('of-any', { job: 'report', cron: '* * * * *' })
  await fleet.advance('2m1s')
  for (const zone of ['a', 'b'])
    assert.deepEqual(ran(fleet, `of-${zone}`), [
      [zone, 1],
      [zone, 2],
    ])
  assert.deepEqual(ran(fleet, 'of-d'), [])
  assert.equal(ran(fleet, 'of-any').length, 2)
  assert.equal((await fleet.operator.schedules.get('of-d')).job, 'report@zone=d')
  fleet.end()
})

test('thousands of schedules that wait for a label delay no other schedule', async () => {
  const fleet = await createFleet()
  const report: Declare = (app) => app.job('report', {}, () => {})
  await fleet.add(report, labelled({ zone: 'a' }, { name: 'a' }))
  const entries = Array.from({ length: 6_000 }, (_, index) => {
    return [`lost-${index}`, { job: 'report', cron: '* * * * *', on: { zone: 'gone' } }] as const
  })
  await fleet.operator.schedules.createMany(entries)
  await fleet.operator.schedules.put('here', { job: 'report', cron: '* * * * *', on: { zone: 'a' } })
  await fleet.advance('2m1s')
  assert.deepEqual(ran(fleet, 'here'), [
    ['a', 1],
    ['a', 2],
  ])
  fleet.end()
})

test('fires that wait under the old name of a renamed job are not claimed by an instance without its labels', async () => {
  const fleet = await createFleet()
  const old = await fleet.add((app) => app.job('old', { cron: '* * * * *', overlap: 'queue' }, () => {}), {
    name: 'old',
  })
  await fleet.advance('10s')
  await fleet.operator.schedules.trigger('old')
  await fleet.world.until(old.app.stop())
  const renamed = backup({ role: 'db' }, { was: 'old' })
  await fleet.add(renamed, labelled({ role: 'web' }, { deployment: 'v2', name: 'web' }))
  await fleet.advance('2m')
  await fleet.add(renamed, labelled({ role: 'db' }, { deployment: 'v2', name: 'db' }))
  await fleet.advance('1m')
  assert.ok(fleet.handled.every(({ schedule, member }) => schedule === 'mail' || member.name !== 'web'))
  fleet.end()
})

const MISTAKES: readonly (readonly [unknown, RegExp])[] = [
  [{}, /Job "x": The option on can't be .*: expected an object with 1 to 16 labels/],
  ['db', /Job "x": The option on can't be "db"/],
  [{ role: [] }, /Job "x": The option on.role can't be .*: expected a value, or a list of 1 to 100 values/],
  [{ role: 5 }, /Job "x": The option on.role can't be 5/],
  [{ role: 'a b' }, /Job "x": The option on.role can't be "a b"/],
  [{ 'a=b': 'c' }, /Job "x": The option on can't be "a=b"/],
]

test('mistakes in on, hosts and labels are refused with the job, the value and the fix', async () => {
  const fleet = await createFleet()
  const { app } = fleet.make(() => {})
  for (const [on, message] of MISTAKES) {
    assert.throws(() => app.job('x', { on: on as OnLabels }, () => {}), {
      code: 'OPTION_INVALID',
      message,
      hint: /^Write /,
    })
  }
  assert.throws(() => app.job('x', { hosts: 'all' as 'each' }, () => {}), {
    code: 'OPTION_INVALID',
    message: /Job "x": The option hosts/,
  })
  assert.throws(() => fleet.make(() => {}, { labels: { role: '' } }), {
    code: 'OPTION_INVALID',
    message: /labels\.role/,
  })
  await assert.rejects(fleet.operator.schedules.put('y', { job: 'x', cron: '* * * * *', on: { zone: ['a', 'b'] } }), {
    code: 'OPTION_CONFLICT',
    message: /Schedule "y": .*one label with one value, not to zone=a\|b/,
  })
  fleet.end()
})
