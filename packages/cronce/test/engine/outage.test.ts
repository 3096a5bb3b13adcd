import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet, type Declare, NEW_YEAR } from './fleet.ts'

const MINUTE = 60_000

for (const kind of ['throws', 'request-lost'] as const) {
  test(`while the store is down (${kind}) nothing ends, and afterwards the fleet catches up as the policy requires`, async () => {
    const fleet = await createFleet()
    await fleet.addMany(3, (app) =>
      app.job('latest', '* * * * *', () => {}).job('all', { cron: '* * * * *', misfire: 'all' }, () => {}),
    )
    await fleet.advance('5m30s')
    const end = fleet.outage({ kind })
    await fleet.advance('10m')
    const before = fleet.handled.length
    assert.equal(before, 12)
    end()
    await fleet.advance('30s')
    const caughtUp = fleet.handled.slice(before)
    assert.deepEqual(
      caughtUp.filter(({ schedule }) => schedule === 'latest').map(({ dueAt }) => dueAt),
      [NEW_YEAR + 15 * MINUTE, NEW_YEAR + 16 * MINUTE],
    )
    assert.equal(caughtUp.filter(({ schedule }) => schedule === 'all').length, 11)
    assert.deepEqual(
      fleet.members.map(({ app }) => fleet.events('store.recovered').length > 0 && app.instance !== null),
      [true, true, true],
    )
    fleet.end()
  })

  test(`after an outage (${kind}) no run is taken over within a lease of the store's return`, async () => {
    for (const outageMs of [11_000, 20_000, 45_000, 120_000]) {
      const fleet = await createFleet({ seed: outageMs })
      await fleet.addMany(4, (app, { clock }) => {
        for (let job = 0; job < 8; job++) app.job(`job-${job}`, '0 0 * * *', () => clock.sleep(3_600_000))
      })
      await fleet.advance('1m')
      const end = fleet.outage({ kind })
      await fleet.advance(outageMs)
      end()
      await fleet.advance('2m')
      assert.deepEqual(fleet.events('instance.died'), [], `${outageMs}`)
      assert.deepEqual(fleet.events('instance.fenced'), [], `${outageMs}`)
      fleet.end()
    }
  })
}

test('after an outage shorter than a lease no run is taken over either', async () => {
  for (let seed = 1; seed <= 8; seed++) {
    const fleet = await createFleet({ seed })
    const quiet = await fleet.add((app) => app.job('report', {}, () => {}))
    await fleet.advance('100ms')
    await fleet.add((app) => app.job('report', {}, () => {}))
    await fleet.advance('29s')
    // One instance renews early, because it is woken, and sees that the other has not renewed since its last regular
    // heartbeat.
    quiet.link.deaf = true
    await fleet.operator.schedules.trigger('report')
    await fleet.advance('500ms')
    const end = fleet.outage({ kind: 'throws' })
    await fleet.advance('10s')
    end()
    await fleet.advance('1m')
    assert.deepEqual(fleet.events('instance.died'), [], `seed ${seed}`)
    fleet.end()
  }
})

test('an instance that stays away after an outage is still declared dead', async () => {
  const fleet = await createFleet()
  const [one, other] = await fleet.addMany(2, (app) => app.job('bill', '* * * * *', () => {}))
  await fleet.advance('30s')
  const end = fleet.outage({ kind: 'throws' })
  await fleet.advance('5m')
  other!.crash()
  end()
  await fleet.advance('40s')
  assert.deepEqual(
    fleet.events('instance.died', one).map(({ by }) => by),
    ['lease'],
  )
  fleet.end()
})

test('a dead instance is declared dead even if one call in ten fails all the time', async () => {
  const fleet = await createFleet()
  const [, other] = await fleet.addMany(2, (app) => app.job('bill', { every: '1s' }, () => {}))
  let calls = 0
  fleet.outage(() => (calls++ % 10 === 0 ? { kind: 'throws' } : null))
  await fleet.advance('30s')
  other!.crash()
  await fleet.advance('90s')
  assert.equal(fleet.events('instance.died').length, 1)
  fleet.end()
})

test('a run whose lease cannot be renewed is aborted before a peer may start it', async () => {
  const fleet = await createFleet()
  const aborted: number[] = []
  await fleet.addMany(2, (app, { clock }) =>
    app.job('bill', { cron: '1 0 * * *', timeout: { grace: '1s' } }, async (run) => {
      run.signal.addEventListener('abort', () => aborted.push(fleet.now()))
      await clock.sleep(120_000, run.signal)
      run.signal.throwIfAborted()
    }),
  )
  await fleet.advance('1m1s')
  const { member } = fleet.handled[0]!
  member.link.disturb(() => ({ kind: 'request-lost' }))
  await fleet.advance('5m')
  assert.equal(fleet.handled.length, 2)
  assert.ok(aborted[0]! < fleet.handled[1]!.startedAt)
  assert.equal(fleet.handled[0]!.signal.reason.code, 'LEASE_LOST')
  assert.equal(fleet.events('lease.lost', member).length, 1)
  fleet.end()
})

test('runs that ended during an outage are settled after it, once', async () => {
  const fleet = await createFleet()
  const declare: Declare = (app, { clock }) => app.job('bill', '1 0 * * *', () => clock.sleep(5_000).then(() => 'paid'))
  await fleet.addMany(2, declare)
  await fleet.advance('1m1s')
  const end = fleet.outage({ kind: 'throws' })
  await fleet.advance('5m')
  end()
  await fleet.advance('1m')
  const { items } = await fleet.operator.runs.list()
  assert.deepEqual(
    items.map(({ reason, result }) => [reason, result]),
    [['completed', 'paid']],
  )
  fleet.end()
})

test('an app that is started while the store is down joins and declares when it is back', async () => {
  const fleet = await createFleet()
  const member = await fleet.add((app) => app.job('old', '* * * * *', () => {}))
  await fleet.advance('1s')
  member.crash()
  let isDown = true
  const starting = fleet.add((app, { link }) => {
    app.job('new', '* * * * *', () => {})
    link.disturb(() => (isDown ? { kind: 'throws' } : null))
  })
  fleet.world.at(fleet.world.now() + 120_000, () => {
    isDown = false
  })
  await starting
  assert.equal((await fleet.operator.schedules.get('new')).state, 'active')
  fleet.end()
})

test('declarations that fail once are written before the app has started', async () => {
  for (const name of ['loadApp', 'saveApp', 'apply'] as const) {
    const fleet = await createFleet()
    await fleet.add((app, { link }) => {
      app.job('bill', '* * * * *', () => {})
      link.fail(name, { kind: 'throws' })
    })
    assert.equal((await fleet.operator.schedules.get('bill')).state, 'active', name)
    fleet.end()
  }
})

test('slow answers in every direction cost time and nothing else', async () => {
  const latency = (random: () => number) => ({ requestMs: random() * 300, answerMs: random() * 300 })
  const fleet = await createFleet({ seed: 5, latency })
  await fleet.addMany(4, (app, { clock }) =>
    app.job('bill', { every: '7s', overlap: 'queue-all', misfire: 'all' }, () => clock.sleep(1_000)),
  )
  await fleet.advance('5m')
  const { items } = await fleet.operator.fires.list({ outcome: 'succeeded', limit: 100 })
  assert.ok(items.length >= 41, `${items.length}`)
  assert.deepEqual(fleet.events('instance.died'), [])
  fleet.end()
})
