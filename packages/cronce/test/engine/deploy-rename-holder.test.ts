import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet, type Declare, type Fleet, NEW_YEAR } from './fleet.ts'

const MINUTE = 60_000

const job =
  (name: string, more: { was?: string; cron?: string; limit?: number } = {}): Declare =>
  (app) =>
    app.job(name, { cron: '* * * * *', ...more }, () => {})

/** By minute and name, what is on record, ranges spelled out. */
async function recorded(fleet: Fleet, ...names: string[]): Promise<string[]> {
  const lists = await Promise.all(
    names.map((schedule) => fleet.operator.fires.list({ schedule, order: 'earliest', limit: 200 })),
  )
  const all = lists.flatMap(({ items }) => items)
  return all
    .flatMap(({ dueAt, range, schedule, state }) => {
      const first = (dueAt - NEW_YEAR) / MINUTE
      const last = range === null ? first : (range.untilAt - NEW_YEAR) / MINUTE
      return Array.from({ length: last - first + 1 }, (_, index) => ({ minute: first + index, schedule, state }))
    })
    .sort((one, other) => one.minute - other.minute)
    .map(({ minute, schedule, state }) => `${minute} ${schedule} ${state}`)
}

const minutesOf = (lines: readonly string[]): number[] => lines.map((line) => Number(line.split(' ')[0]))
const upTo = (last: number): number[] => Array.from({ length: last + 1 }, (_, minute) => minute)

test('a rename to a name that is taken is refused, and the job goes on under the old one', async () => {
  for (const ids of [
    ['v1', 'v2'],
    [undefined, undefined],
  ]) {
    const fleet = await createFleet()
    await fleet.add(job('bill'), { deployment: ids[0] })
    await fleet.advance('2m50s')
    await fleet.operator.schedules.create('invoice', { job: 'bill', cron: '0 0 * * *' })
    const second = await fleet.add(job('invoice', { was: 'bill' }), { deployment: ids[1] })
    await fleet.advance('15m')
    await fleet.world.until(second.app.stop())
    await fleet.advance('5m')
    assert.deepEqual(
      [...new Set(fleet.events('schedule.refused').map(({ schedule, code }) => `${code} ${schedule}`))],
      ['SCHEDULE_NAME_TAKEN invoice'],
    )
    assert.deepEqual(fleet.events('schedule.retired'), [])
    assert.deepEqual(minutesOf(await recorded(fleet, 'bill')), upTo(22))
    fleet.end()
  }
})

for (const [next, declare, deployment] of [
  ['the same release', job('invoice', { was: 'bill' }), 'v2'],
  ['the release before', job('bill'), 'v1'],
  ['a release that renames it again', job('receipt', { was: 'invoice' }), 'v3'],
  ['a release that skips the name', job('receipt', { was: 'bill' }), 'v3'],
  ['a release that also changes the rule', job('receipt', { was: 'invoice', cron: '*/1 * * * 0-7' }), 'v3'],
  ['the release before, with another rule', job('bill', { cron: '*/1 * * * 0-7' }), 'v4'],
] as const) {
  test(`a rename that is interrupted loses nothing: ${next} goes on`, async () => {
    const fleet = await createFleet()
    const first = await fleet.add(job('bill'), { deployment: 'v1' })
    await fleet.advance('2m50s')
    await fleet.world.until(first.app.stop())
    const second = fleet.make(job('invoice', { was: 'bill' }), { deployment: 'v2' })
    second.at('declare:sent', () => second.crash())
    void second.app.start()
    await fleet.advance('4m')
    assert.equal((await fleet.operator.schedules.get('bill')).state, 'retired')
    assert.equal(await fleet.operator.schedules.find('invoice'), null)
    await fleet.add(declare, { deployment })
    await fleet.advance('5m')
    const found = await recorded(fleet, 'bill', 'invoice', 'receipt')
    assert.deepEqual(minutesOf(found), upTo(11))
    const ran = fleet.handled.map(({ dueAt }) => dueAt)
    assert.equal(new Set(ran).size, ran.length)
    fleet.end()
  })
}

test('fires that ran under the new name are not missed under the old one after a rollback', async () => {
  const fleet = await createFleet()
  const previous: (number | null)[] = []
  const noting: Declare = (app) =>
    app.job('bill', '* * * * *', ({ previous: { succeededDueAt } }) => {
      previous.push(succeededDueAt === null ? null : (succeededDueAt - NEW_YEAR) / MINUTE)
    })
  const first = await fleet.add(noting, { deployment: 'v1' })
  await fleet.advance('50s')
  await fleet.world.until(first.app.stop())
  await fleet.advance('1m')
  const second = await fleet.add(job('invoice', { was: 'bill' }), { deployment: 'v2' })
  await fleet.advance('2m')
  await fleet.world.until(second.app.stop())
  await fleet.add(noting, { deployment: 'v1' })
  await fleet.advance('2m')
  assert.deepEqual(await recorded(fleet, 'bill', 'invoice'), [
    ...['0 bill succeeded', '1 invoice succeeded', '2 invoice succeeded', '3 invoice succeeded'],
    ...['4 bill succeeded', '5 bill succeeded'],
  ])
  // `run.previous` knows of what ran under the other name.
  assert.deepEqual(previous, [null, 3, 4])
  fleet.end()
})

test('a job that is renamed back after the clock was set back runs nothing again', async () => {
  for (const ids of [
    ['v1', 'v2'],
    [undefined, undefined],
  ]) {
    const fleet = await createFleet()
    const first = await fleet.add(job('bill'), { deployment: ids[0] })
    await fleet.advance('165s')
    await fleet.world.until(first.app.stop())
    const second = await fleet.add(job('invoice', { was: 'bill' }), { deployment: ids[1] })
    await fleet.advance('105s')
    // By the clock, the new name is retired before the old one was.
    fleet.stepStore(-150_000)
    await fleet.advance('1s')
    await fleet.world.until(second.app.stop())
    await fleet.add(job('bill'), { deployment: ids[0] })
    await fleet.advance('6m')
    const names = fleet.handled.map(({ dueAt, schedule }) => `${(dueAt - NEW_YEAR) / MINUTE} ${schedule}`)
    assert.deepEqual(names, [
      ...['0 bill', '1 bill', '2 bill', '3 invoice', '4 invoice'],
      ...['5 bill', '6 bill', '7 bill', '8 bill'],
    ])
    fleet.end()
  }
})

test('a job that is renamed back and forth while the clock is set back runs nothing again', async () => {
  const fleet = await createFleet()
  const releases = [
    job('bill'),
    job('invoice', { was: 'bill' }),
    job('bill'),
    job('invoice', { was: 'bill' }),
    job('bill'),
  ]
  const ids = ['v1', 'v2', 'v1', 'v2', 'v1']
  for (const [turn, declare] of releases.entries()) {
    const member = await fleet.add(declare, { deployment: ids[turn]! })
    await fleet.advance('3m')
    if (turn > 0) fleet.stepStore(-100_000)
    await fleet.advance('1s')
    await fleet.world.until(member.app.stop())
    await fleet.advance('2m')
  }
  await fleet.add(job('bill'), { deployment: 'v1' })
  await fleet.advance('30m')
  const minutes = fleet.handled.map(({ dueAt }) => (dueAt - NEW_YEAR) / MINUTE)
  assert.deepEqual([...new Set(minutes)], minutes)
  assert.ok(minutes.length > 10)
  fleet.end()
})

test('a job whose new name left the code after the clock was set back runs nothing again', async () => {
  const other: Declare = (app) => app.job('other', '0 12 * * *', () => {})
  for (const ids of [
    ['v1', 'v2', 'v3', 'v1'],
    ['v1', 'v2', 'v3', 'v4'],
    [undefined, undefined, undefined, undefined],
  ]) {
    const fleet = await createFleet()
    const both =
      (declare: Declare): Declare =>
      (app, member) => {
        declare(app, member)
        other(app, member)
      }
    const first = await fleet.add(both(job('bill')), { deployment: ids[0] })
    await fleet.advance('165s')
    await fleet.world.until(first.app.stop())
    const second = await fleet.add(both(job('invoice', { was: 'bill' })), { deployment: ids[1] })
    await fleet.advance('105s')
    // By the clock, the new name is retired before the old one was.
    fleet.stepStore(-400_000)
    await fleet.advance('1s')
    await fleet.world.until(second.app.stop())
    const third = await fleet.add(other, { deployment: ids[2] })
    await fleet.advance('3m')
    await fleet.world.until(third.app.stop())
    await fleet.add(both(job('bill')), { deployment: ids[3] })
    await fleet.advance('12m')
    const names = fleet.handled.map(({ dueAt, schedule }) => `${(dueAt - NEW_YEAR) / MINUTE} ${schedule}`)
    assert.deepEqual(names.slice(0, 10), [
      ...['0 bill', '1 bill', '2 bill', '3 invoice', '4 invoice'],
      ...['5 bill', '6 bill', '7 bill', '8 bill', '9 bill'],
    ])
    fleet.end()
  }
})

test('fires that a pause has held back survive a rename and its rollback', async () => {
  const fleet = await createFleet()
  const first = await fleet.add(job('bill'), { deployment: 'v1' })
  await fleet.advance('50s')
  await fleet.operator.schedules.pause('bill', { missed: 'all' })
  await fleet.advance('2m')
  await fleet.world.until(first.app.stop())
  const second = await fleet.add(job('invoice', { was: 'bill' }), { deployment: 'v2' })
  await fleet.advance('2m')
  await fleet.world.until(second.app.stop())
  await fleet.add(job('bill'), { deployment: 'v1' })
  await fleet.advance('1m')
  await fleet.operator.schedules.resume('bill', { missed: 'all' })
  await fleet.advance('1m')
  assert.deepEqual(
    await recorded(fleet, 'bill', 'invoice'),
    upTo(6).map((minute) => `${minute} bill succeeded`),
  )
  fleet.end()
})

test('an instant that was skipped ahead, and the limit, count under the new name, too', async () => {
  const fleet = await createFleet()
  const first = await fleet.add(job('bill', { limit: 5 }), { deployment: 'v1' })
  await fleet.advance('1m50s')
  await fleet.operator.schedules.skipNext('bill', { dueAt: NEW_YEAR + 2 * MINUTE })
  await fleet.world.until(first.app.stop())
  await fleet.add(job('invoice', { was: 'bill', limit: 5 }), { deployment: 'v2' })
  await fleet.advance('10m')
  assert.deepEqual(await recorded(fleet, 'bill', 'invoice'), [
    ...['0 bill succeeded', '1 bill succeeded', '2 bill skipped'],
    ...['3 invoice succeeded', '4 invoice succeeded'],
  ])
  fleet.end()
})

/** A rename of `bill` that has run from minute 1 on as `invoice`. */
async function renamedFleet(): Promise<Fleet> {
  const fleet = await createFleet()
  const first = await fleet.add(job('bill'), { deployment: 'v1' })
  await fleet.advance('50s')
  await fleet.operator.schedules.trigger('bill', { dedupe: 'order-7' })
  await fleet.world.until(first.app.stop())
  await fleet.advance('1m')
  const second = await fleet.add(job('invoice', { was: 'bill' }), { deployment: 'v2' })
  await fleet.advance('2m')
  await fleet.operator.schedules.trigger('invoice', { dedupe: 'order-8' })
  await fleet.advance('5s')
  await fleet.world.until(second.app.stop())
  return fleet
}

test('an instant or a dedupe key that ran under another name of the job does not run again', async () => {
  const fleet = await renamedFleet()
  await fleet.add(job('receipt', { was: 'invoice' }), { deployment: 'v3' })
  const ranBefore = fleet.handled.length
  const { schedules } = fleet.operator
  for (const [minute, name] of [
    [0, 'bill'],
    [1, 'invoice'],
    [3, 'invoice'],
  ] as const) {
    const { fire, created } = await schedules.deliver('receipt', { dueAt: NEW_YEAR + minute * MINUTE })
    assert.deepEqual([fire?.schedule, created], [name, false])
  }
  for (const [dedupe, name] of [
    ['order-7', 'bill'],
    ['order-8', 'invoice'],
  ] as const) {
    const { fire, created } = await schedules.trigger('receipt', { dedupe })
    assert.deepEqual([fire.schedule, created], [name, false])
  }
  assert.equal((await schedules.trigger('receipt', { dedupe: 'order-9' })).created, true)
  await fleet.advance('2s')
  assert.equal(fleet.handled.length, ranBefore + 1)
  fleet.end()
})

test('a backfill of the time in which the job had another name is refused, and names it', async () => {
  const fleet = await renamedFleet()
  await fleet.add(job('bill'), { deployment: 'v1' })
  await fleet.advance('2m')
  const { schedules } = fleet.operator
  for (const minute of [1, 2, 3]) {
    const instant = NEW_YEAR + minute * MINUTE
    await assert.rejects(schedules.backfill('bill', { from: instant, to: instant }), {
      code: 'BACKFILL_RENAMED',
      message:
        'From 2027-01-01T00:00:00.000Z to 2027-01-01T00:03:00.000Z the job of the schedule bill had the name invoice: what ran then could be run twice.',
    })
  }
  const after = await schedules.backfill('bill', { from: NEW_YEAR + 4 * MINUTE, to: NEW_YEAR + 5 * MINUTE })
  assert.deepEqual([after.preview.toRun, after.preview.alreadyRun], [0, 2])
  const forced = await schedules.backfill('bill', {
    from: NEW_YEAR,
    to: NEW_YEAR + 3 * MINUTE,
    force: true,
    dryRun: true,
  })
  assert.equal(forced.preview.toRun, 3)
  fleet.end()
})

test('a process that only calls runDue reports its own refusals, not those of processes that have ended', async () => {
  const fleet = await createFleet()
  const call = async (declare: Declare, deployment: string): Promise<void> => {
    const { app } = fleet.make(declare, { deployment })
    await fleet.world.until(app.runDue())
    await fleet.world.until(app.stop())
    await fleet.advance('1m')
  }
  await call(job('bill'), 'v1')
  await call(job('invoice', { was: 'bill' }), 'v2')
  for (let calls = 0; calls < 4; calls++) await call(job('bill'), 'v1')
  assert.equal(fleet.events('schedule.refused').length, 4)
  fleet.end()
})
