import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet, type Declare, type Fleet, type Handled, NEW_YEAR } from './fleet.ts'

const SECOND = 1_000
const GRACE = 10 * SECOND

/** How late each start of the schedule was. */
function latenesses(fleet: Fleet, schedule: string): number[] {
  return fleet.handled.filter((handled) => handled.schedule === schedule).map(latenessOf)
}

function latenessOf({ startedAt, dueAt }: Handled): number {
  return startedAt - dueAt
}

/** What is on record about the instants, with the ranges counted. */
async function countReasons(fleet: Fleet, schedule: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { reason, range } of (await fleet.operator.fires.list({ schedule, limit: 1_000 })).items) {
    counts[reason ?? 'open'] = (counts[reason ?? 'open'] ?? 0) + (range?.count ?? 1)
  }
  return counts
}

const countAll = (counts: Record<string, number>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0)

for (const [misfire, overlap] of [
  ['latest', 'skip'],
  ['skip', 'skip'],
  ['latest', 'queue'],
  ['skip', 'queue'],
  ['latest', 'replace'],
] as const) {
  test(`misfire ${misfire}, overlap ${overlap}: when room is free again, nothing older than the grace is run`, async () => {
    const fleet = await createFleet()
    await fleet.add(
      (app, member) => {
        app.job('long', {}, () => member.clock.sleep(25 * SECOND))
        app.job('tick', { every: '1s', misfire, overlap }, () => {})
      },
      { concurrency: 2 },
    )
    await fleet.advance('5s')
    await fleet.operator.schedules.trigger('long', { dedupe: 'a', overlap: 'ignore' })
    await fleet.operator.schedules.trigger('long', { dedupe: 'b', overlap: 'ignore' })
    await fleet.advance('1m')
    const late = latenesses(fleet, 'tick').filter((ms) => ms > 2 * SECOND)
    assert.ok(late.length <= 3, `${late.length} late fires were run`)
    assert.ok(Math.max(...latenesses(fleet, 'tick')) <= GRACE + SECOND)
    const reasons = await countReasons(fleet, 'tick')
    const reason = overlap === 'replace' ? 'replaced' : misfire === 'skip' ? 'late' : 'superseded'
    assert.ok((reasons[reason] ?? 0) > 0, JSON.stringify(reasons))
    // Every instant of the last half minute ran on time.
    const fresh = fleet.handled.filter(
      ({ schedule, dueAt }) => schedule === 'tick' && dueAt > fleet.now() - 30 * SECOND,
    )
    assert.ok(fresh.length >= 29 && fresh.every((handled) => latenessOf(handled) < SECOND))
    fleet.end()
  })
}

test('a used-up group limit counts like missing room', async () => {
  const fleet = await createFleet()
  await fleet.add((app, member) => {
    const group = { name: 'database', limit: 1 }
    app.job('long', { group }, () => member.clock.sleep(25 * SECOND))
    app.job('tick', { every: '1s', group }, () => {})
  })
  await fleet.advance('5500ms')
  await fleet.operator.schedules.trigger('long')
  await fleet.advance('1m')
  const late = latenesses(fleet, 'tick').filter((ms) => ms > 5 * SECOND)
  assert.ok(late.length <= 5, `${late.length} late fires were run`)
  assert.ok(Math.max(...latenesses(fleet, 'tick')) <= GRACE + 5 * SECOND)
  fleet.end()
})

test('a schedule whose work takes as long as its interval gets back to now', async () => {
  const fleet = await createFleet()
  await fleet.add(
    (app, member) => {
      app.job('long', {}, () => member.clock.sleep(25 * SECOND))
      app.job('tick', { every: '1s', overlap: 'queue' }, () => member.clock.sleep(SECOND))
    },
    { concurrency: 2 },
  )
  await fleet.advance('5s')
  for (const dedupe of ['a', 'b']) await fleet.operator.schedules.trigger('long', { dedupe, overlap: 'ignore' })
  await fleet.advance('2m')
  const recent = fleet.handled.filter(({ schedule, dueAt }) => schedule === 'tick' && dueAt > fleet.now() - 60 * SECOND)
  assert.ok(recent.length > 20)
  assert.ok(recent.every((handled) => latenessOf(handled) < 3 * SECOND))
  fleet.end()
})

test('misfire all keeps fires that wait for room, and records why they start late', async () => {
  const fleet = await createFleet()
  await fleet.add(
    (app, member) => {
      app.job('long', {}, () => member.clock.sleep(25 * SECOND))
      app.job('tick', { every: '1s', misfire: 'all' }, () => {})
    },
    { concurrency: 1 },
  )
  await fleet.advance('5500ms')
  await fleet.operator.schedules.trigger('long')
  await fleet.advance('1m')
  assert.deepEqual(await countReasons(fleet, 'tick'), { completed: 66 })
  const runs = (await fleet.operator.runs.list({ schedule: 'tick', limit: 1_000 })).items
  for (const { latenessMs, cause } of runs) assert.equal(cause !== null, latenessMs > GRACE)
  assert.ok(runs.some(({ cause }) => cause === 'room'))
  fleet.end()
})

test('a fire that becomes late behind an active one is judged when it does, not when its turn comes', async () => {
  const fleet = await createFleet()
  const policy = { misfire: 'skip', start: NEW_YEAR + 2 * SECOND, limit: 2 } as const
  await fleet.add((app, member) => app.job('tick', { every: '1s', ...policy }, () => member.clock.sleep(60 * SECOND)))
  // Both instants are found due at once, and the first one takes a minute.
  const back = fleet.outage({ kind: 'throws' })
  await fleet.advance('5s')
  back()
  await fleet.advance('5s')
  assert.deepEqual(await countReasons(fleet, 'tick'), { open: 2 })
  await fleet.advance('10s')
  assert.deepEqual(await countReasons(fleet, 'tick'), { late: 1, open: 1 })
  fleet.end()
})

/** A fleet whose `database` groups are used up for this long, by runs of another app. */
async function withUsedUpGroups(names: readonly string[], seconds: number): Promise<Fleet> {
  const fleet = await createFleet()
  const declare: Declare = (app, { clock }) => {
    for (const name of names)
      app.job(`long ${name}`, { group: { name, limit: 1 } }, () => clock.sleep(seconds * SECOND))
  }
  await fleet.add(declare, { app: 'mail', concurrency: names.length })
  for (const name of names) await fleet.operator.schedules.trigger(`long ${name}`)
  await fleet.advance('1s')
  return fleet
}

const copyAndTick: Declare = (app) => {
  app.job('copy', {}, () => {})
  app.job('tick', { every: '1s' }, () => {})
}

async function putWaiting(fleet: Fleet, name: string, group: string, every: '1s' | '1h' = '1s'): Promise<void> {
  const policy = { group: { name: group, limit: 1 }, misfire: { grace: '10m' } } as const
  await fleet.operator.schedules.put(name, { job: 'copy', every, ...policy })
}

/** The schedule `free` of the same job: each of its starts is on time. */
async function expectFreeOnTime(fleet: Fleet): Promise<void> {
  // The others wait for longer than the free one, so a look finds them before it.
  await fleet.advance('5s')
  await fleet.operator.schedules.put('free', { job: 'copy', every: '5s' })
  await fleet.advance('1m')
  assert.ok(latenesses(fleet, 'free').length >= 11, `${latenesses(fleet, 'free').length} starts`)
  assert.ok(Math.max(...latenesses(fleet, 'free')) < SECOND, `${latenesses(fleet, 'free')}`)
  assert.equal(latenesses(fleet, 'full-1').length, 0)
  fleet.end()
}

test('a schedule without a limit is not kept waiting by many of the same job whose limit is used up', async () => {
  const fleet = await withUsedUpGroups(['database'], 3_600)
  await fleet.add(copyAndTick, { concurrency: 1 })
  for (let number = 1; number <= 40; number++) await putWaiting(fleet, `full-${number}`, 'database')
  await expectFreeOnTime(fleet)
})

test('a schedule without a limit is not hidden by more schedules with a used-up limit than one look shows', async () => {
  const fleet = await withUsedUpGroups(['database'], 3_600)
  await fleet.add(copyAndTick, { concurrency: 10 })
  for (let number = 1; number <= 600; number++) await putWaiting(fleet, `full-${number}`, 'database')
  await expectFreeOnTime(fleet)
})

test('a schedule without a limit is not kept waiting by many limits that are used up', async () => {
  const groups = Array.from({ length: 40 }, (_, index) => `database ${index + 1}`)
  const fleet = await withUsedUpGroups(groups, 7_200)
  await fleet.add(copyAndTick, { concurrency: 1 })
  for (const [index, group] of groups.entries()) await putWaiting(fleet, `full-${index + 1}`, group, '1h')
  await fleet.advance('1h')
  await expectFreeOnTime(fleet)
})

test('instants are decided in time though their limit is used up and there is one free slot', async () => {
  const fleet = await withUsedUpGroups(['database'], 3_600)
  await fleet.add((app) => app.job('copy', {}, () => {}), { concurrency: 1 })
  const policy = { group: { name: 'database', limit: 1 }, misfire: 'skip' } as const
  const names = Array.from({ length: 20 }, (_, index) => `full-${index + 1}`)
  for (const name of names) await fleet.operator.schedules.put(name, { job: 'copy', every: '10s', ...policy })
  await fleet.advance('3m')
  for (const name of names) {
    const { late = 0 } = await countReasons(fleet, name)
    assert.ok(late >= 15, `${name}: ${late}`)
  }
  fleet.end()
})

test('a group that is used up for one schedule has places for another whose limit is higher', async () => {
  const fleet = await withUsedUpGroups(['database'], 3_600)
  await fleet.add(copyAndTick, { concurrency: 1 })
  await putWaiting(fleet, 'full-1', 'database')
  await fleet.advance('20s')
  const group = { name: 'database', limit: 2 }
  await fleet.operator.schedules.put('second', { job: 'copy', every: '5s', group })
  await fleet.advance('1m')
  assert.ok(latenesses(fleet, 'second').length >= 11, `${latenesses(fleet, 'second').length} starts`)
  assert.ok(Math.max(...latenesses(fleet, 'second')) < SECOND)
  assert.equal(latenesses(fleet, 'full-1').length, 0)
  fleet.end()
})

test('a fire that counts against a used-up limit does not hold back others of its schedule that do not', async () => {
  const fleet = await withUsedUpGroups(['database'], 3_600)
  await fleet.add(copyAndTick)
  const copy = { job: 'copy', overlap: 'allow', misfire: { grace: '10m' } } as const
  await fleet.operator.schedules.put('moved', { ...copy, every: '1m', group: { name: 'database', limit: 1 } })
  await fleet.advance('70s')
  // The fire that waits keeps the group with which it was planned.
  await fleet.operator.schedules.put('moved', { ...copy, every: '10s' })
  await fleet.advance('1m')
  assert.ok(latenesses(fleet, 'moved').length >= 5, `${latenesses(fleet, 'moved').length} starts`)
  fleet.end()
})

test('a used-up limit is asked for less and less often, and found soon after a peer has freed it', async () => {
  const fleet = await withUsedUpGroups(['database'], 300)
  const { link } = await fleet.add((app) => app.job('copy', {}, () => {}))
  for (const name of ['full-1', 'full-2', 'full-3']) await putWaiting(fleet, name, 'database')
  await fleet.advance('1m')
  const before = link.calls.get('due') ?? 0
  await fleet.advance('1m')
  const looks = (link.calls.get('due') ?? 0) - before
  assert.ok(looks <= 40, `${looks} looks in a minute`)
  await fleet.advance('190s')
  for (const name of ['full-1', 'full-2', 'full-3']) assert.ok(latenesses(fleet, name).length > 0, name)
  fleet.end()
})

test('a fire that waited for a used-up limit gets its turn once the limit is free, though there is always newer work', async () => {
  const fleet = await withUsedUpGroups(['database'], 20)
  await fleet.add(
    (app, { clock }) => {
      for (const name of ['busy 1', 'busy 2']) app.job(name, { every: '1s', overlap: 'queue' }, () => clock.sleep(700))
      app.job('copy', {}, () => {})
    },
    { concurrency: 1 },
  )
  await putWaiting(fleet, 'waiting', 'database')
  // Without the limit it would wait for two seconds. It is tried again within four seconds, and after ten in its turn.
  await fleet.advance('40s')
  assert.ok(latenesses(fleet, 'waiting').length >= 1)
  await fleet.advance('1m')
  assert.ok(latenesses(fleet, 'waiting').length >= 15, `${latenesses(fleet, 'waiting').length} starts`)
  fleet.end()
})

test('a job that waits for a place in a group gets one, though another job of the group always has a fire that waits', async () => {
  const fleet = await createFleet()
  await fleet.add((app, member) => {
    const group = { name: 'database', limit: 1 }
    app.job('bill', { every: '10s', group }, () => {})
    app.job('copy', { every: '1s', overlap: 'queue', group }, () => member.clock.sleep(2_500))
  })
  await fleet.advance('5m')
  assert.ok(latenesses(fleet, 'bill').length >= 25, `${latenesses(fleet, 'bill').length} of 30 ran`)
  assert.ok(latenesses(fleet, 'copy').length >= 115)
  fleet.end()
})

test('instants are decided in time though more schedules wait for a slot than one look shows', async () => {
  const fleet = await createFleet()
  const at = NEW_YEAR + 60 * SECOND
  await fleet.add(
    (app, member) => {
      app.job('report', {}, () => member.clock.sleep(600 * SECOND))
      app.job('tick', { every: '10s', misfire: 'skip', start: at + 5 * SECOND }, () => {})
    },
    { concurrency: 20 },
  )
  for (let number = 0; number < 600; number++)
    await fleet.operator.schedules.create(`report ${number}`, { job: 'report', at })
  await fleet.advance('6m')
  const reasons = await countReasons(fleet, 'tick')
  assert.ok(countAll(reasons) >= 29, JSON.stringify(reasons))
  fleet.end()
})

test('instants are decided in time though an instance always has older work, and free slots only now and then', async () => {
  const fleet = await createFleet()
  await fleet.add(
    (app, member) => {
      app.job('copy', { every: '500ms', overlap: { kind: 'queue-all', limit: 1_000 } }, () => member.clock.sleep(700))
      app.job('tick', { every: '10s', misfire: 'skip' }, () => {})
    },
    { concurrency: 1 },
  )
  await fleet.advance('5m')
  const reasons = await countReasons(fleet, 'tick')
  assert.ok(countAll(reasons) >= 28, JSON.stringify(reasons))
  fleet.end()
})
