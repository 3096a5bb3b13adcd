import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet, type Declare, type Fleet, type Member, type MemberOptions, NEW_YEAR } from './fleet.ts'

// Jobs that get `hosts: 'each'` in a later release, or lose it.

const MINUTE = 60_000
const HOSTS = ['web-1', 'web-2'] as const
const EACH = HOSTS.map((host) => `cleanup@${host}`)
const IDS = [
  ['with ids', (id: string) => id],
  ['without ids', () => undefined],
] as const

const once: Declare = (app) => void app.job('cleanup', { cron: '* * * * *' }, () => {})
const each: Declare = (app) => void app.job('cleanup', { cron: '* * * * *', hosts: 'each' }, () => {})
const sweepEach: Declare = (app) =>
  void app.job('sweep', { cron: '* * * * *', hosts: 'each', was: 'cleanup' }, () => {})
const sweepOnce: Declare = (app) => void app.job('sweep', { cron: '* * * * *', was: 'cleanup' }, () => {})

const cleanupEach: Declare = (app) =>
  void app.job('cleanup', { cron: '* * * * *', hosts: 'each', was: 'sweep' }, () => {})

const add = (fleet: Fleet, declare: Declare, host: string, options: MemberOptions): Promise<Member> =>
  fleet.add(declare, { ...options, labels: { host } })

async function onHosts(fleet: Fleet, declare: Declare, options: MemberOptions): Promise<Member[]> {
  const members: Member[] = []
  for (const host of HOSTS) members.push(await add(fleet, declare, host, options))
  return members
}

const stop = (fleet: Fleet, ...members: readonly Member[]): Promise<unknown> =>
  fleet.world.until(Promise.all(members.map(({ app }) => app.stop())))

/** The names under which anything ran that came due in the last minutes, each with how many of them it has run. */
async function ranIn(fleet: Fleet, minutes: number): Promise<Record<string, number>> {
  await fleet.advance(minutes * MINUTE)
  const from = fleet.now() - minutes * MINUTE
  const counts = new Map<string, number>()
  for (const { schedule, dueAt } of fleet.handled)
    if (dueAt > from) counts.set(schedule, (counts.get(schedule) ?? 0) + 1)
  return Object.fromEntries([...counts].sort(([one], [other]) => (one < other ? -1 : 1)))
}

const eachHost = (name: string, times: number): Record<string, number> =>
  Object.fromEntries(HOSTS.map((host) => [`${name}@${host}`, times]))

async function states(fleet: Fleet, ...names: readonly string[]): Promise<(string | null)[]> {
  return Promise.all(names.map(async (name) => (await fleet.operator.schedules.find(name))?.state ?? null))
}

for (const [ids, id] of IDS) {
  test(`a job that gets hosts: 'each' runs only on each host once the old processes have been gone for the hold-down, ${ids}`, async () => {
    const fleet = await createFleet()
    const old = await onHosts(fleet, once, { deployment: id('v1') })
    await fleet.advance('90s')
    await stop(fleet, ...old)
    await onHosts(fleet, each, { deployment: id('v2') })
    await fleet.advance('50s')
    assert.deepEqual(await states(fleet, 'cleanup'), ['active'], 'the hold-down is not over')
    await fleet.advance('40s')
    assert.deepEqual(await states(fleet, 'cleanup', ...EACH), ['retired', 'active', 'active'])
    await assert.rejects(fleet.operator.schedules.trigger('cleanup'), {
      code: 'SCHEDULE_RETIRED',
      hint: /^The job has one schedule on each host: cleanup@web-1, cleanup@web-2\. Name one/,
    })
    assert.deepEqual(await ranIn(fleet, 10), eachHost('cleanup', 10))
    assert.deepEqual(fleet.events('schedule.contested'), [])
    fleet.end()
  })

  test(`a job that loses hosts: 'each' runs once for all hosts after the hold-down, ${ids}`, async () => {
    const fleet = await createFleet()
    const old = await onHosts(fleet, each, { deployment: id('v1') })
    await fleet.advance('90s')
    await stop(fleet, ...old)
    await onHosts(fleet, once, { deployment: id('v2') })
    await fleet.advance('90s')
    assert.deepEqual(await states(fleet, 'cleanup', ...EACH), ['active', 'retired', 'retired'])
    assert.deepEqual(await ranIn(fleet, 10), { cleanup: 10 })
    fleet.end()
  })

  test(`after a rollback a job has its old form again, catches up with nothing, and so after the next deploy, ${ids}`, async () => {
    const fleet = await createFleet()
    let now = await onHosts(fleet, once, { deployment: id('v1') })
    for (const [declare, name, ran] of [
      [each, 'v2', eachHost('cleanup', 3)],
      [once, 'v1', { cleanup: 3 }],
      [each, 'v2', eachHost('cleanup', 3)],
      [once, 'v1', { cleanup: 3 }],
    ] as const) {
      await fleet.advance('30s')
      await stop(fleet, ...now)
      const before = fleet.handled.length
      now = await onHosts(fleet, declare, { deployment: id(name) })
      await fleet.advance('20s')
      assert.equal(fleet.handled.length, before, `${name} runs nothing that came due under the other release`)
      await fleet.advance('2m')
      assert.deepEqual(await ranIn(fleet, 3), ran)
      await fleet.advance('10s')
    }
    fleet.end()
  })

  for (const [what, from, to, ran] of [
    ["gets hosts: 'each'", once, sweepEach, eachHost('sweep', 5)],
    ["loses hosts: 'each'", each, sweepOnce, { sweep: 5 }],
  ] as const) {
    test(`a job that is renamed and ${what} in one release runs under the new name only, ${ids}`, async () => {
      const fleet = await createFleet()
      const old = await onHosts(fleet, from, { deployment: id('v1') })
      await fleet.advance('90s')
      await stop(fleet, ...old)
      await onHosts(fleet, to, { deployment: id('v2') })
      await fleet.advance('90s')
      assert.deepEqual(await ranIn(fleet, 5), ran)
      fleet.end()
    })
  }

  test(`a job that loses hosts: 'each' with its name, and gets both back, keeps no schedule of the release in between, ${ids}`, async () => {
    const fleet = await createFleet()
    let now = await onHosts(fleet, each, { deployment: id('v1') })
    for (const [declare, name] of [
      [sweepOnce, 'v2'],
      [cleanupEach, 'v3'],
    ] as const) {
      await fleet.advance('90s')
      await stop(fleet, ...now)
      now = await onHosts(fleet, declare, { deployment: id(name) })
    }
    await fleet.advance('2m')
    assert.deepEqual(await states(fleet, 'cleanup', 'sweep', ...EACH), [null, 'retired', 'active', 'active'])
    assert.deepEqual(await ranIn(fleet, 5), eachHost('cleanup', 5))
    fleet.end()
  })

  test(`in a rolling update, hosts of the old release without the job add nothing when the release with hosts: 'each' is ready, ${ids}`, async () => {
    const fleet = await createFleet()
    const [first, second] = (await onHosts(fleet, once, { deployment: id('v1') })) as [Member, Member]
    await fleet.advance('90s')
    await stop(fleet, first)
    await add(fleet, each, 'web-1', { deployment: id('v2') })
    await fleet.advance('90s')
    // What a live process without an id declares is never retired.
    const isKept = id('v1') === undefined
    assert.deepEqual(await states(fleet, 'cleanup', ...EACH), [isKept ? 'active' : 'retired', 'active', null])
    assert.deepEqual(await ranIn(fleet, 3), { ...(isKept ? { cleanup: 3 } : {}), 'cleanup@web-1': 3 })
    await stop(fleet, second)
    await add(fleet, each, 'web-2', { deployment: id('v2') })
    await fleet.advance('90s')
    assert.deepEqual(await states(fleet, 'cleanup', ...EACH), ['retired', 'active', 'active'])
    assert.deepEqual(await ranIn(fleet, 3), eachHost('cleanup', 3))
    assert.deepEqual(fleet.events('schedule.contested'), [])
    fleet.end()
  })

  test(`in a rolling update that takes hosts: 'each' away, each host of the old release stops, ${ids}`, async () => {
    const fleet = await createFleet()
    const [first, second] = (await onHosts(fleet, each, { deployment: id('v1') })) as [Member, Member]
    await fleet.advance('90s')
    await stop(fleet, first)
    await add(fleet, once, 'web-1', { deployment: id('v2') })
    await fleet.advance('2m')
    const isKept = id('v1') === undefined
    assert.deepEqual(await states(fleet, 'cleanup', ...EACH), ['active', 'retired', isKept ? 'active' : 'retired'])
    await stop(fleet, second)
    await add(fleet, once, 'web-2', { deployment: id('v2') })
    await fleet.advance('2m')
    assert.deepEqual(await states(fleet, 'cleanup', ...EACH), ['active', 'retired', 'retired'])
    assert.deepEqual(await ranIn(fleet, 3), { cleanup: 3 })
    fleet.end()
  })
}

test("a release with hosts: 'each' that crashes in a loop stops nothing, and the old one goes on without a gap", async () => {
  const fleet = await createFleet({ probes: true })
  const old = await add(fleet, once, 'web-1', { deployment: 'v1' })
  await fleet.advance('90s')
  for (let crash = 0; crash < 5; crash++) {
    const next = await add(fleet, each, 'web-2', { deployment: 'v2' })
    await fleet.advance('20s')
    next.crash()
    await fleet.advance('10s')
  }
  await fleet.advance('190s')
  assert.deepEqual(await states(fleet, 'cleanup', ...EACH), ['active', null, 'retired'])
  const ran = fleet.handled.filter(({ schedule }) => schedule === 'cleanup').map(({ dueAt }) => dueAt)
  const minutes = Math.floor((fleet.now() - NEW_YEAR) / MINUTE)
  assert.deepEqual(
    ran.filter((dueAt) => dueAt > NEW_YEAR).map((dueAt) => (dueAt - NEW_YEAR) / MINUTE),
    Array.from({ length: minutes }, (_, index) => index + 1),
  )
  await stop(fleet, old)
  fleet.end()
})

test("an old process that lives on doesn't bring the old form back, and a late one of the old release neither", async () => {
  for (const [from, to, ran] of [
    [once, each, { 'cleanup@web-1': 5 }],
    [each, once, { cleanup: 5 }],
  ] as const) {
    const fleet = await createFleet()
    await add(fleet, from, 'web-2', { deployment: 'v1' })
    await fleet.advance('30s')
    await add(fleet, to, 'web-1', { deployment: 'v2' })
    await fleet.advance('30m')
    await add(fleet, from, 'web-2', { deployment: 'v1' })
    await fleet.advance('2m')
    assert.deepEqual(await ranIn(fleet, 5), ran)
    fleet.end()
  }
})

test('an operator who activates a release changes the form of its jobs at once', async () => {
  const fleet = await createFleet()
  await add(fleet, each, 'web-1', { deployment: 'v1' })
  await fleet.advance('10s')
  await add(fleet, once, 'web-2', { deployment: 'v2' })
  await fleet.advance('2m')
  assert.deepEqual(await states(fleet, 'cleanup', 'cleanup@web-1'), ['active', 'retired'])
  await fleet.operator.deployments.activate('shop', 'v1')
  await fleet.advance('30s')
  assert.deepEqual(await states(fleet, 'cleanup', 'cleanup@web-1'), ['retired', 'active'])
  fleet.end()
})

test('a run of the old form that goes on when its schedule is retired ends as any run does', async () => {
  const fleet = await createFleet()
  const slow: Declare = (app, member) =>
    void app.job('cleanup', { cron: '0 0 1 7 *' }, () => member.clock.sleep(100_000))
  await add(fleet, slow, 'web-1', { deployment: 'v1' })
  await fleet.operator.schedules.trigger('cleanup')
  await fleet.advance('1s')
  await add(fleet, each, 'web-2', { deployment: 'v2' })
  await fleet.advance('90s')
  assert.deepEqual(await states(fleet, 'cleanup'), ['retired'])
  await fleet.advance('30s')
  const handled = fleet.handled.filter(({ schedule }) => schedule === 'cleanup')
  assert.deepEqual(
    handled.map(({ how }) => how),
    ['returned'],
  )
  assert.equal((await fleet.operator.schedules.get('cleanup')).last.succeededAt !== null, true)
  fleet.end()
})

test("with hosts: 'each', a job that moves to other labels stops on hosts without them, and goes on where they are", async () => {
  const role = (name: string): Declare => {
    return (app) => void app.job('cleanup', { cron: '* * * * *', hosts: 'each', on: { role: name } }, () => {})
  }
  for (const [, id] of IDS) {
    const fleet = await createFleet()
    const start = (declare: Declare, host: string, its: string, deployment: string | undefined): Promise<Member> =>
      fleet.add(declare, { deployment, labels: { host, role: its } })
    const mail: Declare = (app) => void app.job('mail', '0 0 1 7 *', () => {})
    const both =
      (declare: Declare): Declare =>
      (app, member) => {
        declare(app, member)
        mail(app, member)
      }
    const old = [
      await start(both(role('web')), 'web-1', 'web', id('v1')),
      await start(both(role('web')), 'db-1', 'db', id('v1')),
    ]
    await fleet.advance('90s')
    await stop(fleet, ...old)
    await start(both(role('db')), 'web-1', 'web', id('v2'))
    await start(both(role('db')), 'db-1', 'db', id('v2'))
    await fleet.advance('3m')
    assert.deepEqual(await states(fleet, 'cleanup', 'cleanup@web-1', 'cleanup@db-1'), [null, 'retired', 'active'])
    assert.deepEqual(await ranIn(fleet, 3), { 'cleanup@db-1': 3 })
    fleet.end()
  }
})

for (const [what, from, to, before, after] of [
  ["gets hosts: 'each'", once, each, { cleanup: 3 }, eachHost('cleanup', 3)],
  ["loses hosts: 'each'", each, once, eachHost('cleanup', 3), { cleanup: 3 }],
] as const) {
  test(`under one deployment id, a job that ${what} keeps its first form until all processes have stopped, and this is reported`, async () => {
    const fleet = await createFleet()
    const [first, second] = (await onHosts(fleet, from, {})) as [Member, Member]
    await fleet.advance('90s')
    await stop(fleet, first)
    const next = await add(fleet, to, 'web-1', {})
    await fleet.advance('20m')
    assert.equal(fleet.events('schedule.refused', next)[0]!.code, 'SCHEDULE_DEFINED_TWICE')
    const ran = await ranIn(fleet, 3)
    assert.deepEqual(
      ran,
      Object.fromEntries(Object.entries(before).filter(([name]) => name !== 'cleanup@web-1')),
      'the process of the other form runs nothing of its own',
    )
    await stop(fleet, second, next)
    await onHosts(fleet, to, {})
    await fleet.advance('90s')
    assert.deepEqual(await ranIn(fleet, 3), after)
    const { version } = fleet.source.data.namespaces.get('default')!.apps.get('shop')!
    await fleet.advance('1h')
    assert.equal(fleet.source.data.namespaces.get('default')!.apps.get('shop')!.version, version)
    fleet.end()
  })
}
