import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StandardSchema } from '../../src/client/standard-schema.ts'
import { createFleet, type Declare, type Fleet, type Member, NEW_YEAR } from './fleet.ts'

const MINUTE = 60_000
const NO_ID = { deployment: undefined }

/** One job that fires every minute for each name. */
const jobs =
  (...names: string[]): Declare =>
  (app) => {
    for (const name of names) app.job(name, '* * * * *', () => {})
  }

const stateOf = async (fleet: Fleet, name: string): Promise<string> => (await fleet.operator.schedules.get(name)).state

/** In minutes, what was run of a schedule. */
function ran(fleet: Fleet, name: string): number[] {
  const own = fleet.handled.filter(({ schedule }) => schedule === name)
  return own.map(({ dueAt }) => (dueAt - NEW_YEAR) / MINUTE).sort((one, other) => one - other)
}

const minutes = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

test('a script without jobs declares nothing: no number, no record, nothing retired, with or without an id', async () => {
  for (const options of [NO_ID, { deployment: 'v9' }]) {
    const fleet = await createFleet()
    await fleet.add(jobs('bill'), NO_ID)
    await fleet.advance('30s')
    const script = await fleet.add(() => {}, options)
    await fleet.world.until(script.app.lock('migrate', async () => {}))
    await fleet.advance('15m')
    assert.deepEqual(ran(fleet, 'bill'), minutes(0, 15))
    const { deployments } = await fleet.operator.deployments.get('shop')
    assert.equal(deployments.length, 1)
    assert.deepEqual(fleet.events('schedule.retired'), [])
    fleet.end()
  }
})

test('without ids, live processes of one app with different jobs keep all of them, whichever starts last', async () => {
  for (const order of [
    ['web', 'worker'],
    ['worker', 'web'],
  ]) {
    const fleet = await createFleet()
    for (const name of order) await fleet.add(jobs(name), NO_ID)
    await fleet.advance('2h')
    assert.deepEqual([ran(fleet, 'web'), ran(fleet, 'worker')], [minutes(0, 120), minutes(0, 120)])
    // Both sides report it, once.
    assert.equal(fleet.events('deployment.disjoint').length, 2)
    fleet.end()
  }
})

test('without ids, a job that a live successor dropped is retired when no process has declared it for the hold-down', async () => {
  const fleet = await createFleet()
  const old = await fleet.add(jobs('bill', 'mail'), NO_ID)
  await fleet.add(jobs('mail'), NO_ID)
  await fleet.advance('30m')
  assert.equal(await stateOf(fleet, 'bill'), 'active', 'a live process declares it')
  await fleet.world.until(old.app.stop())
  await fleet.advance('50s')
  assert.equal(await stateOf(fleet, 'bill'), 'active', 'the hold-down is not over')
  await fleet.advance('30s')
  assert.deepEqual([await stateOf(fleet, 'bill'), await stateOf(fleet, 'mail')], ['retired', 'active'])
  fleet.end()
})

test('without ids, what has no successor is retired after a day, and comes back without losing instants', async () => {
  const fleet = await createFleet()
  const worker = await fleet.add(jobs('bill'), NO_ID)
  await fleet.add((app) => app.job('web', '0 * * * *', () => {}), NO_ID)
  await fleet.advance('1m')
  await fleet.world.until(worker.app.stop())
  await fleet.advance('23h')
  assert.equal(await stateOf(fleet, 'bill'), 'active')
  await fleet.advance('3h')
  assert.equal(await stateOf(fleet, 'bill'), 'retired')
  await fleet.add(jobs('bill'), NO_ID)
  await fleet.advance('2m')
  const { state, retirements } = await fleet.operator.schedules.get('bill')
  assert.deepEqual([state, retirements.map(({ cause, to }) => [cause, to !== null])], ['active', [['absent', true]]])
  assert.equal(fleet.events('schedule.returned').length, 1)
  // Every instant is on record: judged by end().
  fleet.end()
})

test('with an id, web and worker complement each other in any start order, and a role may scale to zero', async () => {
  for (const order of [
    ['web', 'worker'],
    ['worker', 'web'],
  ]) {
    const fleet = await createFleet()
    const before = await fleet.add(jobs('web', 'worker'), { deployment: 'v1' })
    await fleet.advance('2m')
    await fleet.add(jobs(order[0]!), { deployment: 'v2' })
    await fleet.advance('30s')
    await fleet.add(jobs(order[1]!), { deployment: 'v2' })
    await fleet.world.until(before.app.stop())
    await fleet.advance('20m')
    assert.deepEqual(fleet.events('schedule.retired'), [])
    const worker = fleet.members.at(order[0] === 'worker' ? -2 : -1)!
    await fleet.world.until(worker.app.stop())
    await fleet.advance('20m')
    assert.equal(await stateOf(fleet, 'worker'), 'active')
    fleet.end()
  }
})

test('with ids, what a live older process declares is retired after retireAfter, with a warning on both sides from the start', async () => {
  const fleet = await createFleet()
  const old = await fleet.add(jobs('bill'), { deployment: 'billing-1' })
  await fleet.advance('30s')
  const next = await fleet.add(jobs('page'), { deployment: 'web-7' })
  await fleet.advance('15s')
  const told = fleet.told.filter(({ event }) => event.type === 'schedule.contested').map(({ member }) => member.name)
  assert.deepEqual([...told].sort(), [old.name, next.name].sort())
  const [contested] = fleet.events('schedule.contested')
  assert.deepEqual(
    [contested?.schedule, contested?.newest, contested?.declaredBy.map(({ deployment }) => deployment)],
    ['bill', 'web-7', ['billing-1']],
  )
  await fleet.advance('9m')
  assert.equal(await stateOf(fleet, 'bill'), 'active')
  await fleet.advance('2m')
  assert.equal(await stateOf(fleet, 'bill'), 'retired')
  assert.equal(fleet.events('schedule.contested').length, 2, 'once each')
  await fleet.advance('1m')
  assert.deepEqual(
    fleet.events('schedule.refused', old).map(({ code }) => code),
    ['SCHEDULE_RETIRED'],
    'it learns it with a heartbeat',
  )
  fleet.end()
})

test('with ids, a third release waits for all of retireAfter itself, and warns again', async () => {
  const fleet = await createFleet()
  const old = await fleet.add(jobs('bill'), { deployment: 'billing-1' })
  await fleet.advance('30s')
  await fleet.add(jobs('page'), { deployment: 'web-7' })
  await fleet.advance('9m')
  await fleet.add(jobs('page'), { deployment: 'web-8' })
  await fleet.advance('9m')
  assert.equal(await stateOf(fleet, 'bill'), 'active')
  assert.deepEqual(
    fleet.events('schedule.contested', old).map(({ newest }) => newest),
    ['web-7', 'web-8'],
  )
  await fleet.advance('3m')
  assert.equal(await stateOf(fleet, 'bill'), 'retired')
  fleet.end()
})

test('with ids, what is declared after all by the deployment that dropped it continues without losing instants', async () => {
  const fleet = await createFleet()
  const old = await fleet.add(jobs('bill', 'page'), { deployment: 'v1' })
  await fleet.advance('90s')
  await fleet.add(jobs('page'), { deployment: 'v2' })
  await fleet.world.until(old.app.stop())
  await fleet.advance('5m')
  assert.equal(await stateOf(fleet, 'bill'), 'retired')
  await fleet.add(jobs('bill'), { deployment: 'v2' })
  await fleet.advance('3m')
  const { state, revision } = await fleet.operator.schedules.get('bill')
  assert.deepEqual([state, revision], ['active', 1])
  const { items } = await fleet.operator.fires.list({ schedule: 'bill', outcome: 'missed' })
  assert.ok(items.some(({ reason }) => reason === 'superseded'))
  fleet.end()
})

test('with ids, an explicit deployment never retires what a live process without an id declares', async () => {
  const fleet = await createFleet()
  await fleet.add(jobs('bill'), NO_ID)
  await fleet.add(jobs('page'), { deployment: 'v1' })
  await fleet.advance('1h')
  assert.deepEqual(ran(fleet, 'bill'), minutes(0, 60))
  fleet.end()
})

test('a job that is renamed with `was` continues in one step, with its pause', async () => {
  const fleet = await createFleet()
  const old = await fleet.add(jobs('bill', 'mail'), { deployment: 'v1' })
  await fleet.advance('150s')
  const renamed: Declare = (app) => app.job('invoice', { cron: '* * * * *', was: 'bill' }, () => {})
  await fleet.add(renamed, { deployment: 'v2' })
  assert.equal(await stateOf(fleet, 'bill'), 'retired')
  await fleet.advance('3m')
  assert.deepEqual([ran(fleet, 'bill'), ran(fleet, 'invoice')], [minutes(0, 2), minutes(3, 5)])
  assert.equal((await fleet.operator.schedules.get('bill')).retirements[0]?.cause, 'renamed')
  // The old process is notified, and does not bring it back.
  assert.deepEqual(
    fleet.events('schedule.refused', old).map(({ code, schedule }) => [code, schedule]),
    [['SCHEDULE_RETIRED', 'bill']],
  )
  fleet.end()
})

test('a rename that was interrupted between its two writes is finished by the next process, and no instant is lost', async () => {
  const fleet = await createFleet()
  const old = await fleet.add(jobs('bill'), { deployment: 'v1' })
  await fleet.advance('150s')
  await fleet.world.until(old.app.stop())
  const renamed: Declare = (app) => app.job('invoice', { cron: '* * * * *', was: 'bill' }, () => {})
  const interrupted = fleet.make(renamed, { deployment: 'v2' })
  interrupted.at('declare:sent', () => interrupted.crash())
  void interrupted.app.start()
  await fleet.advance('4m')
  assert.equal(await stateOf(fleet, 'bill'), 'retired')
  assert.equal(await fleet.operator.schedules.find('invoice'), null)
  await fleet.add(renamed, { deployment: 'v2' })
  await fleet.advance('2m')
  const { items } = await fleet.operator.fires.list({ schedule: 'invoice', order: 'earliest' })
  assert.equal((items[0]!.dueAt - NEW_YEAR) / MINUTE, 3)
  fleet.end()
})

test('an app without a live process for the hold-down yields its names; a live one does not', async () => {
  const fleet = await createFleet()
  const first = await fleet.add(jobs('bill'), { app: 'old-name' })
  await fleet.advance('90s')
  const second = await fleet.add(jobs('bill'), { app: 'new-name' })
  await fleet.advance('5m')
  assert.equal((await fleet.operator.schedules.get('bill')).app, 'old-name')
  assert.deepEqual(
    fleet.events('schedule.refused', second).map(({ code }) => code),
    ['SCHEDULE_NAME_TAKEN'],
  )
  const { refused } = await fleet.operator.deployments.get('new-name')
  assert.deepEqual(
    refused.map(({ schedule, code }) => [schedule, code]),
    [['bill', 'SCHEDULE_NAME_TAKEN']],
  )
  await fleet.world.until(first.app.stop())
  await fleet.advance('3m')
  assert.equal((await fleet.operator.schedules.get('bill')).app, 'new-name')
  assert.deepEqual((await fleet.operator.deployments.get('new-name')).refused, [])
  fleet.end()
})

test('two processes of one deployment that define a job differently: the first stands, both report it', async () => {
  const fleet = await createFleet()
  const every =
    (cron: string): Declare =>
    (app) =>
      app.job('bill', cron, () => {})
  const first = await fleet.add(every('*/10 * * * *'), { deployment: 'v1' })
  const second = await fleet.add(every('*/15 * * * *'), { deployment: 'v1' })
  await fleet.advance('1m')
  assert.equal((await fleet.operator.schedules.get('bill')).revision, 1)
  const told = (member: Member) =>
    fleet.events('schedule.refused', member).map(({ code, process }) => [code, process?.deployment ?? null])
  assert.deepEqual(told(second), [['SCHEDULE_DEFINED_TWICE', null]])
  assert.deepEqual(told(first), [['SCHEDULE_DEFINED_TWICE', 'v1']])
  fleet.end()
})

test('activate: definitions and retirements follow at once, and only for a deployment that is live', async () => {
  const fleet = await createFleet()
  await fleet.add(jobs('mail'), { deployment: 'v1' })
  await fleet.add(jobs('mail', 'bill'), { deployment: 'v2' })
  await fleet.advance('5m')
  await fleet.operator.deployments.activate('shop', 'v1')
  await fleet.advance('30s')
  assert.equal(await stateOf(fleet, 'bill'), 'retired')
  await assert.rejects(fleet.operator.deployments.activate('shop', 'v3'), { code: 'DEPLOYMENT_NOT_FOUND' })
  fleet.end()
})

test('an observer that was paused or has just started retires nothing before it has looked for the hold-down', async () => {
  const fleet = await createFleet()
  const old = await fleet.add(jobs('bill', 'mail'), NO_ID)
  const observer = await fleet.add(jobs('mail'), NO_ID)
  await fleet.advance('30s')
  await fleet.world.until(old.app.stop())
  await fleet.advance('20s')
  observer.pause()
  await fleet.advance('10m')
  observer.resume()
  await fleet.advance('30s')
  assert.equal(await stateOf(fleet, 'bill'), 'active')
  await fleet.advance('2m')
  assert.equal(await stateOf(fleet, 'bill'), 'retired')
  fleet.end()
})

test('a retirement that is under way is refused when a process registers meanwhile, and nothing is lost', async () => {
  const fleet = await createFleet()
  const old = await fleet.add(jobs('bill', 'mail'), NO_ID)
  const observer = await fleet.add(jobs('mail'), NO_ID)
  await fleet.world.until(old.app.stop())
  let raced = false
  observer.at('retire:sent', async () => {
    raced = true
    await fleet.make(jobs('bill', 'mail'), NO_ID).app.start()
  })
  await fleet.advance('5m')
  assert.equal(raced, true)
  assert.equal(await stateOf(fleet, 'bill'), 'active')
  assert.deepEqual(fleet.events('schedule.retired'), [])
  fleet.end()
})

test('while a newer deployment has room, its instances run what both have', async () => {
  const fleet = await createFleet()
  await fleet.addMany(3, jobs('bill'), { deployment: 'v1' })
  const next = await fleet.add(jobs('bill'), { deployment: 'v2' })
  await fleet.advance('10s')
  const before = fleet.handled.length
  await fleet.advance('20m')
  assert.deepEqual(new Set(fleet.handled.slice(before).map(({ member }) => member.name)), new Set([next.name]))
  fleet.end()
})

test('input that an older deployment finds invalid is handed back at no cost while the defining one lives', async () => {
  const fleet = await createFleet()
  const accepts = (wanted: string): StandardSchema<string> => ({
    '~standard': {
      ...{ version: 1, vendor: 'test' },
      validate: (value) => (value === wanted ? { value: wanted } : { issues: [{ message: `not ${wanted}` }] }),
    },
  })
  const declare =
    (input: string): Declare =>
    (app, { clock }) => {
      app.job('bill', { cron: '* * * * *', schema: accepts(input), input }, () => {})
      app.job('long', { cron: '55 * * * * *' }, () => clock.sleep(20_000))
    }
  await fleet.add(declare('old'), { deployment: 'v1' })
  const next = await fleet.add(declare('new'), { deployment: 'v2', concurrency: 1 })
  await fleet.advance('5m')
  const { items } = await fleet.operator.fires.list({
    schedule: 'bill',
    from: NEW_YEAR + MINUTE,
    to: NEW_YEAR + 4 * MINUTE,
  })
  assert.deepEqual(new Set(items.map(({ state }) => state)), new Set(['succeeded']))
  assert.deepEqual(
    fleet.events('fire.ended').filter(({ reason }) => reason === 'input-invalid'),
    [],
  )
  const handedBack = fleet
    .events('run.ended')
    .filter(({ schedule, reason }) => schedule === 'bill' && reason === 'handed-back')
  assert.ok(handedBack.length > 0, 'the older one had a try')
  assert.ok(fleet.handled.some(({ member, schedule }) => member === next && schedule === 'bill'))
  fleet.end()
})

test('an old server that reboots brings back no job, though the release that dropped it has left', async () => {
  const fleet = await createFleet()
  const old = await fleet.add(jobs('a', 'x'), { deployment: 'v1' })
  await fleet.advance('1m')
  const second = await fleet.add(jobs('a'), { deployment: 'v2' })
  await fleet.world.until(old.app.stop())
  await fleet.advance('5m')
  await fleet.add(jobs('a'), { deployment: 'v3' })
  await fleet.world.until(second.app.stop())
  await fleet.advance('5m')
  const before = fleet.handled.length
  const rebooted = await fleet.add(jobs('a', 'x'), { deployment: 'v1' })
  await fleet.advance('5m')
  assert.deepEqual(new Set(fleet.handled.slice(before).map(({ schedule }) => schedule)), new Set(['a']))
  assert.deepEqual(
    fleet.events('schedule.refused', rebooted).map(({ schedule, code }) => [schedule, code]),
    [['x', 'SCHEDULE_RETIRED']],
  )
  fleet.end()
})

test('a release that crashed early brings back no job before it has been up for the hold-down', async () => {
  const fleet = await createFleet()
  await fleet.add(jobs('a'), { deployment: 'v1' })
  await fleet.advance('1m30s')
  const second = await fleet.add(jobs('a', 'x'), { deployment: 'v2' })
  await fleet.advance('30s')
  second.crash()
  await fleet.advance('5m30s')
  const before = fleet.handled.length
  await fleet.add(jobs('a', 'x'), { deployment: 'v2' })
  await fleet.advance('40s')
  assert.ok(!fleet.handled.slice(before).some(({ schedule }) => schedule === 'x'))
  await fleet.advance('2m')
  assert.ok(fleet.handled.slice(before).some(({ schedule }) => schedule === 'x'))
  fleet.end()
})

test('a process without an id brings back what the newest release dropped, also if an older release declares it', async () => {
  const fleet = await createFleet()
  const without = await fleet.add(jobs('a', 'x'), NO_ID)
  await fleet.add(jobs('a', 'x'), { deployment: 'v1' })
  await fleet.add(jobs('a'), { deployment: 'v2' })
  without.pause()
  await fleet.advance('20m')
  assert.equal(await stateOf(fleet, 'x'), 'retired')
  without.resume()
  await fleet.advance('2m')
  assert.equal(await stateOf(fleet, 'x'), 'active')
  fleet.end()
})

test('a rollback of functions that only call runDue takes effect after an hour, with and without ids', async () => {
  for (const [before, after] of [
    [{ deployment: 'v1' }, { deployment: 'v2' }],
    [NO_ID, NO_ID],
  ] as const) {
    const fleet = await createFleet()
    const call = async (
      every: '1h' | '2h' | `${number}m` | `${number}h`,
      options: typeof before | typeof after,
      times: number,
    ): Promise<void> => {
      for (let time = 0; time < times; time++) {
        const { app } = fleet.make((app) => app.job('bill', { every }, () => {}), options)
        await fleet.world.until(app.runDue())
        await fleet.world.until(app.stop())
        await fleet.advance('5m')
      }
    }
    const interval = async (): Promise<unknown> => {
      const { trigger } = await fleet.operator.schedules.get('bill')
      return trigger?.kind === 'every' ? trigger.everyMs / MINUTE : null
    }
    await call('5m', before, 3)
    await call('10m', after, 3)
    assert.equal(await interval(), 10)
    await call('5m', before, 3)
    assert.equal(await interval(), 10)
    await call('5m', before, 12)
    assert.equal(await interval(), 5)
    fleet.end()
  }
})

test('an old release brings back no job that was retired by absence and that the newest release does not declare', async () => {
  const fleet = await createFleet()
  const old = await fleet.add(jobs('a', 'x'), { deployment: 'v1' })
  await fleet.advance('1m')
  const without = await fleet.add(jobs('a'), NO_ID)
  await fleet.world.until(old.app.stop())
  await fleet.advance('5m')
  assert.deepEqual((await fleet.operator.schedules.get('x')).retirements.at(-1)?.cause, 'absent')
  await fleet.add(jobs('a'), { deployment: 'v2' })
  await fleet.world.until(without.app.stop())
  await fleet.advance('2m')
  await fleet.add(jobs('a', 'x'), { deployment: 'v1' })
  await fleet.advance('2m')
  assert.equal(await stateOf(fleet, 'x'), 'retired')
  fleet.end()
})

test('after a release that crashed, the release before defines again, also if another one left at the same time', async () => {
  const fleet = await createFleet({ latency: () => ({ requestMs: 5, answerMs: 5 }) })
  const first = await fleet.add(jobs('bill', 'other'), { deployment: 'v1' })
  await fleet.advance('2m')
  await fleet.world.until(first.app.stop())
  const second = await fleet.add(jobs('bill', 'other'), { deployment: 'v2' })
  await fleet.advance('2m')
  const third = await fleet.add(jobs('other'), { deployment: 'v3' })
  await fleet.advance('10s')
  await fleet.world.until(second.app.stop())
  third.crash()
  await fleet.add(jobs('bill', 'other'), { deployment: 'v1' })
  await fleet.advance('5m')
  assert.equal((await fleet.operator.deployments.get('shop')).active, 'v1')
  fleet.end()
})

test('an old server that reboots changes nothing, however many releases came after it', async () => {
  const fleet = await createFleet()
  const release = (n: number) =>
    fleet.add(
      (app) => {
        app.job('bill', { every: n === 1 ? '10m' : '1m' }, () => {})
        if (n > 1) app.job('dunning', { every: '1m' }, () => {})
      },
      { deployment: `v${n}` },
    )
  let before = await release(1)
  for (let n = 2; n <= 24; n++) {
    await fleet.advance('70s')
    const next = await release(n)
    await fleet.world.until(before.app.stop())
    before = next
  }
  await fleet.advance('1m')
  await release(1)
  await fleet.advance('15m')
  assert.equal((await fleet.operator.deployments.get('shop')).active, 'v24')
  assert.deepEqual((await fleet.operator.schedules.get('bill')).trigger, { kind: 'every', everyMs: MINUTE, anchor: 0 })
  assert.equal(await stateOf(fleet, 'dunning'), 'active')
  fleet.end()
})

test('many live deployments of one app change its record and a shared job only when they appear', async () => {
  const fleet = await createFleet()
  for (let n = 0; n < 24; n++) {
    const declare: Declare = (app) => {
      app.job('shared', { every: n === 0 ? '2m' : '1m' }, () => {})
      app.job(`own-${n}`, { every: '10m' }, () => {})
    }
    await fleet.add(declare, NO_ID)
  }
  await fleet.advance('30s')
  const saved = (): number => fleet.members.reduce((sum, { link }) => sum + (link.calls.get('saveApp') ?? 0), 0)
  const before = saved()
  await fleet.advance('3m')
  assert.deepEqual([saved() - before, fleet.events('schedule.changed').length], [0, 1])
  fleet.end()
})
