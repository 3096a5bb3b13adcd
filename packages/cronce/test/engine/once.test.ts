import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet, type Declare, type Handled, NEW_YEAR } from './fleet.ts'

const MINUTE = 60_000
const HOUR = 3_600_000
const SPAN = 20 * MINUTE

test('every instant is run once, however many instances there are', async () => {
  const fleet = await createFleet()
  await fleet.addMany(5, (app) => app.job('bill', '* * * * *', () => {}).job('mail', { every: '10s' }, () => {}))
  await fleet.advance(SPAN)
  assert.deepEqual(dueTimes(fleet.handled, 'bill'), instants(MINUTE, SPAN))
  assert.deepEqual(dueTimes(fleet.handled, 'mail'), instants(10_000, SPAN))
  assert.ok(new Set(fleet.handled.map(({ member }) => member)).size > 1, 'one instance did everything')
  fleet.end()
})

test('instances whose clocks are an hour off, or run fast or slow, run everything on time by the clock of the store', async () => {
  const fleet = await createFleet()
  const clocks = [{ skewMs: HOUR }, { skewMs: -HOUR }, { rate: 1.01 }, { rate: 0.99 }]
  for (const clock of clocks) await fleet.add((app) => app.job('bill', '* * * * *', () => {}), clock)
  await fleet.advance(SPAN)
  assert.deepEqual(dueTimes(fleet.handled, 'bill'), instants(MINUTE, SPAN))
  for (const { dueAt, startedAt } of fleet.handled) assert.ok(startedAt - dueAt < 2_000, `${startedAt - dueAt} ms late`)
  const skewed = new Set(fleet.events('clock.skewed').map(({ offsetMs }) => Math.round(offsetMs / HOUR)))
  assert.deepEqual(skewed.has(1) && skewed.has(-1), true)
  fleet.end()
})

test('a clock of an instance that is set in the middle changes nothing', async () => {
  const fleet = await createFleet()
  const [one, other] = await fleet.addMany(2, (app) => app.job('bill', '* * * * *', () => {}))
  await fleet.advance('10m30s')
  one!.step(HOUR)
  other!.step(-HOUR)
  await fleet.advance('9m30s')
  assert.deepEqual(dueTimes(fleet.handled, 'bill'), instants(MINUTE, SPAN))
  fleet.end()
})

test('when the clock of the store is set back, nothing runs twice and nothing before its time', async () => {
  const fleet = await createFleet()
  await fleet.addMany(2, (app) => app.job('bill', '* * * * *', () => {}))
  await fleet.advance('10m30s')
  fleet.stepStore(-5 * MINUTE)
  await fleet.advance('14m30s')
  assert.deepEqual(dueTimes(fleet.handled, 'bill'), instants(MINUTE, SPAN))
  fleet.end()
})

test('when the clock of the store jumps ahead, what was skipped over is on record', async () => {
  const fleet = await createFleet()
  await fleet.addMany(2, (app) => app.job('bill', { every: '1m', misfire: { late: 'all' } }, () => {}))
  await fleet.advance('10m30s')
  fleet.stepStore(5 * MINUTE)
  await fleet.advance('4m30s')
  assert.deepEqual(dueTimes(fleet.handled, 'bill'), instants(MINUTE, SPAN))
  fleet.end()
})

test('instances claim only the jobs that they have', async () => {
  const fleet = await createFleet()
  const mailer = await fleet.add((app) => app.job('mail', '* * * * *', () => {}), { app: 'mailer' })
  const biller = await fleet.add((app) => app.job('bill', '* * * * *', () => {}), { app: 'biller' })
  await fleet.advance('10m')
  const by = (job: string) => new Set(fleet.handled.filter((run) => run.schedule === job).map((run) => run.member))
  assert.deepEqual([by('mail'), by('bill')], [new Set([mailer]), new Set([biller])])
  fleet.end()
})

test('when the only instance with a job has died, its peers leave it alone, and the next one with the job catches up', async () => {
  const fleet = await createFleet()
  const both = await fleet.add((app) => app.job('mail', '* * * * *', () => {}), { app: 'mailer' })
  await fleet.add((app) => app.job('bill', '* * * * *', () => {}), { app: 'biller' })
  both.crash()
  await fleet.advance('5m30s')
  assert.deepEqual(dueTimes(fleet.handled, 'mail'), [NEW_YEAR])
  await fleet.add((app) => app.job('mail', '* * * * *', () => {}), { app: 'mailer' })
  await fleet.advance('1s')
  // Late ones are coalesced into the latest.
  assert.deepEqual(dueTimes(fleet.handled, 'mail'), [NEW_YEAR, NEW_YEAR + 5 * MINUTE])
  fleet.end()
})

test('a limit for a job holds over all its schedules and all instances', async () => {
  const fleet = await createFleet()
  const running = { now: 0, most: 0, all: 0 }
  await fleet.addMany(4, (app, { clock }) =>
    app.job('import', { concurrency: 3 }, async () => {
      running.most = Math.max(running.most, ++running.now)
      await clock.sleep(7_000)
      running.now--
      running.all++
    }),
  )
  for (let tenant = 1; tenant <= 20; tenant++) {
    await fleet.operator.schedules.create(`import-${tenant}`, {
      job: 'import',
      every: '5m',
      concurrency: 3,
      misfire: { grace: '5m' },
    })
  }
  await fleet.advance('4m59s')
  assert.deepEqual([running.most, running.all], [3, 20])
  fleet.end()
})

test('a limit for a group holds over all jobs in it and all instances', async () => {
  const fleet = await createFleet()
  const running = { now: 0, most: 0, all: 0 }
  await fleet.addMany(4, (app, { clock }) => {
    for (const job of ['a', 'b', 'c', 'd', 'e']) {
      app.job(job, { cron: '*/5 * * * *', group: { name: 'database', limit: 2 } }, async () => {
        running.most = Math.max(running.most, ++running.now)
        await clock.sleep(20_000)
        running.now--
        running.all++
      })
    }
  })
  await fleet.advance('4m')
  assert.deepEqual([running.most, running.all], [2, 5])
  fleet.end()
})

test('fires that a limit or a busy instance keeps from starting are on record in time', async () => {
  const fleet = await createFleet()
  const group = { name: 'gateway', limit: 1 }
  await fleet.add(
    (app, { clock }) => {
      app.job('hog', { every: '1h', group }, () => clock.sleep(50 * MINUTE))
      app.job('limited', { cron: '* * * * *', group, misfire: 'skip' }, () => {})
      app.job('long', { every: '1h' }, () => clock.sleep(50 * MINUTE))
      app.job('waits', { cron: '* * * * *', misfire: 'skip' }, () => {})
    },
    { concurrency: 2 },
  )
  await fleet.advance('10m30s')
  for (const schedule of ['limited', 'waits']) {
    const { items } = await fleet.operator.fires.list({ schedule, limit: 100 })
    const decided = items.reduce((sum, { range }) => sum + (range?.count ?? 1), 0)
    assert.ok(decided >= 10, `${schedule}: ${decided} of 11 are on record`)
  }
  fleet.end()
})

test('a limit lets those through that fit, also when more of a schedule could start', async () => {
  const fleet = await createFleet()
  const running = { now: 0, most: 0, all: 0 }
  const alone = await fleet.add((app, { clock }) =>
    app.job('import', { overlap: 'allow', concurrency: 2 }, async () => {
      running.most = Math.max(running.most, ++running.now)
      await clock.sleep(1_000)
      running.now--
      running.all++
    }),
  )
  alone.link.deaf = true
  for (let count = 0; count < 4; count++) await fleet.operator.schedules.trigger('import')
  alone.link.deaf = false
  await fleet.operator.schedules.trigger('import')
  await fleet.advance('1m')
  assert.deepEqual(running, { now: 0, most: 2, all: 5 })
  fleet.end()
})

test('when the clock of the store jumps ahead, instances that sleep until a rare fire learn of it with their next heartbeat', async () => {
  const fleet = await createFleet()
  await fleet.addMany(2, (app) => app.job('bill', '30 0 * * *', () => {}))
  await fleet.advance('1m')
  fleet.stepStore(40 * MINUTE)
  await fleet.advance('12s')
  assert.deepEqual(dueTimes(fleet.handled, 'bill'), [NEW_YEAR + 30 * MINUTE])
  fleet.end()
})

test('a clock that is a little slow makes nothing late, however long an instance sleeps by it', async () => {
  const fleet = await createFleet()
  await fleet.add((app) => app.job('report', '0 * * * *', () => {}), { rate: 0.996 })
  await fleet.advance('3h30m')
  assert.equal(fleet.handled.length, 4)
  for (const { startedAt, dueAt } of fleet.handled)
    assert.ok(startedAt - dueAt <= 1_000, `${startedAt - dueAt} ms late`)
  fleet.end()
})

test('newer zone data of instances that do not have the job, or claim nothing, stops no other', async () => {
  const fleet = await createFleet()
  const declare: Declare = (app) => app.job('bill', { cron: '* * * * *', tz: 'Europe/London' }, () => {})
  await fleet.add(declare, { zoneData: '2026a' })
  await fleet.add((app) => app.job('other', '0 5 * * *', () => {}), { app: 'other', zoneData: '2027b' })
  await fleet.advance('2m30s')
  assert.equal(dueTimes(fleet.handled, 'bill').length, 3)
  const newer = await fleet.add(declare, { zoneData: '2027a' })
  await fleet.operator.instances.drain(newer.app.instance!)
  await fleet.advance('5m')
  assert.equal(dueTimes(fleet.handled, 'bill').length, 8)
  fleet.end()
})

test('an instance runs no more at a time than its concurrency, and its peers take the rest', async () => {
  const fleet = await createFleet()
  const most = new Map<string, number>()
  const running = new Map<string, number>()
  const declare = async (name: string, sleep: () => Promise<void>) => {
    running.set(name, (running.get(name) ?? 0) + 1)
    most.set(name, Math.max(most.get(name) ?? 0, running.get(name)!))
    await sleep()
    running.set(name, running.get(name)! - 1)
  }
  for (const [name, concurrency] of [
    ['small', 2],
    ['large', 30],
  ] as const) {
    await fleet.add(
      (app, { clock }) => {
        for (let job = 0; job < 20; job++) {
          app.job(`job-${job}`, '*/10 * * * *', () => declare(name, () => clock.sleep(60_000)))
        }
      },
      { name, concurrency },
    )
  }
  await fleet.advance('5s')
  assert.equal(most.get('small'), 2)
  assert.equal(most.get('large'), 18)
  fleet.end()
})

function dueTimes(handled: readonly Handled[], schedule: string): number[] {
  return handled
    .filter((run) => run.schedule === schedule)
    .map(({ dueAt }) => dueAt)
    .sort((one, other) => one - other)
}

/** From the first instant on, which is now, up to and including the end. */
function instants(everyMs: number, spanMs: number): number[] {
  return Array.from({ length: spanMs / everyMs + 1 }, (_, index) => NEW_YEAR + index * everyMs)
}
