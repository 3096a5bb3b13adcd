import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet, type Fleet, type Member } from './fleet.ts'

const MINUTE = 60_000
const TO_RUN_FIRES = ['due', 'claim', 'load', 'apply'] as const

/** Calls of the whole fleet while this passes, by name. */
async function callsDuring(fleet: Fleet, pass: () => Promise<void>): Promise<Map<string, number>> {
  const sum = (): Map<string, number> => {
    const all = new Map<string, number>()
    for (const { link } of fleet.members) {
      for (const [name, count] of link.calls) all.set(name, (all.get(name) ?? 0) + count)
    }
    return all
  }
  const before = sum()
  await pass()
  return new Map([...sum()].map(([name, count]) => [name, count - (before.get(name) ?? 0)]))
}

function sumOf(calls: ReadonlyMap<string, number>): number {
  return [...calls.values()].reduce((sum, count) => sum + count, 0)
}

test('while nothing is due, an instance looks for something that is once an hour', async (t) => {
  const fleet = await createFleet()
  await fleet.addMany(5, (app) => app.job('nightly', '0 3 * * *', () => {}))
  await fleet.advance('1m')
  const calls = await callsDuring(fleet, () => fleet.advance('1h'))
  // A wake-up may be lost: this is how long it takes to make up for it.
  assert.equal(calls.get('due'), 5)
  assert.equal(calls.get('claim') ?? 0, 0)
  const perMinute = sumOf(calls) / 60 / 5
  t.diagnostic(`idle: ${perMinute.toFixed(1)} calls of the store a minute and instance`)
  // A heartbeat every ten seconds, and a read of the deployments every hour.
  assert.ok(perMinute < 6.1, `${perMinute} calls a minute`)
  fleet.end()
})

for (const instances of [1, 3]) {
  test(`while nothing is due, all that ${instances} do is to renew: six calls a minute and instance`, async (t) => {
    const fleet = await createFleet({
      seed: 3,
      latency: (random) => ({ requestMs: 1 + random(), answerMs: 1 + random() }),
    })
    await fleet.addMany(instances, (app) => app.job('nightly', '0 3 * * *', () => {}))
    // After the hold-down there is one look for what left the code.
    await fleet.advance('90s')
    for (let minute = 0; minute < 20; minute++) {
      const calls = await callsDuring(fleet, () => fleet.advance('1m'))
      const all = sumOf(calls) / instances
      t.diagnostic(`minute ${minute}: ${[...calls].map(([name, count]) => `${name} ${count}`).join(', ')}`)
      assert.ok(all <= 6, `${all} calls in minute ${minute}`)
    }
    fleet.end()
  })
}

for (const how of ['returns', 'throws', 'takes ten seconds', 'is the only one that may run'] as const) {
  test(`a fire that comes alone costs three calls, also if its handler ${how}`, async () => {
    const fleet = await createFleet({ latency: () => ({ requestMs: 1, answerMs: 1 }) })
    const handler = async (member: Member): Promise<void> => {
      if (how === 'takes ten seconds') await member.clock.sleep(10_000)
      if (how === 'throws') throw new Error('no')
    }
    const options = how === 'is the only one that may run' ? { concurrency: 1 } : {}
    await fleet.add((app, member) => app.job('bill', '*/10 * * * *', () => handler(member)), options)
    await fleet.advance('5m')
    const calls = await callsDuring(fleet, () => fleet.advance('20m'))
    assert.equal(fleet.handled.length, 2)
    const { due, claim, apply, load = 0 } = Object.fromEntries(calls)
    assert.deepEqual({ due, claim, apply, load }, { due: 2, claim: 2, apply: 2, load: 0 })
    fleet.end()
  })
}

/** Calls per fire without heartbeats, which cost the same whether anything is due or not. */
async function costPerFire(instances: number, jobs: number): Promise<number> {
  const fleet = await createFleet({ seed: 7 })
  await fleet.addMany(instances, (app) => {
    for (let job = 0; job < jobs; job++) {
      const every = { interval: MINUTE, anchor: Math.floor((job * MINUTE) / jobs) }
      app.job(`job-${job}`, { every }, () => {})
    }
  })
  await fleet.advance('1m')
  const before = fleet.handled.length
  const calls = await callsDuring(fleet, () => fleet.advance('1m'))
  const fires = fleet.handled.length - before
  assert.equal(fires, jobs)
  fleet.end()
  return TO_RUN_FIRES.reduce((sum, name) => sum + (calls.get(name) ?? 0), 0) / fires
}

test('the cost of a fire for the store does not grow with the fleet', async (t) => {
  // A fire a second: the fewer there are, the more it counts that instances look after each other.
  const alone = await costPerFire(1, 60)
  for (const instances of [2, 8, 32]) {
    const cost = await costPerFire(instances, 60)
    t.diagnostic(`${alone.toFixed(2)} calls a fire on 1 instance, ${cost.toFixed(2)} on ${instances}`)
    assert.ok(cost <= alone * 1.2, `${cost} instead of ${alone} calls a fire`)
  }
})

test('the other calls of the fleet, when fires are rare, are bounded for all instances together', async (t) => {
  const fleet = await createFleet({ seed: 7 })
  await fleet.addMany(32, (app) => app.job('bill', { every: '10s' }, () => {}))
  await fleet.advance('1m')
  const calls = await callsDuring(fleet, () => fleet.advance('5m'))
  const perSecond = (calls.get('due') ?? 0) / 300
  t.diagnostic(`32 instances, one fire in ten seconds: ${perSecond.toFixed(2)} looks a second in all`)
  assert.ok(perSecond < 1.5, `${perSecond} looks a second`)
  fleet.end()
})

test('many fires at one instant share their calls', async (t) => {
  const fleet = await createFleet()
  await fleet.add(
    (app) => {
      for (let job = 0; job < 200; job++) app.job(`job-${job}`, '5 0 * * *', () => {})
    },
    { concurrency: 1_000 },
  )
  await fleet.advance('1m')
  const calls = await callsDuring(fleet, () => fleet.advance('5m'))
  assert.equal(fleet.handled.length, 200)
  const all = TO_RUN_FIRES.reduce((sum, name) => sum + (calls.get(name) ?? 0), 0)
  t.diagnostic(`${all} calls for 200 fires at once`)
  assert.ok(all <= 12, `${all} calls`)
  fleet.end()
})

test('a trigger by a client starts at once on a fleet that sleeps', async () => {
  const fleet = await createFleet()
  await fleet.addMany(3, (app) => app.job('report', {}, () => {}))
  await fleet.advance('30m')
  await fleet.operator.schedules.trigger('report')
  // An instance that is not the schedule's own waits a moment for the one that is.
  await fleet.advance('300ms')
  assert.equal(fleet.handled.length, 1)
  fleet.end()
})

test('a schedule that a client makes is noticed by a fleet that sleeps', async () => {
  const fleet = await createFleet()
  await fleet.addMany(3, (app) => app.job('report', {}, () => {}))
  await fleet.advance('30m')
  await fleet.operator.schedules.create('soon', { job: 'report', at: fleet.now() + 5_000 })
  await fleet.advance('5250ms')
  assert.deepEqual(
    fleet.handled.map(({ schedule }) => schedule),
    ['soon'],
  )
  fleet.end()
})

test('a wake-up that is lost costs time and nothing else', async () => {
  const fleet = await createFleet()
  const alone = await fleet.add((app) => app.job('report', {}, () => {}))
  await fleet.advance('30m')
  alone.link.deaf = true
  await fleet.operator.schedules.trigger('report')
  await fleet.advance('61m')
  assert.equal(fleet.handled.length, 1)
  fleet.end()
})
