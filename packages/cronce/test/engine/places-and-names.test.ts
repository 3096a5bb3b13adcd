import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OnLabels } from '../../src/client/schedule-options.ts'
import { createFleet, type Declare, type Fleet, type Member, type MemberOptions, NEW_YEAR } from './fleet.ts'

// Jobs of each host that move between apps, and jobs whose labels and name change in the same rolling update.

const MINUTE = 60_000
const HOSTS = ['web-1', 'web-2'] as const
const IDS = [(id: string) => id, () => undefined] as const

const both =
  (...all: Declare[]): Declare =>
  (app, member) => {
    for (const declare of all) declare(app, member)
  }

const mail: Declare = (app) => void app.job('mail', '0 0 1 7 *', () => {})

const ofEachHost =
  (name: string, was?: string): Declare =>
  (app) =>
    void app.job(name, { cron: '* * * * *', hosts: 'each', misfire: 'all', ...(was && { was }) }, () => {})

const ofLabels =
  (name: string, on: OnLabels, was?: string): Declare =>
  (app) =>
    void app.job(name, { cron: '* * * * *', on, misfire: 'all', ...(was && { was }) }, () => {})

const stop = (fleet: Fleet, ...members: readonly Member[]): Promise<unknown> =>
  fleet.world.until(Promise.all(members.map(({ app }) => app.stop())))

/** One process on each host. */
async function onHosts(fleet: Fleet, declare: Declare, options: MemberOptions): Promise<Member[]> {
  const members: Member[] = []
  for (const host of HOSTS) members.push(await fleet.add(declare, { ...options, labels: { host } }))
  return members
}

/** In minutes, what was run under these names, in the order of the instants. */
function ran(fleet: Fleet, ...names: string[]): number[] {
  const own = fleet.handled.filter(({ schedule, dueAt }) => names.includes(schedule) && dueAt > NEW_YEAR)
  return own.map(({ dueAt }) => (dueAt - NEW_YEAR) / MINUTE).sort((one, other) => one - other)
}

const minutes = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

const minute = (fleet: Fleet): number => Math.floor((fleet.now() - NEW_YEAR) / MINUTE)

const ownersOf = (fleet: Fleet, name: string): Promise<(string | null)[]> =>
  Promise.all(HOSTS.map(async (host) => (await fleet.operator.schedules.find(`${name}@${host}`))?.app ?? null))

/** On each host, everything that came due ran once. */
function assertAllRanOnce(fleet: Fleet, ...names: string[]): void {
  for (const host of HOSTS) {
    const own = names.map((name) => `${name}@${host}`)
    assert.deepEqual(ran(fleet, ...own), minutes(1, minute(fleet)), own.join())
  }
}

/** Whether each run was on the host of its schedule. */
function assertAtHome(fleet: Fleet, hosts: ReadonlyMap<Member, string>): void {
  for (const { schedule, member } of fleet.handled) {
    const host = schedule.split('@')[1]
    if (host !== undefined) assert.equal(host, hosts.get(member), schedule)
  }
}

test('a job of each host whose app has left continues in another app, on each host', async () => {
  for (const id of IDS) {
    const fleet = await createFleet()
    const shop = await onHosts(fleet, both(ofEachHost('cleanup'), mail), { app: 'shop', deployment: id('s1') })
    await fleet.advance('150s')
    await stop(fleet, ...shop)
    await onHosts(fleet, ofEachHost('cleanup'), { app: 'crm', deployment: id('c1') })
    await fleet.advance('30s')
    assert.deepEqual(await ownersOf(fleet, 'cleanup'), ['shop', 'shop'], 'the hold-down is not over')
    await fleet.advance('10m')
    assert.deepEqual(await ownersOf(fleet, 'cleanup'), ['crm', 'crm'])
    assertAllRanOnce(fleet, 'cleanup')
    fleet.end()
  }
})

test('a job of each host stays with its app while one host still runs it there, and moves when the app has dropped it', async () => {
  const fleet = await createFleet()
  const [first, second] = (await onHosts(fleet, both(ofEachHost('cleanup'), mail), {
    app: 'shop',
    deployment: 's1',
  })) as [Member, Member]
  await fleet.advance('150s')
  const crm = await onHosts(fleet, ofEachHost('cleanup'), { app: 'crm', deployment: 'c1' })
  await fleet.advance('3m')
  for (const member of crm) {
    const refused = fleet.events('schedule.refused', member).map(({ code, schedule }) => `${code} ${schedule}`)
    assert.equal(refused.length, 1)
    assert.match(refused[0]!, /^SCHEDULE_NAME_TAKEN cleanup@web-[12]$/)
  }
  assert.deepEqual(await ownersOf(fleet, 'cleanup'), ['shop', 'shop'])
  // A release of shop without the job reaches one host after the other.
  await stop(fleet, first)
  const next = await fleet.add(mail, { app: 'shop', deployment: 's2', labels: { host: 'web-1' } })
  await fleet.advance('3m')
  const taken = await ownersOf(fleet, 'cleanup')
  await stop(fleet, second)
  await fleet.add(mail, { app: 'shop', deployment: 's2', labels: { host: 'web-2' } })
  await fleet.advance('10m')
  assert.deepEqual(await ownersOf(fleet, 'cleanup'), ['crm', 'crm'], `${taken}`)
  for (const host of HOSTS) {
    const all = ran(fleet, `cleanup@${host}`)
    assert.deepEqual(all, [...new Set(all)], host)
    assert.equal(all.at(-1), minute(fleet), host)
  }
  const hosts = new Map<Member, string>([
    [first, 'web-1'],
    [second, 'web-2'],
    [crm[0]!, 'web-1'],
    [crm[1]!, 'web-2'],
    [next, 'web-1'],
  ])
  assertAtHome(fleet, hosts)
  fleet.end()
})

test('a job of each host that was moved goes back with a rollback, and no host runs anything twice', async () => {
  const fleet = await createFleet()
  const shop = await onHosts(fleet, both(ofEachHost('cleanup'), mail), { app: 'shop', deployment: 's1' })
  await fleet.advance('150s')
  const without = await onHosts(fleet, mail, { app: 'shop', deployment: 's2' })
  await stop(fleet, ...shop)
  const crm = await onHosts(fleet, ofEachHost('cleanup'), { app: 'crm', deployment: 'c1' })
  await fleet.advance('5m')
  assert.deepEqual(await ownersOf(fleet, 'cleanup'), ['crm', 'crm'])
  await stop(fleet, ...crm, ...without)
  await onHosts(fleet, both(ofEachHost('cleanup'), mail), { app: 'shop', deployment: 's1' })
  await fleet.advance('5m')
  assert.deepEqual(await ownersOf(fleet, 'cleanup'), ['shop', 'shop'])
  for (const host of HOSTS) {
    const all = ran(fleet, `cleanup@${host}`)
    assert.deepEqual(all, [...new Set(all)], host)
    assert.equal(all.at(-1), minute(fleet), host)
  }
  fleet.end()
})

test('a job of each host is renamed in the other app once that has it, and until then runs nowhere twice', async () => {
  for (const isGone of [false, true]) {
    const fleet = await createFleet()
    const shop = await onHosts(fleet, both(ofEachHost('cleanup'), mail), { app: 'shop', deployment: 's1' })
    await fleet.advance('150s')
    if (isGone) await stop(fleet, ...shop)
    const crm = await onHosts(fleet, ofEachHost('sweep', 'cleanup'), { app: 'crm', deployment: 'c1' })
    await fleet.advance('10m')
    const refused = fleet.events('schedule.refused', crm[0]).map(({ code }) => code)
    assert.deepEqual(new Set(refused), new Set(['SCHEDULE_NAME_TAKEN']))
    assert.deepEqual(await ownersOf(fleet, 'sweep'), isGone ? ['crm', 'crm'] : [null, null])
    assertAllRanOnce(fleet, 'cleanup', 'sweep')
    for (const member of fleet.members) member.crash()
  }
})

test('one host that is down when the job moves returns in the new app, and its schedule with it', async () => {
  const fleet = await createFleet()
  const shop = await onHosts(fleet, both(ofEachHost('cleanup'), mail), { app: 'shop', deployment: 's1' })
  await fleet.advance('150s')
  await stop(fleet, ...shop)
  await fleet.add(ofEachHost('cleanup'), { app: 'crm', deployment: 'c1', labels: { host: 'web-1' } })
  await fleet.advance('10m')
  assert.deepEqual(await ownersOf(fleet, 'cleanup'), ['crm', 'shop'])
  await fleet.add(ofEachHost('cleanup'), { app: 'crm', deployment: 'c1', labels: { host: 'web-2' } })
  await fleet.advance('5m')
  assert.deepEqual(await ownersOf(fleet, 'cleanup'), ['crm', 'crm'])
  assertAllRanOnce(fleet, 'cleanup')
  fleet.end()
})

const labelled = (role: string, deployment: string | undefined, name = `${role}-${deployment}`): MemberOptions => ({
  ...{ name, deployment, labels: { role } },
})

test('a rolling update that changes the labels and the name of a job runs each due time once, where its labels allow', async () => {
  for (const id of IDS) {
    const fleet = await createFleet()
    const old = both(ofLabels('backup', { role: 'db' }), mail)
    const renamed = both(ofLabels('archive', { role: 'big' }, 'backup'), mail)
    const first = [
      await fleet.add(old, labelled('db', id('v1'), 'db-v1')),
      await fleet.add(old, labelled('web', id('v1'), 'web-v1')),
    ]
    await fleet.advance('150s')
    // The processes with the new labels come first, and the old ones are still there.
    const next = [
      await fleet.add(renamed, labelled('big', id('v2'), 'big-v2')),
      await fleet.add(renamed, labelled('db', id('v2'), 'db-v2')),
    ]
    await fleet.advance('3m')
    await stop(fleet, ...first)
    await fleet.advance('5m')
    assert.deepEqual(ran(fleet, 'backup', 'archive'), minutes(1, minute(fleet)))
    for (const { schedule, member } of fleet.handled) {
      const wanted = { backup: 'db-v1', archive: 'big-v2' }[schedule]
      if (wanted !== undefined) assert.equal(member.name, wanted)
    }
    assert.equal((await fleet.operator.schedules.get('backup')).state, 'retired')
    await stop(fleet, ...next)
    fleet.end()
  }
})

test('while no process has the new labels, a renamed job waits, and catches up there', async () => {
  const fleet = await createFleet()
  const old = await fleet.add(both(ofLabels('backup', { role: 'db' }), mail), labelled('db', 'v1'))
  await fleet.advance('150s')
  const renamed = both(ofLabels('archive', { role: 'big' }, 'backup'), mail)
  await fleet.add(renamed, labelled('web', 'v2'))
  await fleet.advance('3m')
  await stop(fleet, old)
  await fleet.advance('5m')
  const before = ran(fleet, 'backup', 'archive')
  assert.deepEqual(before, [...new Set(before)])
  assert.equal((await fleet.operator.schedules.get('archive')).state, 'active')
  await fleet.add(renamed, labelled('big', 'v2'))
  await fleet.advance('5m')
  assert.deepEqual(ran(fleet, 'backup', 'archive'), minutes(1, minute(fleet)))
  fleet.end()
})

test('a rollback of a rename with other labels goes on where the new name stopped', async () => {
  for (const id of IDS) {
    const fleet = await createFleet()
    const old = both(ofLabels('backup', { role: 'db' }), mail)
    const renamed = both(ofLabels('archive', { role: ['big', 'db'] }, 'backup'), mail)
    const first = await fleet.add(old, labelled('db', id('v1'), 'one'))
    await fleet.advance('150s')
    const second = await fleet.add(renamed, labelled('big', id('v2'), 'two'))
    await stop(fleet, first)
    await fleet.advance('3m')
    await stop(fleet, second)
    await fleet.add(old, labelled('db', id('v1'), 'three'))
    await fleet.advance('5m')
    assert.deepEqual(ran(fleet, 'backup', 'archive'), minutes(1, minute(fleet)))
    fleet.end()
  }
})

test('a job of each host that is renamed one release late runs nothing under both names', async () => {
  for (const id of IDS) {
    const fleet = await createFleet()
    const first = await onHosts(fleet, both(ofEachHost('cleanup'), mail), { deployment: id('v1') })
    await fleet.advance('150s')
    await stop(fleet, ...first)
    const forgot = await onHosts(fleet, ofEachHost('sweep'), { deployment: id('v2') })
    await fleet.advance('50s')
    await stop(fleet, ...forgot)
    await onHosts(fleet, ofEachHost('sweep', 'cleanup'), { deployment: id('v3') })
    await fleet.advance('5m')
    for (const host of HOSTS)
      assert.equal((await fleet.operator.schedules.get(`cleanup@${host}`)).state, 'retired', host)
    assertAllRanOnce(fleet, 'cleanup', 'sweep')
    fleet.end()
  }
})

test('a job with labels that is renamed one release late runs nothing under both names', async () => {
  for (const id of IDS) {
    const fleet = await createFleet()
    const first = await fleet.add(both(ofLabels('backup', { role: 'db' }), mail), labelled('db', id('v1'), 'one'))
    await fleet.advance('150s')
    await stop(fleet, first)
    const forgot = await fleet.add(ofLabels('archive', { role: 'big' }), labelled('big', id('v2'), 'two'))
    await fleet.advance('50s')
    await stop(fleet, forgot)
    // A process without the labels comes first, and makes the rename.
    await fleet.add(ofLabels('archive', { role: 'big' }, 'backup'), labelled('web', id('v3'), 'three'))
    await fleet.advance('90s')
    await fleet.add(ofLabels('archive', { role: 'big' }, 'backup'), labelled('big', id('v3'), 'four'))
    await fleet.advance('5m')
    assert.equal((await fleet.operator.schedules.get('backup')).state, 'retired')
    assert.deepEqual(ran(fleet, 'backup', 'archive'), minutes(1, minute(fleet)))
    fleet.end()
  }
})

test('a host that stalls while its job moves to another app runs nothing that ran there', async () => {
  for (const stallMs of [2_000, 20_000, 90_000, 300_000]) {
    const fleet = await createFleet({ probes: true })
    const shop = await onHosts(fleet, both(ofEachHost('cleanup'), mail), { app: 'shop', deployment: 's1' })
    await fleet.advance('150s')
    shop[0]!.pause()
    await stop(fleet, shop[1]!)
    await onHosts(fleet, ofEachHost('cleanup'), { app: 'crm', deployment: 'c1' })
    await fleet.advance(stallMs)
    shop[0]!.resume()
    await fleet.advance('10m15s')
    for (const host of HOSTS) {
      const all = ran(fleet, `cleanup@${host}`)
      assert.deepEqual(all, [...new Set(all)], `${host} ${stallMs}`)
      assert.deepEqual(new Set(all), new Set(minutes(1, minute(fleet))), `${host} ${stallMs}`)
    }
    fleet.end()
  }
})
