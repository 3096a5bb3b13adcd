import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet, type Declare, type Fleet, NEW_YEAR } from './fleet.ts'

const MINUTE = 60_000

test('after a crash during a run, the fire is run again as attempt 2, with a higher token', async () => {
  const fleet = await createFleet()
  await fleet.addMany(2, (app, { clock }) => app.job('bill', '*/10 * * * *', () => clock.sleep(30_000)))
  await fleet.advance('1s')
  const first = fleet.handled[0]!
  first.member.crash()
  await fleet.advance('1m')
  const [, second] = fleet.handled
  assert.equal(fleet.handled.length, 2)
  assert.notEqual(second!.member, first.member)
  assert.equal(second!.dueAt, first.dueAt)
  assert.deepEqual([first.attempt, second!.attempt], [1, 2])
  assert.ok(second!.token > first.token)
  assert.equal(second!.how, 'returned')
  assert.deepEqual(await runReasons(fleet), ['crashed', 'completed'])
  assert.equal(fleet.events('run.lost').length, 1)
  assert.equal(fleet.events('instance.died')[0]!.by, 'lease')
  fleet.end()
})

test('a crash is noticed within two leases', async () => {
  const fleet = await createFleet()
  await fleet.addMany(2, (app, { clock }) => app.job('bill', '0 0 * * *', () => clock.sleep(60_000)), { lease: '15s' })
  await fleet.advance('1s')
  fleet.handled[0]!.member.crash()
  await fleet.advance('30s')
  assert.equal(fleet.handled.length, 2)
  fleet.end()
})

test('after a crash during a run that must not start twice, the fire is abandoned', async () => {
  const fleet = await createFleet()
  await fleet.addMany(2, (app, { clock }) =>
    app.job('pay', { cron: '*/10 * * * *', guarantee: 'at-most-once' }, () => clock.sleep(30_000)),
  )
  await fleet.advance('1s')
  fleet.handled[0]!.member.crash()
  await fleet.advance('5m')
  assert.equal(fleet.handled.length, 1)
  const fire = await fleet.operator.fires.get({ schedule: 'pay', dueAt: NEW_YEAR })
  assert.deepEqual([fire.state, fire.reason], ['abandoned', 'crashed'])
  fleet.end()
})

test('a crash before the claim is sent, and one before its answer is looked at, lose nothing', async () => {
  for (const point of ['due:sent', 'claim:sent', 'claim:answered', 'run:starting'] as const) {
    const fleet = await createFleet()
    const victim = await fleet.add((app) => app.job('bill', '*/10 * * * *', () => {}))
    await fleet.advance('1s')
    victim.at(point, () => victim.crash())
    await fleet.advance('10m')
    assert.equal(fleet.handled.length, 1, point)
    await fleet.add((app) => app.job('bill', '*/10 * * * *', () => {}))
    await fleet.advance('1m')
    assert.deepEqual(
      fleet.handled.map(({ dueAt }) => dueAt),
      [NEW_YEAR, NEW_YEAR + 10 * MINUTE],
      point,
    )
    fleet.end()
  }
})

test('a crash before or after the settlement is sent leaves one success', async () => {
  for (const point of ['run:returned', 'settle:sent', 'settle:answered'] as const) {
    const fleet = await createFleet()
    const [first, second] = await fleet.addMany(2, (app) => app.job('bill', '1 0 * * *', () => {}))
    for (const member of [first!, second!]) member.at(point, () => void (fleet.handled.length === 1 && member.crash()))
    await fleet.advance('5m')
    const { items } = await fleet.operator.runs.list({ schedule: 'bill', outcome: 'succeeded' })
    assert.equal(items.length, 1, point)
    // Once the settlement is written, nothing is repeated.
    assert.equal(fleet.handled.length, point === 'settle:answered' ? 1 : 2, point)
    fleet.end()
  }
})

test('a job that takes its instances down is given up after three runs', async () => {
  const fleet = await createFleet()
  await fleet.addMany(5, (app, member) =>
    app.job('poison', '0 0 * * *', async () => {
      member.crash()
      await member.delivered()
    }),
  )
  await fleet.advance('10m')
  assert.deepEqual(
    fleet.handled.map(({ attempt }) => attempt),
    [1, 2, 3],
  )
  const fire = await fleet.operator.fires.get({ schedule: 'poison', dueAt: NEW_YEAR })
  assert.deepEqual([fire.state, fire.reason], ['abandoned', 'crash-budget'])
  fleet.end()
})

test('from its second crash on, a suspect runs alone on its instance', async () => {
  const fleet = await createFleet()
  let crashes = 0
  await fleet.addMany(4, (app, member) => {
    app.job('poison', '0 0 * * *', async () => {
      if (crashes++ < 2) {
        member.crash()
        await member.delivered()
      }
      await member.clock.sleep(30_000)
    })
    for (let job = 0; job < 6; job++) {
      app.job(`other-${job}`, '* * * * *', () => member.clock.sleep(5_000))
    }
  })
  await fleet.advance('5m')
  const poison = fleet.handled.filter(({ schedule }) => schedule === 'poison')
  assert.deepEqual(
    poison.map(({ attempt, how }) => [attempt, how]),
    [
      [1, 'runs'],
      [2, 'runs'],
      [3, 'returned'],
    ],
  )
  const last = poison[2]!
  const others = fleet.handled.filter(
    ({ member, startedAt, endedAt, schedule }) =>
      member === last.member &&
      schedule !== 'poison' &&
      startedAt < last.endedAt! &&
      (endedAt ?? Number.POSITIVE_INFINITY) > last.startedAt,
  )
  assert.deepEqual(others, [])
  fleet.end()
})

test('a fire whose instances died twice runs alone for its first minute only, and meanwhile the others are planned', async () => {
  const fleet = await createFleet()
  const declare: Declare = (app, { clock }) => {
    app.job('quick', { cron: '*/10 * * * * *', overlap: 'queue-all', misfire: 'all' }, () => {})
    app.job('nightly', '0 1 * * *', () => clock.sleep(6 * 60 * MINUTE))
  }
  const first = await fleet.add(declare)
  await fleet.advance('70m')
  first.crash()
  const second = await fleet.add(declare)
  await fleet.advance('10m')
  second.crash()
  await fleet.add(declare)
  await fleet.advance('40s')
  const runs = fleet.handled.filter(({ schedule }) => schedule === 'nightly')
  assert.deepEqual(
    runs.map(({ attempt }) => attempt),
    [1, 2, 3],
  )
  const { startedAt } = runs[2]!
  const beside = () => fleet.handled.filter((run) => run.schedule === 'quick' && run.startedAt > startedAt)
  await fleet.advance(startedAt + 45_000 - fleet.now())
  assert.deepEqual(beside(), [])
  const { items } = await fleet.operator.fires.list({ schedule: 'quick', from: startedAt, limit: 100 })
  assert.ok(items.length >= 3, `${items.length} are planned`)
  await fleet.advance('10m')
  assert.equal(runs[2]!.how, 'runs')
  // One every ten seconds, and those that waited for it.
  assert.ok(beside().length >= 60, `${beside().length} ran beside it`)
  fleet.end()
})

test('runs of a dead instance are recovered even if the instance that declared it dead dies, too', async () => {
  const fleet = await createFleet()
  const declare: Parameters<Fleet['add']>[0] = (app, { clock }) =>
    app.job('bill', '0 0 * * *', () => clock.sleep(60_000))
  const [one, other] = await fleet.addMany(2, declare)
  await fleet.advance('1s')
  const victim = fleet.handled[0]!.member
  const witness = victim === one ? other! : one!
  victim.crash()
  witness.at('recover:sent', () => witness.crash())
  await fleet.advance('2m')
  assert.equal(witness.state, 'crashed')
  await fleet.add(declare)
  await fleet.advance('5m')
  assert.deepEqual(
    fleet.handled.map(({ attempt, how }) => [attempt, how]),
    [
      [1, 'runs'],
      [2, 'returned'],
    ],
  )
  fleet.end()
})

test('an instance whose peers were recovering runs does it itself when they die in the middle', async () => {
  const fleet = await createFleet()
  const declare: Parameters<Fleet['add']>[0] = (app, { clock }) =>
    app.job('bill', { every: '1s', overlap: 'allow', misfire: 'all' }, () => clock.sleep(10 * MINUTE))
  const victim = await fleet.add(declare)
  await fleet.advance('3500ms')
  const [one, other] = await fleet.addMany(2, (app) => app.job('idle', {}, () => {}))
  victim.crash()
  // Both want to begin with the same run: one does, and dies before the next; the other one finds that done.
  const both = Promise.withResolvers<void>()
  one!.at('recover:sent', async () => {
    await both.promise
    one!.at('recover:sent', () => one!.crash())
  })
  other!.at('recover:sent', async () => {
    both.resolve()
    await fleet.world.after(1_000)
  })
  await fleet.advance('3m')
  assert.equal(one!.state, 'crashed')
  const { items } = await fleet.operator.runs.list({ instance: victim.app.instance!, limit: 100 })
  assert.deepEqual([...new Set(items.map(({ reason }) => reason))], ['crashed'])
  assert.ok(items.length >= 3)
  fleet.end()
})

test('half of a fleet may crash at once, at any moment', async () => {
  const fleet = await createFleet({ seed: 3 })
  const declare: Parameters<Fleet['add']>[0] = (app, { clock }) =>
    app.job('bill', { every: '10s', overlap: 'queue-all', misfire: 'all' }, () => clock.sleep(3_000))
  await fleet.addMany(6, declare)
  await fleet.advance('1m1s')
  for (const member of fleet.members.slice(0, 3)) member.crash()
  await fleet.advance('4m5s')
  const { items } = await fleet.operator.fires.list({ schedule: 'bill', outcome: 'succeeded', limit: 100 })
  assert.equal(items.length, 31)
  fleet.end()
})

test('a fire whose instances died twice starts as soon as a peer is idle', async () => {
  const fleet = await createFleet()
  let crashes = 0
  const declare: Declare = (app, member) => {
    app.job('poison', '0 0 * * *', async () => {
      if (crashes++ >= 2) return
      member.crash()
      await member.delivered()
    })
    // All instances are busy for most of every second, and idle for the rest.
    for (let job = 0; job < 8; job++) app.job(`busy-${job}`, '* * * * * *', () => member.clock.sleep(900))
  }
  await fleet.addMany(5, declare, { lease: '2s' })
  await fleet.advance('30s')
  const poison = fleet.handled.filter(({ schedule }) => schedule === 'poison')
  assert.deepEqual(
    poison.map(({ attempt }) => attempt),
    [1, 2, 3],
  )
  fleet.end()
})

async function runReasons(fleet: Fleet): Promise<unknown[]> {
  const { items } = await fleet.operator.runs.list()
  return items.map(({ reason }) => reason).reverse()
}
