import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet, type Fleet, type Handled, NEW_YEAR } from './fleet.ts'

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

test('misfire all keeps what waits for room, and says why it starts late', async () => {
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

test('a schedule without a limit is not kept waiting by one of the same job whose limit is used up', async () => {
  const fleet = await createFleet()
  const group = { name: 'database', limit: 1 }
  await fleet.add((app, { clock }) => app.job('long', { group }, () => clock.sleep(3_600 * SECOND)), { app: 'mail' })
  await fleet.operator.schedules.trigger('long')
  await fleet.advance('1s')
  await fleet.add(
    (app) => {
      app.job('copy', {}, () => {})
      app.job('tick', { every: '1s' }, () => {})
    },
    { concurrency: 1 },
  )
  // They wait for longer than the free one, so a look finds them before it.
  for (const name of ['full-1', 'full-2', 'full-3'])
    await fleet.operator.schedules.put(name, { job: 'copy', every: '1s', group, misfire: { grace: '10m' } })
  await fleet.advance('5s')
  await fleet.operator.schedules.put('free', { job: 'copy', every: '5s' })
  await fleet.advance('1m')
  assert.ok(latenesses(fleet, 'free').length >= 11, `${latenesses(fleet, 'free').length} starts`)
  assert.ok(Math.max(...latenesses(fleet, 'free')) < GRACE)
  assert.equal(latenesses(fleet, 'full-1').length, 0)
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
  assert.ok(latenesses(fleet, 'copy').length >= 90)
  fleet.end()
})

test('what becomes of an instant is decided though more schedules wait for room than one look shows', async () => {
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

test('what becomes of an instant is decided though an instance always has older work, and room for it now and then', async () => {
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
