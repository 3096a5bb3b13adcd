import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet, type Declare, type Fleet, NEW_YEAR } from './fleet.ts'

const NO_ID = { deployment: undefined }

const jobs =
  (...names: string[]): Declare =>
  (app) => {
    for (const name of names) app.job(name, '* * * * *', () => {})
  }

const stateOf = async (fleet: Fleet, name: string): Promise<string> => (await fleet.operator.schedules.get(name)).state

test('a process of a release that once died early must have left for a whole hold-down before its jobs are retired', async () => {
  const fleet = await createFleet()
  await fleet.add(jobs('mail'), NO_ID)
  const early = await fleet.add(jobs('bill', 'mail'), NO_ID)
  await fleet.advance('10s')
  early.crash()
  await fleet.advance('5m')
  assert.equal(await stateOf(fleet, 'bill'), 'retired')
  const again = await fleet.add(jobs('bill', 'mail'), NO_ID)
  await fleet.advance('20s')
  assert.equal(await stateOf(fleet, 'bill'), 'active')
  await fleet.world.until(again.app.stop())
  await fleet.advance('50s')
  assert.equal(await stateOf(fleet, 'bill'), 'active', 'the hold-down is not over')
  await fleet.advance('30s')
  assert.equal(await stateOf(fleet, 'bill'), 'retired')
  fleet.end()
})

test('a release that registered after the last heartbeat of a process has left only when a later heartbeat does not list it', async () => {
  const fleet = await createFleet()
  const observer = fleet.make(jobs('mail'), NO_ID)
  // It joins, and reads the record of the app a second later; no wake-up makes it send another heartbeat.
  observer.link.fail('loadApp', { kind: 'slow', requestMs: 1_000 })
  observer.link.deaf = true
  const started = observer.app.start()
  await fleet.advance(500)
  const brief = await fleet.add(jobs('bill', 'mail'), NO_ID)
  await fleet.world.until(started)
  await fleet.advance('3s')
  await fleet.world.until(brief.app.stop())
  await fleet.advance('58s')
  assert.equal(await stateOf(fleet, 'bill'), 'active', 'the hold-down is not over')
  await fleet.advance('30s')
  assert.equal(await stateOf(fleet, 'bill'), 'retired')
  fleet.end()
})

test('the declarations of a process on probation count until it has left, though an earlier release made them, too', async () => {
  const fleet = await createFleet()
  await fleet.add(jobs('mail'), NO_ID)
  const first = await fleet.add(jobs('bill', 'mail', 'news'), { deployment: 'v1' })
  await fleet.advance('2m')
  await fleet.world.until(first.app.stop())
  const early = await fleet.add(jobs('bill', 'mail'), NO_ID)
  await fleet.advance('10s')
  early.crash()
  await fleet.advance('40s')
  const again = await fleet.add(jobs('bill', 'mail'), NO_ID)
  await fleet.advance('40s')
  // It is declared dead after the hold-down of the first death.
  again.crash()
  await fleet.advance('65s')
  assert.equal(await stateOf(fleet, 'bill'), 'active', 'the hold-down is not over')
  await fleet.advance('1m')
  assert.equal(await stateOf(fleet, 'bill'), 'retired')
  fleet.end()
})

test('a live process without an id brings back what a release with an id retired, in either order', async () => {
  const fleet = await createFleet()
  const first = await fleet.add(jobs('bill', 'mail'), NO_ID)
  await fleet.advance('2m')
  await fleet.world.until(first.app.stop())
  const second = await fleet.add(jobs('bill', 'mail'), { deployment: 'v1' })
  await fleet.advance('2m')
  await fleet.world.until(second.app.stop())
  await fleet.add(jobs('mail'), { deployment: 'v2' })
  await fleet.advance('3m')
  assert.equal(await stateOf(fleet, 'bill'), 'retired')
  await fleet.add(jobs('bill', 'mail'), NO_ID)
  await fleet.advance('30m')
  assert.equal(await stateOf(fleet, 'bill'), 'active')
  const ran = fleet.handled.filter(({ schedule, dueAt }) => schedule === 'bill' && dueAt > NEW_YEAR + 7 * 60_000)
  assert.equal(ran.length, 30)
  fleet.end()
})

test('an id that is used again after all its processes stopped may change definitions, and an older process may not', async () => {
  const fleet = await createFleet()
  const every =
    (minutes: number): Declare =>
    (app) =>
      app.job('bill', `*/${minutes} * * * *`, () => {})
  const ruleOf = async (): Promise<unknown> => (await fleet.operator.schedules.get('bill')).trigger
  const cron = (minutes: number) => ({ kind: 'cron', expression: `*/${minutes} * * * *`, tz: 'UTC' })
  const first = await fleet.add(every(2), { deployment: 'production' })
  await fleet.advance('3m')
  await fleet.world.until(first.app.stop())
  const second = await fleet.add(every(3), { deployment: 'production' })
  assert.deepEqual(await ruleOf(), cron(3))
  // While one of them is live, the first definition stands.
  await fleet.add(every(4), { deployment: 'production' })
  assert.deepEqual(await ruleOf(), cron(3))
  assert.deepEqual(
    fleet.events('schedule.refused', fleet.members[2]).map(({ code }) => code),
    ['SCHEDULE_DEFINED_TWICE'],
  )
  await fleet.world.until(second.app.stop())
  await fleet.advance('3m')
  assert.deepEqual(await ruleOf(), cron(3))
  fleet.end()
})

for (const [title, ranFirst] of [
  ['passed while its job was retired runs once, when the job is back', false],
  ['has run does not run again after a rollback without the job', true],
] as const) {
  test(`one instant that ${title}`, async () => {
    const fleet = await createFleet()
    const at = NEW_YEAR + 30 * 60_000
    const migrate: Declare = (app, member) => {
      jobs('mail')(app, member)
      app.job('migrate', { at }, () => {})
    }
    let last = await fleet.add(migrate, { deployment: 'v1' })
    await fleet.advance(ranFirst ? '40m' : '2m')
    const releases = [jobs('mail'), migrate, jobs('mail'), migrate]
    for (const [index, declare] of releases.entries()) {
      await fleet.world.until(last.app.stop())
      last = await fleet.add(declare, { deployment: `v${index + 2}` })
      await fleet.advance('40m')
      assert.equal(await stateOf(fleet, 'migrate'), index % 2 === 0 ? 'retired' : 'finished')
    }
    const runs = fleet.handled.filter(({ schedule }) => schedule === 'migrate')
    assert.deepEqual(
      runs.map(({ dueAt, startedAt }) => [dueAt, startedAt > at + 60_000]),
      [[at, !ranFirst]],
    )
    fleet.end()
  })
}
