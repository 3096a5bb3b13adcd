import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JobOptions } from '../../src/app/job.ts'
import { createFleet, type Declare, type Fleet, type Handled, type MemberOptions, NEW_YEAR } from './fleet.ts'

const MINUTE = 60_000
const NO_ID = { deployment: undefined }

/** `cleanup` on each host every minute, and a job of the whole fleet. */
const cleanup =
  (options: Partial<JobOptions> = {}): Declare =>
  (app) => {
    app.job('cleanup', { cron: '* * * * *', hosts: 'each', ...options } as JobOptions, () => {})
    app.job('mail', '* * * * *', () => {})
  }

const without: Declare = (app) => {
  app.job('mail', '* * * * *', () => {})
}

const on = (host: string, options: MemberOptions = {}): MemberOptions => ({ ...options, labels: { host } })

const stateOf = async (fleet: Fleet, host: string): Promise<string> =>
  (await fleet.operator.schedules.find(`cleanup@${host}`))?.state ?? 'none'

/** Minutes after the beginning of the instants that were run there, without the one of the beginning. */
const ranOn = (fleet: Fleet, host: string): number[] =>
  fleet.handled
    .filter(({ schedule, dueAt }) => schedule === `cleanup@${host}` && dueAt > NEW_YEAR)
    .map(({ dueAt }) => (dueAt - NEW_YEAR) / MINUTE)

const hostOf = ({ member }: Handled): string => member.name.split('/')[0]!

test("a job with hosts: 'each' fires once per due time on every live host, and is one schedule on each", async () => {
  const fleet = await createFleet()
  for (const host of ['web-1', 'web-2', 'web-3']) {
    await fleet.add(cleanup(), on(host, { name: `${host}/a` }))
    await fleet.add(cleanup(), on(host, { name: `${host}/b` }))
  }
  await fleet.advance('3m1s')
  for (const host of ['web-1', 'web-2', 'web-3']) assert.deepEqual(ranOn(fleet, host), [1, 2, 3])
  for (const run of fleet.handled.filter(({ schedule }) => schedule.startsWith('cleanup@'))) {
    assert.equal(run.schedule, `cleanup@${hostOf(run)}`)
    assert.ok(run.startedAt - run.dueAt < 250, `${run.schedule} waited for another host`)
  }
  assert.equal(fleet.handled.filter(({ schedule }) => schedule === 'mail').length, 4)
  assert.equal((await fleet.operator.schedules.find('cleanup')) ?? null, null)
  fleet.end()
})

test('when a process is killed in its run, another process of the same host runs the fire again, and no other host does', async () => {
  const fleet = await createFleet({ probes: true })
  const slow: Declare = (app, member) => {
    const isFirst = member.name === 'web-1/a'
    app.job('cleanup', { cron: '* * * * *', hosts: 'each' }, () => member.clock.sleep(isFirst ? 3_600_000 : 10))
  }
  const first = await fleet.add(slow, on('web-1', { name: 'web-1/a' }))
  await fleet.add(slow, on('web-2', { name: 'web-2/a' }))
  await fleet.advance('1m1s')
  await fleet.add(slow, on('web-1', { name: 'web-1/b' }))
  first.crash()
  await fleet.advance('30s')
  const runs = fleet.handled.filter(({ schedule }) => schedule === 'cleanup@web-1')
  assert.deepEqual(
    runs.map(({ member, attempt }) => [member.name, attempt]),
    [
      ['web-1/a', 1],
      ['web-1/b', 2],
    ],
  )
  assert.deepEqual(ranOn(fleet, 'web-2'), [1])
  fleet.end()
})

for (const [what, id] of [
  ['with a deployment id', {}],
  ['without one', NO_ID],
] as const) {
  test(`the schedule of a host that has left is retired after the hold-down, and continues when the host returns, ${what}`, async () => {
    const fleet = await createFleet()
    await fleet.add(cleanup(), on('web-1', id))
    const leaving = await fleet.add(cleanup(), on('web-2', id))
    await fleet.advance('2m1s')
    leaving.crash()
    await fleet.advance('50s')
    assert.equal(await stateOf(fleet, 'web-2'), 'active', 'the hold-down is not over')
    await fleet.advance('2m')
    assert.equal(await stateOf(fleet, 'web-2'), 'retired')
    assert.equal(await stateOf(fleet, 'web-1'), 'active')
    await fleet.advance('10m')
    await fleet.add(cleanup(), on('web-2', id))
    await fleet.advance('2m')
    assert.equal(await stateOf(fleet, 'web-2'), 'active')
    const [, , caughtUp, ...later] = ranOn(fleet, 'web-2')
    assert.equal(caughtUp, 14, 'the misfire policy is latest: one fire stands for all that were missed')
    assert.deepEqual(later, [15, 16])
    fleet.end()
  })
}

test('the schedule of a host that has left is retired, also if the process that retires it dies on the way', async () => {
  const fleet = await createFleet()
  const eldest = await fleet.add(cleanup(), on('web-1'))
  const leaving = await fleet.add(cleanup(), on('web-2'))
  await fleet.add(cleanup(), on('web-3'))
  await fleet.advance('1m1s')
  eldest.at('retire:sent', () => eldest.crash())
  await fleet.world.until(leaving.app.stop())
  await fleet.advance('10m')
  assert.equal(eldest.state, 'crashed')
  assert.equal(await stateOf(fleet, 'web-2'), 'retired')
  assert.equal(await stateOf(fleet, 'web-3'), 'active')
  fleet.end()
})

test("with misfire: 'skip', a host that returns runs nothing late", async () => {
  const fleet = await createFleet()
  await fleet.add(cleanup({ misfire: 'skip' }), on('web-1'))
  const leaving = await fleet.add(cleanup({ misfire: 'skip' }), on('web-2'))
  await fleet.advance('1m1s')
  await fleet.world.until(leaving.app.stop())
  await fleet.advance('10m20s')
  await fleet.add(cleanup({ misfire: 'skip' }), on('web-2'))
  await fleet.advance('1m')
  assert.deepEqual(ranOn(fleet, 'web-2'), [1, 12])
  fleet.end()
})

test('a new host begins from now', async () => {
  const fleet = await createFleet()
  await fleet.add(cleanup({ misfire: { late: 'all' } }), on('web-1'))
  await fleet.advance('5m30s')
  await fleet.add(cleanup({ misfire: { late: 'all' } }), on('web-2'))
  await fleet.advance('2m')
  assert.deepEqual(ranOn(fleet, 'web-2'), [6, 7])
  fleet.end()
})

test('hosts that come and go leave no names behind in the record of the app', async () => {
  const fleet = await createFleet()
  await fleet.add(cleanup(), on('web-1'))
  for (const host of ['pod-1', 'pod-2', 'pod-3']) {
    const pod = await fleet.add(cleanup(), on(host))
    await fleet.advance('61s')
    await fleet.world.until(pod.app.stop())
  }
  await fleet.advance('3m')
  const declares = fleet.source.data.namespaces.get('default')!.apps.get('shop')!.deployments[0]!.declares
  assert.deepEqual(declares, ['cleanup@*', 'cleanup@web-1', 'mail'])
  fleet.end()
})

test('a schedule of an absent host that an operator removed keeps no instance busy', async () => {
  const fleet = await createFleet()
  await fleet.add(cleanup(), on('web-1'))
  const leaving = await fleet.add(cleanup(), on('web-2'))
  await fleet.advance('5s')
  await fleet.world.until(leaving.app.stop())
  await fleet.operator.schedules.remove('cleanup@web-2', { force: true })
  await fleet.advance('3m')
  const record = fleet.source.data.namespaces.get('default')!.apps.get('shop')!
  assert.deepEqual(record.deployments[0]!.declares, ['cleanup@*', 'cleanup@web-1', 'mail'])
  await fleet.advance('1h')
  assert.equal(fleet.source.data.namespaces.get('default')!.apps.get('shop')!.version, record.version)
  fleet.end()
})

test('a release without the job retires it on all hosts', async () => {
  const fleet = await createFleet()
  const old = [await fleet.add(cleanup(), on('web-1')), await fleet.add(cleanup(), on('web-2'))]
  await fleet.advance('1m1s')
  for (const member of old) await fleet.world.until(member.app.stop())
  for (const host of ['web-1', 'web-2']) await fleet.add(without, on(host, { deployment: 'v2' }))
  await fleet.advance('2m')
  assert.equal(await stateOf(fleet, 'web-1'), 'retired')
  assert.equal(await stateOf(fleet, 'web-2'), 'retired')
  const { retirements } = await fleet.operator.schedules.get('cleanup@web-1')
  assert.equal(retirements.at(-1)!.cause, 'dropped')
  fleet.end()
})

test('a rollout that reaches one host after the other takes no job away from hosts that it has not reached', async () => {
  const fleet = await createFleet()
  const v1 = { retireAfter: '2m' } as const
  const first = await fleet.add(cleanup(), on('web-1', v1))
  await fleet.add(cleanup(), on('web-2', v1))
  const gone = await fleet.add(cleanup(), on('web-3', v1))
  await fleet.advance('1m1s')
  await fleet.world.until(first.app.stop())
  await fleet.world.until(gone.app.stop())
  await fleet.add(cleanup(), on('web-1', { ...v1, deployment: 'v2' }))
  await fleet.advance('20m')
  assert.equal(await stateOf(fleet, 'web-2'), 'active')
  assert.equal(ranOn(fleet, 'web-2').length, 21)
  assert.equal(fleet.events('schedule.contested').length, 0)
  // A host of the old release may come back, and a new one may come.
  await fleet.add(cleanup(), on('web-3', v1))
  await fleet.add(cleanup(), on('web-4', v1))
  await fleet.advance('1m')
  assert.equal(await stateOf(fleet, 'web-3'), 'active')
  assert.equal(await stateOf(fleet, 'web-4'), 'active')
  fleet.end()
})

test('processes on different hosts that declare no id are one deployment', async () => {
  const fleet = await createFleet()
  const members = [await fleet.add(cleanup(), on('web-1', NO_ID)), await fleet.add(cleanup(), on('web-2', NO_ID))]
  const [one, other] = await Promise.all(
    members.map(async ({ app }) => (await fleet.operator.instances.list()).find(({ id }) => id === app.instance)),
  )
  assert.equal(one!.deployment, other!.deployment)
  fleet.end()
})

test("hosts: 'each' with on is for the hosts with these labels only", async () => {
  const fleet = await createFleet()
  const dbs: Declare = (app) => {
    app.job('cleanup', { cron: '* * * * *', hosts: 'each', on: { role: 'db' } }, () => {})
    app.job('mail', '* * * * *', () => {})
  }
  await fleet.add(dbs, { labels: { host: 'web-1', role: 'web' } })
  await fleet.add(dbs, { labels: { host: 'db-1', role: 'db' } })
  await fleet.advance('2m1s')
  assert.equal(await stateOf(fleet, 'web-1'), 'none')
  assert.deepEqual(ranOn(fleet, 'db-1'), [1, 2])
  fleet.end()
})

test('the schedule of one host is triggered and paused by its name', async () => {
  const fleet = await createFleet()
  for (const host of ['web-1', 'web-2']) await fleet.add(cleanup(), on(host))
  await fleet.advance('1s')
  await fleet.operator.schedules.pause('cleanup@web-2')
  await fleet.operator.schedules.trigger('cleanup@web-1')
  await fleet.advance('1m1s')
  assert.equal(ranOn(fleet, 'web-1').length, 2)
  assert.deepEqual(ranOn(fleet, 'web-2'), [])
  await assert.rejects(fleet.operator.schedules.trigger('cleanup'), {
    code: 'SCHEDULE_NOT_FOUND',
    hint: /one schedule on each host.*cleanup@web-1, cleanup@web-2/,
  })
  fleet.end()
})

test('a job that is renamed goes on under the new name on every host', async () => {
  const fleet = await createFleet()
  const old = [await fleet.add(cleanup(), on('web-1')), await fleet.add(cleanup(), on('web-2'))]
  await fleet.advance('1m1s')
  for (const member of old) await fleet.world.until(member.app.stop())
  const renamed: Declare = (app) => app.job('sweep', { cron: '* * * * *', hosts: 'each', was: 'cleanup' }, () => {})
  for (const host of ['web-1', 'web-2']) await fleet.add(renamed, on(host, { deployment: 'v2' }))
  await fleet.advance('1m')
  for (const host of ['web-1', 'web-2']) {
    assert.equal(await stateOf(fleet, host), 'retired')
    assert.equal(fleet.handled.filter(({ schedule }) => schedule === `sweep@${host}`).length, 1)
  }
  fleet.end()
})

test('the names of a job under its labels are no schedules that a release drops', async () => {
  const fleet = await createFleet()
  await fleet.add(cleanup(), on('web-1', { retireAfter: '2m' }))
  await fleet.advance('1m1s')
  await fleet.add(without, on('web-2', { deployment: 'v2', retireAfter: '2m' }))
  await fleet.advance('1m')
  const contested = new Set(fleet.events('schedule.contested').map(({ schedule }) => schedule))
  assert.deepEqual([...contested], ['cleanup@web-1'])
  fleet.end()
})
