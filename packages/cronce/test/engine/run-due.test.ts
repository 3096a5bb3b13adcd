import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type App, createFleet, type Declare, type Fleet, NEW_YEAR } from './fleet.ts'

/** As a crontab does it: a process for each look. */
async function runDue(fleet: Fleet, declare: Declare, deployment = 'v1'): Promise<void> {
  const { app } = fleet.make(declare, { lease: '15s', deployment })
  await fleet.world.until(app.runDue())
}

const runs = (fleet: Fleet): string[] =>
  fleet.handled.map(({ dueAt, attempt }) => `${new Date(dueAt).toISOString().slice(11, 16)} ${attempt}`)

test('runDue recovers runs of a process that died, and does not wait for one that lives', async () => {
  const fleet = await createFleet()
  await fleet.advance('1s')
  await runDue(fleet, (app) => app.job('bill', '0 * * * *', () => {}))
  await fleet.advance('1h')
  const killed = fleet.make((app) => app.job('bill', '0 * * * *', () => new Promise(() => {})), { lease: '15s' })
  void killed.app.runDue()
  await fleet.advance('2s')
  assert.deepEqual(runs(fleet), ['01:00 1'])
  // It runs, as far as its peers can see.
  const before = fleet.now()
  await runDue(fleet, (app) => app.job('bill', '0 * * * *', () => {}))
  assert.deepEqual([runs(fleet).length, fleet.now() - before < 5_000], [1, true])
  killed.crash()
  await fleet.advance('1h')
  await runDue(fleet, (app) => app.job('bill', '0 * * * *', () => {}))
  assert.equal(fleet.events('instance.died').length, 1)
  assert.ok(runs(fleet).includes('01:00 2'), runs(fleet).join())
  await fleet.advance('1h')
  await runDue(fleet, (app) => app.job('bill', '0 * * * *', () => {}))
  assert.equal(runs(fleet).at(-1), '03:00 1')
  fleet.end()
})

test('a delivery to a function is not skipped because of a run of a killed function', async () => {
  const fleet = await createFleet()
  const token = 'x'.repeat(32)
  const deliver = (app: App, due: string): Promise<Response> =>
    app.handleFire(
      new Request(`https://shop.example/fires?schedule=bill&due=${due}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
      }),
      { token },
    )
  const make = (work: () => unknown): App => fleet.make((app) => app.job('bill', {}, work), { lease: '15s' }).app
  void deliver(
    make(() => new Promise(() => {})),
    '2027-01-01T00:00:00Z',
  )
  await fleet.advance('2s')
  assert.deepEqual(runs(fleet), ['00:00 1'])
  fleet.members[0]!.crash()
  await fleet.advance('1m')
  const answer = await fleet.world.until(
    deliver(
      make(() => 'done'),
      '2027-01-01T00:01:00Z',
    ),
  )
  assert.equal(answer.status, 200)
  assert.deepEqual(runs(fleet), ['00:00 1', '00:00 2', '00:01 1'])
  fleet.end()
})

test('a rollback takes effect although the last call of the newer release was killed', async () => {
  const fleet = await createFleet()
  const older: Declare = (app) => void app.job('bill', '0 * * * *', () => {})
  const newer: Declare = (app) => void app.job('bill', '0 0 1 * *', () => {})
  await fleet.advance('1m')
  await runDue(fleet, older, 'v1')
  await runDue(fleet, newer, 'v2')
  const killed = fleet.make(newer, { deployment: 'v2' })
  killed.at('due:sent', () => killed.crash())
  void killed.app.runDue()
  for (let calls = 0; calls < 12; calls++) {
    await fleet.advance('1h')
    await runDue(fleet, older, 'v1')
  }
  assert.deepEqual(
    runs(fleet).slice(-8),
    Array.from({ length: 8 }, (_, hour) => `${String(hour + 5).padStart(2, '0')}:00 1`),
  )
  fleet.end()
})

test('a release that is deployed again with its id changes its jobs although its last call was killed', async () => {
  const fleet = await createFleet()
  const daily: Declare = (app) => void app.job('bill', '30 0 * * *', () => {})
  await fleet.advance('1m')
  await runDue(fleet, daily)
  const killed = fleet.make(daily, { deployment: 'v1' })
  killed.at('due:sent', () => killed.crash())
  void killed.app.runDue()
  for (let calls = 0; calls < 4; calls++) {
    await fleet.advance('1h')
    await runDue(fleet, (app) => app.job('bill', '0 * * * *', () => {}))
  }
  assert.equal(runs(fleet).at(-1), '04:00 1')
  fleet.end()
})

test('the fire of a killed call runs again in a release that has renamed its job', async () => {
  const fleet = await createFleet()
  await fleet.advance('1s')
  await runDue(fleet, (app) => app.job('bill', '0 * * * *', () => {}))
  await fleet.advance('1h')
  const killed = fleet.make((app) => app.job('bill', '0 * * * *', () => new Promise(() => {})), { lease: '15s' })
  void killed.app.runDue()
  await fleet.advance('2s')
  killed.crash()
  await fleet.advance('5m')
  await runDue(fleet, (app) => app.job('invoice', { cron: '0 * * * *', was: 'bill' }, () => {}), 'v2')
  assert.deepEqual(runs(fleet), ['01:00 1', '01:00 2'])
  fleet.end()
})

test('a silent instance that holds no run of this app is not waited for', async () => {
  const fleet = await createFleet()
  const other = await fleet.add((app) => app.job('other', '* * * * *', () => new Promise(() => {})), { app: 'other' })
  await fleet.advance('90s')
  other.crash()
  await fleet.advance('1m')
  const before = fleet.now()
  await runDue(fleet, (app) => app.job('bill', '0 * * * *', () => {}))
  assert.ok(fleet.now() - before < 5_000)
  fleet.end()
})

test('runDue leaves fires that become due while it works, however long the work takes', async () => {
  const fleet = await createFleet()
  const declare: Declare = (app, member) => app.job('copy', '* * * * *', () => member.clock.sleep(70_000))
  await fleet.advance('1s')
  await runDue(fleet, declare)
  await fleet.advance('1m')
  await runDue(fleet, declare)
  assert.deepEqual(runs(fleet), ['00:01 1'])
  await fleet.advance('3m')
  await runDue(fleet, declare)
  assert.equal(runs(fleet).length, 2)
  fleet.end()
})

test('runDue runs all fires that were due, also behind a limit and in a backfill', async () => {
  for (let seed = 0; seed < 20; seed++) {
    const fleet = await createFleet({
      seed,
      latency: (random) => ({ requestMs: 1 + 8 * random(), answerMs: 1 + 8 * random() }),
    })
    const hourly: Declare = (app, member) => {
      for (let number = 0; number < 6; number++) {
        const group = { name: 'database', limit: 1 }
        app.job(`copy ${number}`, { cron: '0 * * * *', group }, () => member.clock.sleep(1 + 3 * number))
      }
    }
    await fleet.advance('1s')
    await runDue(fleet, hourly)
    await fleet.advance('1h')
    await runDue(fleet, hourly)
    assert.equal(fleet.handled.length, 6, `${seed}`)
    await fleet.operator.schedules.backfill('copy 0', { from: NEW_YEAR - 86_400_000, to: NEW_YEAR, force: true })
    await runDue(fleet, hourly)
    assert.equal(fleet.handled.length, 6 + 25, `${seed}`)
    fleet.end()
  }
})

test('runDue runs what is due behind limits that are used up, though it has room for one run', async () => {
  const fleet = await createFleet()
  const groups = [1, 2, 3].map((number) => ({ name: `database ${number}`, limit: 1 }))
  const long: Declare = (app, { clock }) => {
    for (const group of groups) app.job(`long ${group.name}`, { group }, () => clock.sleep(86_400_000))
  }
  await fleet.add(long, { app: 'mail' })
  for (const { name } of groups) await fleet.operator.schedules.trigger(`long ${name}`)
  const copy: Declare = (app) => app.job('copy', {}, () => {})
  await runDue(fleet, copy)
  const hourly = { job: 'copy', cron: '0 * * * *', misfire: { grace: '1h' } } as const
  for (const group of groups) await fleet.operator.schedules.put(`full ${group.name}`, { ...hourly, group })
  await fleet.operator.schedules.put('free', { job: 'copy', cron: '5 * * * *' })
  await fleet.advance('62m')
  // The first call plans what waits for a limit, so that the second one finds nothing to write about it.
  for (const wait of ['4m', '1s']) {
    const { app } = fleet.make(copy, { lease: '15s', concurrency: 1 })
    await fleet.world.until(app.runDue())
    await fleet.advance(wait)
  }
  assert.deepEqual(
    fleet.handled.map(({ schedule }) => schedule).filter((schedule) => !schedule.startsWith('long')),
    ['free', 'free'],
  )
  fleet.end()
})

test('runDue leaves a backfill to the next call if newer fires keep it waiting', async () => {
  const fleet = await createFleet()
  const declare: Declare = (app, member) =>
    app.job('copy', { cron: '* * * * *', overlap: 'queue' }, () => member.clock.sleep(70_000))
  await fleet.advance('1s')
  await runDue(fleet, declare)
  await fleet.advance('1h')
  await fleet.operator.schedules.backfill('copy', { from: NEW_YEAR, to: NEW_YEAR + 3_600_000, force: true })
  const before = fleet.now()
  await runDue(fleet, declare)
  assert.ok(fleet.now() - before < 3_600_000, `${fleet.now() - before}`)
  fleet.end()
})
