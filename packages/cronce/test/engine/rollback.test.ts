import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EventOf } from '../../src/model/event.ts'
import { createFleet, type Declare, type Fleet, type Member, NEW_YEAR } from './fleet.ts'

const DUE = NEW_YEAR + 60_000
const BILL = { schedule: 'bill', dueAt: DUE, nonce: '' }

/** A job due a minute from now, and every two hours after, whose handler takes `takesMs`. */
function bill(takesMs: number, options: object = {}): Declare {
  return (app, { clock }) =>
    app.job('bill', { cron: '1 */2 * * *', ...options }, async (run) => {
      await clock.sleep(takesMs, run.signal)
      run.signal.throwIfAborted()
      return 'paid'
    })
}

function rolledBack(fleet: Fleet, of?: Member): EventOf<'store.rolledBack'>[] {
  return fleet.events('store.rolledBack', of)
}

async function runsOf(fleet: Fleet, schedule = 'bill') {
  return (await fleet.operator.runs.list({ schedule })).items.map(({ attempt, state }) => ({ attempt, state }))
}

function crashAll(fleet: Fleet): void {
  for (const member of fleet.members) member.crash()
}

for (const guarantee of ['at-least-once', 'at-most-once'] as const) {
  test(`a lost claim is written again while it runs, and no peer starts it (${guarantee})`, async () => {
    const fleet = await createFleet({ losesWrites: true })
    await fleet.addMany(3, bill(60_000, { guarantee }))
    await fleet.advance('59s')
    const goBack = fleet.keep()
    await fleet.advance('5s')
    assert.equal(fleet.handled.length, 1)
    goBack()
    await fleet.advance('10m')
    assert.equal(fleet.handled.length, 1)
    assert.equal(fleet.handled[0]!.how, 'returned')
    assert.deepEqual(await runsOf(fleet), [{ attempt: 1, state: 'succeeded' }])
    const told = rolledBack(fleet)
    assert.deepEqual(
      told.flatMap(({ restored }) => restored),
      [BILL],
    )
    assert.deepEqual(
      told.flatMap(({ doubtful }) => doubtful),
      [],
    )
    assert.equal(told.find(({ restored }) => restored.length > 0)!.lost, true)
    assert.equal(told[0]!.incomplete, false)
    assert.deepEqual(fleet.events('run.fenced'), [])
    fleet.end()
  })
}

test('a settlement that was lost is written again, and the fire is neither handed back nor run again', async () => {
  const fleet = await createFleet({ losesWrites: true })
  await fleet.addMany(3, bill(10_000))
  await fleet.advance('65s')
  const goBack = fleet.keep()
  await fleet.advance('20s')
  assert.deepEqual(await runsOf(fleet), [{ attempt: 1, state: 'succeeded' }])
  goBack()
  await fleet.advance('10m')
  assert.deepEqual(await runsOf(fleet), [{ attempt: 1, state: 'succeeded' }])
  const fire = await fleet.operator.fires.get({ schedule: 'bill', dueAt: DUE })
  assert.equal(fire.state, 'succeeded')
  assert.equal(fleet.handled.length, 1)
  assert.equal(fleet.events('run.ended').length, 1, 'and told once')
  fleet.end()
})

test('a claim and a settlement that were lost are both written again; the next fire comes as ever', async () => {
  const fleet = await createFleet({ losesWrites: true })
  await fleet.addMany(3, bill(1_000))
  await fleet.advance('59s')
  const goBack = fleet.keep()
  await fleet.advance('5s')
  goBack()
  await fleet.advance('2h')
  assert.deepEqual(
    fleet.handled.map(({ dueAt }) => dueAt),
    [DUE, DUE + 2 * 3_600_000],
  )
  fleet.end()
})

test('every second: many fires lost in the middle of everything run once each', async () => {
  const fleet = await createFleet({ losesWrites: true })
  await fleet.addMany(3, (app, { clock }) =>
    app.job('tick', { cron: '* * * * * *', overlap: { kind: 'allow', limit: 5 } }, () => clock.sleep(2_500)),
  )
  await fleet.advance('10s')
  for (let time = 0; time < 5; time++) {
    const goBack = fleet.keep()
    await fleet.advance(3_300 + time * 211)
    goBack()
    await fleet.advance('20s')
  }
  const fires = fleet.handled.map(({ dueAt }) => dueAt)
  assert.equal(new Set(fires).size, fires.length, 'none ran twice')
  assert.ok(fires.length > 100)
  fleet.end()
})

test('lost fires still count against the limit', async () => {
  const fleet = await createFleet({ losesWrites: true })
  await fleet.addMany(2, (app) => app.job('tick', { cron: '* * * * *', limit: 3 }, () => {}))
  await fleet.advance('59s')
  const goBack = fleet.keep()
  await fleet.advance('65s')
  goBack()
  await fleet.advance('10m')
  assert.equal(fleet.handled.length, 3)
  fleet.end()
})

test('an instance whose joining was lost joins again under its name, and keeps what it runs', async () => {
  const fleet = await createFleet({ losesWrites: true })
  const elder = await fleet.add(bill(60_000))
  await fleet.advance('50s')
  const goBack = fleet.keep()
  const newcomer = await fleet.add(bill(60_000))
  // It learns of the failover only by its own next heartbeat; the store does not know that it must wait for it.
  newcomer.link.deaf = true
  // The elder claims nothing for a while, so that it is the newcomer's.
  const mend = elder.link.disturb(({ name }) => (name === 'due' ? { kind: 'throws' } : null))
  await fleet.advance('15s')
  const [handled] = fleet.handled
  assert.equal(handled!.member, newcomer)
  goBack()
  await fleet.advance('1s')
  mend()
  await fleet.advance('10m')
  assert.deepEqual(fleet.events('instance.fenced'), [])
  assert.equal(newcomer.app.instance, handled!.instance)
  assert.equal(handled!.how, 'returned')
  assert.equal(fleet.handled.length, 1)
  fleet.end()
})

test('an instance that knows lost records reports them before any claim, however long it slept', async () => {
  const fleet = await createFleet({ losesWrites: true })
  const [knowing] = await fleet.addMany(1, bill(1_000))
  await fleet.advance('30s')
  const eager = await fleet.add(bill(1_000))
  eager.pause()
  await fleet.advance('29s')
  const goBack = fleet.keep()
  await fleet.advance('5s')
  assert.equal(fleet.handled[0]!.member, knowing)
  knowing!.pause()
  goBack()
  eager.resume()
  await fleet.advance('10s')
  assert.equal(fleet.handled.length, 1, 'no instance claims while it may still report what it knows')
  knowing!.resume()
  await fleet.advance('10m')
  assert.equal(fleet.handled.length, 1)
  assert.deepEqual(
    rolledBack(fleet, knowing).flatMap(({ restored }) => restored),
    [BILL],
  )
  fleet.end()
})

test('a run that a dead instance started and a peer saw running is not started again', async () => {
  const fleet = await createFleet({ losesWrites: true })
  const options = { cron: '*/10 * * * * *', guarantee: 'at-most-once', overlap: 'allow', limit: 3 } as const
  const declare: Declare = (app, { clock }) => app.job('pay', options, (run) => clock.sleep(20_000, run.signal))
  const [doomed, witness] = await fleet.addMany(2, declare)
  await fleet.advance('5s')
  const goBack = fleet.keep()
  const noLooks = (member: Member) => member.link.disturb(({ name }) => (name === 'due' ? { kind: 'throws' } : null))
  const mend = noLooks(witness!)
  await fleet.advance('10s')
  mend()
  noLooks(doomed!)
  await fleet.advance('10s')
  assert.deepEqual(
    fleet.handled.map(({ member }) => member.name),
    [doomed!.name, doomed!.name, witness!.name],
  )
  doomed!.crash()
  goBack()
  await fleet.advance('10m')
  assert.equal(fleet.handled.length, 3)
  const first = await fleet.operator.fires.get({ schedule: 'pay', dueAt: NEW_YEAR + 10_000 })
  assert.equal(first.state, 'abandoned')
  fleet.end()
})

test('what only dead instances knew may run twice, and is not named', async () => {
  const fleet = await createFleet({ losesWrites: true })
  const [knowing] = await fleet.addMany(1, bill(1_000))
  await fleet.advance('30s')
  const other = await fleet.add(bill(1_000))
  other.pause()
  await fleet.advance('29s')
  const goBack = fleet.keep()
  await fleet.advance('5s')
  assert.equal(fleet.handled.length, 1)
  knowing!.crash()
  goBack()
  other.resume()
  await fleet.advance('10m')
  assert.equal(fleet.handled.length, 2)
  assert.deepEqual(
    rolledBack(fleet).flatMap(({ doubtful }) => doubtful),
    [],
  )
  crashAll(fleet)
})

test('a run that a peer started again meanwhile is aborted where it still runs, and named', async () => {
  const fleet = await createFleet({ losesWrites: true })
  const [first] = await fleet.addMany(1, bill(300_000))
  await fleet.advance('59s')
  const goBack = fleet.keep()
  await fleet.advance('2s')
  const [overtaken] = fleet.handled
  // Disconnected until its lease has expired, and its peers no longer wait for what it knows.
  const mend = first!.link.disturb(() => ({ kind: 'throws' }))
  goBack()
  const second = await fleet.add(bill(1_000))
  await fleet.advance('2m')
  assert.equal(fleet.handled.length, 2)
  assert.equal(fleet.handled[1]!.member, second)
  mend()
  await fleet.advance('10m')
  assert.equal(overtaken!.signal.aborted, true)
  assert.deepEqual(
    rolledBack(fleet, first).flatMap(({ doubtful }) => doubtful),
    [BILL],
  )
  crashAll(fleet)
})

test('a manual fire that was lost is written again, and its dedupe key keeps counting', async () => {
  const fleet = await createFleet({ losesWrites: true })
  await fleet.addMany(2, (app) => app.job('mail', {}, () => 'sent'))
  await fleet.advance('10s')
  const goBack = fleet.keep()
  await fleet.operator.schedules.trigger('mail', { dedupe: 'welcome-7' })
  await fleet.advance('5s')
  assert.equal(fleet.handled.length, 1)
  goBack()
  await fleet.advance('10s')
  const again = await fleet.operator.schedules.trigger('mail', { dedupe: 'welcome-7' })
  await fleet.advance('1m')
  assert.equal(fleet.handled.length, 1)
  assert.equal(again.created, false)
  assert.equal(again.fire.dueAt, fleet.handled[0]!.dueAt)
  fleet.end()
})

test('attempts are counted on, whichever of them was lost', async () => {
  for (const lostAfterMs of [59_000, 61_000, 66_000, 71_000]) {
    const fleet = await createFleet({ losesWrites: true })
    await fleet.addMany(2, (app, { clock }) =>
      app.job(
        'bill',
        { cron: '1 0 * * *', retry: { attempts: 3, backoff: { base: '10s', factor: 1, jitter: 0 } } },
        async (run) => {
          await clock.sleep(2_000)
          if (run.attempt < 3) throw new Error('not yet')
        },
      ),
    )
    await fleet.advance(lostAfterMs)
    const goBack = fleet.keep()
    await fleet.advance('8s')
    goBack()
    await fleet.advance('10m')
    const attempts = fleet.handled.map(({ attempt }) => attempt)
    assert.deepEqual(attempts, [1, 2, 3], `lost what was written after ${lostAfterMs} ms`)
    fleet.end()
  }
})

test('a schedule that was created in the lost window is lost; what the code declares is declared again', async () => {
  const fleet = await createFleet({ losesWrites: true })
  const goBack = fleet.keep()
  const member = await fleet.add(bill(1_000))
  await fleet.operator.schedules.create('extra', { job: 'bill', cron: '1 */2 * * *' })
  await fleet.advance('90s')
  assert.equal(fleet.handled.length, 2)
  goBack()
  await fleet.advance('1m')
  await assert.rejects(fleet.operator.schedules.get('extra'))
  assert.equal((await fleet.operator.schedules.get('bill')).job, 'bill')
  const [told] = rolledBack(fleet, member)
  assert.equal(told!.lost, true)
  assert.deepEqual(told!.doubtful.map(({ schedule }) => schedule).sort(), ['bill', 'extra'])
  await fleet.advance('2h')
  assert.equal(fleet.handled.length, 3)
  crashAll(fleet)
})

test('a settlement in flight is decided once everything is written again', async () => {
  const fleet = await createFleet({ losesWrites: true })
  const [member] = await fleet.addMany(2, bill(3_000))
  await fleet.advance('59s')
  const goBack = fleet.keep()
  for (const one of fleet.members) one.at('settle:sent', goBack)
  await fleet.advance('10m')
  assert.ok(member)
  assert.equal(fleet.handled.length, 1)
  assert.deepEqual(await runsOf(fleet), [{ attempt: 1, state: 'succeeded' }])
  assert.deepEqual(fleet.events('run.fenced'), [])
  fleet.end()
})

test('a step of a run that the store had lost is done once', async () => {
  const fleet = await createFleet({ losesWrites: true })
  let charged = 0
  await fleet.add((app, { clock }) =>
    app.job('bill', '1 0 * * *', async (run) => {
      await clock.sleep(5_000)
      await run.once('charge', () => ++charged)
      run.progress(0.5)
      await clock.sleep(5_000)
    }),
  )
  await fleet.advance('59s')
  const goBack = fleet.keep()
  await fleet.advance('5s')
  goBack()
  await fleet.advance('10m')
  assert.equal(charged, 1)
  assert.deepEqual(await runsOf(fleet), [{ attempt: 1, state: 'succeeded' }])
  assert.deepEqual(fleet.events('run.fenced'), [])
  fleet.end()
})
