import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Run } from '../../src/index.ts'
import { createFleet, type Declare, type Fleet, NEW_YEAR } from './fleet.ts'

const DUE = NEW_YEAR + 60_000
const slowly: Declare = (app, { clock }) => app.job('bill', '1 0 * * *', () => clock.sleep(20_000).then(() => 'done'))

test('an instance that stops lets its runs finish, claims nothing new, and leaves', async () => {
  const fleet = await createFleet()
  const alone = await fleet.add((app, { clock }) =>
    app.job('bill', { every: '1m', overlap: 'allow' }, () => clock.sleep(70_000).then(() => 'done')),
  )
  await fleet.advance('1m1s')
  await fleet.world.until(alone.app.stop())
  assert.deepEqual(
    fleet.handled.map(({ dueAt, how, signal }) => [dueAt, how, signal.aborted]),
    [
      [NEW_YEAR, 'returned', false],
      [DUE, 'runs', true],
    ],
  )
  assert.deepEqual(await states(fleet), ['left'])
  assert.deepEqual(await endings(fleet), ['succeeded', 'handed-back'])
  fleet.end()
})

test('a run that only waits for work elsewhere is handed back as soon as its instance stops', async () => {
  const fleet = await createFleet()
  const declare: Declare = (app, { clock }) => {
    const wait = async ({ signal }: Run): Promise<string> => {
      await clock.sleep(2 * 60_000, signal)
      signal.throwIfAborted()
      return 'done'
    }
    app.job('wait', '1 0 * * *', Object.assign(wait, { waits: true }))
  }
  const first = await fleet.add(declare, { drain: '1h' })
  await fleet.advance('1m1s')
  const second = await fleet.add(declare)
  const stopped = first.app.stop()
  await fleet.advance('1s')
  assert.deepEqual(
    fleet.handled.map(({ member, how }) => [member === first ? 'first' : 'second', how]),
    [
      ['first', 'threw'],
      ['second', 'runs'],
    ],
  )
  await fleet.world.until(stopped)
  await fleet.advance('3m')
  assert.equal(fleet.handled[1]!.member, second)
  assert.deepEqual((await endings(fleet)).toSorted(), ['handed-back', 'succeeded'])
  fleet.end()
})

test('a run that only waits for work elsewhere has all of the drain if its fire may run only once', async () => {
  const fleet = await createFleet()
  const first = await fleet.add(
    (app, { clock }) => {
      const wait = async ({ signal }: Run): Promise<void> => {
        await clock.sleep(60_000, signal)
        signal.throwIfAborted()
      }
      app.job('wait', { cron: '1 0 * * *', guarantee: 'at-most-once' }, Object.assign(wait, { waits: true }))
    },
    { drain: '1h' },
  )
  await fleet.advance('1m1s')
  await fleet.world.until(first.app.stop(), 3_600_000)
  assert.deepEqual(
    fleet.handled.map(({ how, signal }) => [how, signal.aborted]),
    [['returned', false]],
  )
  assert.deepEqual(await endings(fleet), ['succeeded'])
  fleet.end()
})

test('while an instance finishes its runs, its peers do its share of the work on time', async () => {
  const fleet = await createFleet()
  const [first] = await fleet.addMany(2, (app, { clock }) => {
    app.job('long', '1 0 * * *', () => clock.sleep(25_000))
    for (let number = 0; number < 20; number++) app.job(`job ${number}`, { every: '1s' }, () => {})
  })
  await fleet.advance('1m1s')
  const holder = fleet.handled.find(({ schedule }) => schedule === 'long')?.member ?? first!
  const stopped = holder.app.stop()
  await fleet.advance('100ms')
  const from = fleet.now()
  await fleet.advance('5s')
  const late = fleet.handled.filter(({ dueAt, startedAt }) => dueAt > from && startedAt - dueAt > 100)
  assert.deepEqual(
    late.map(({ schedule, dueAt, startedAt }) => [schedule, startedAt - dueAt]),
    [],
  )
  assert.ok(fleet.handled.filter(({ dueAt }) => dueAt > from).length >= 4 * 20)
  await fleet.world.until(stopped)
  fleet.end()
})

test('fires that a run leaves waiting in a draining instance start in a peer at once', async () => {
  for (const how of ['stop', 'drain'] as const) {
    for (const kind of ['queued', 'retry', 'transaction'] as const) {
      const fleet = await createFleet()
      const options = {
        cron: '0 12 * * *',
        overlap: 'queue',
        guarantee: kind === 'transaction' ? 'exactly-once' : 'at-least-once',
        retry: kind === 'retry' ? { attempts: 1, backoff: { base: '10s' as const, jitter: 0 } } : 0,
      } as const
      const declare: Declare = (app, { clock }) => {
        app.job('long', {}, () => clock.sleep(20 * 60_000))
        app.job('bill', options, async (run) => {
          await clock.sleep(60_000)
          if (kind === 'retry' && run.attempt === 1) throw new Error('declined')
          if (kind === 'transaction') await run.transaction(() => {})
        })
      }
      const first = await fleet.add(declare, { drain: '30m' })
      await fleet.operator.schedules.trigger('long')
      await fleet.operator.schedules.trigger('bill')
      await fleet.advance('5s')
      const second = await fleet.add(declare)
      if (kind !== 'retry') await fleet.operator.schedules.trigger('bill')
      if (how === 'drain') await fleet.operator.instances.drain(first.app.instance!)
      const stopped = how === 'stop' ? first.app.stop() : null
      await fleet.advance('5m')
      const [, next] = fleet.handled.filter(({ schedule }) => schedule === 'bill')
      assert.equal(next?.member, second, `${how}, ${kind}`)
      assert.ok(next.startedAt - NEW_YEAR < 90_000, `${how}, ${kind}: started after ${next.startedAt - NEW_YEAR} ms`)
      if (stopped !== null) {
        await fleet.advance('30m')
        await stopped
      }
      fleet.end()
    }
  }
})

test('runs that do not finish within the drain are handed back, at no cost, and run elsewhere at once', async () => {
  const fleet = await createFleet()
  await fleet.addMany(2, (app, { clock }) =>
    app.job('bill', { cron: '1 0 * * *', retry: 0 }, async (run) => {
      await clock.sleep(run.attempt === 1 ? 3_600_000 : 1_000, run.signal)
      run.signal.throwIfAborted()
    }),
  )
  await fleet.advance('1m1s')
  const first = fleet.handled[0]!
  await fleet.world.until(first.member.app.stop())
  const stoppedAt = fleet.now()
  await fleet.advance('5s')
  const [, second] = fleet.handled
  assert.equal(first.signal.reason.code, 'RUN_STOPPED')
  assert.equal(first.endedAt, DUE + 31_000)
  assert.ok(second!.startedAt - stoppedAt < 1_000, `${second!.startedAt - stoppedAt} ms later`)
  assert.deepEqual(await endings(fleet), ['handed-back', 'succeeded'])
  const fire = await fleet.operator.fires.get({ schedule: 'bill', dueAt: DUE })
  assert.deepEqual([fire.state, fire.attempt], ['succeeded', 2])
  fleet.end()
})

test('a run that ignores the stop is left behind, and its fire runs elsewhere', async () => {
  const fleet = await createFleet()
  await fleet.addMany(2, (app, { clock }) =>
    app.job('bill', '1 0 * * *', (run) => clock.sleep(run.attempt === 1 ? 3_600_000 : 1_000)),
  )
  await fleet.advance('1m1s')
  const { member } = fleet.handled[0]!
  member.link.disturb(({ name }) => (name === 'load' ? { kind: 'slow', requestMs: 50, answerMs: 50 } : null))
  await fleet.world.until(member.app.stop(), 40_000)
  await fleet.advance('5s')
  assert.equal(fleet.handled[1]!.how, 'returned')
  assert.equal(fleet.events('run.overran').length, 1)
  // Handed back, though the store was slow: it did not crash.
  assert.deepEqual(await endings(fleet), ['handed-back', 'succeeded'])
  fleet.end()
})

test('a run that must not start twice and does not finish within the drain is abandoned', async () => {
  const fleet = await createFleet()
  await fleet.addMany(2, (app, { clock }) =>
    app.job('pay', { cron: '1 0 * * *', guarantee: 'at-most-once' }, async (run) => {
      await clock.sleep(3_600_000, run.signal)
      run.signal.throwIfAborted()
    }),
  )
  await fleet.advance('1m1s')
  await fleet.world.until(fleet.handled[0]!.member.app.stop())
  await fleet.advance('5m')
  assert.equal(fleet.handled.length, 1)
  const fire = await fleet.operator.fires.get({ schedule: 'pay', dueAt: DUE })
  assert.deepEqual([fire.state, fire.reason], ['abandoned', 'stopped'])
  fleet.end()
})

test('a claim in flight when the instance stops is handed back, even one that must not start twice', async () => {
  const fleet = await createFleet()
  const members = await fleet.addMany(2, (app) =>
    app.job('pay', { cron: '1 0 * * *', guarantee: 'at-most-once' }, () => {}),
  )
  await fleet.advance('30s')
  let stopping: Promise<void> | null = null
  for (const member of members) {
    member.link.disturb(({ name }) => {
      if (name !== 'claim' || stopping !== null) return null
      stopping = member.app.stop()
      return { kind: 'slow', answerMs: 900 }
    })
  }
  await fleet.advance('40s')
  await stopping
  assert.equal(fleet.handled.length, 1)
  assert.deepEqual(await endings(fleet), ['handed-back', 'succeeded'])
  assert.ok(fleet.handled[0]!.startedAt < DUE + 3_000)
  fleet.end()
})

test('stopping while the store is down ends in bounded time', async () => {
  const fleet = await createFleet()
  const alone = await fleet.add(slowly)
  await fleet.advance('1m1s')
  alone.link.disturb(() => ({ kind: 'request-lost' }))
  await fleet.world.until(alone.app.stop(), 5 * 60_000)
  assert.equal(alone.app.instance, null)
  fleet.end()
})

test('stop() twice is one stop, and an app can be started again under a new id', async () => {
  const fleet = await createFleet()
  const alone = await fleet.add((app) => app.job('bill', '* * * * *', () => {}))
  await fleet.advance('1m1s')
  const first = alone.app.instance
  const [one, other] = [alone.app.stop(), alone.app.stop()]
  assert.equal(one, other)
  await fleet.world.until(one)
  await fleet.world.until(alone.app.start())
  assert.notEqual(alone.app.instance, first)
  await fleet.advance('1m')
  assert.equal(fleet.handled.length, 3)
  assert.deepEqual(await states(fleet), ['left', 'live'])
  fleet.end()
})

test('an instance that an operator drains claims nothing until the drain is undone', async () => {
  const fleet = await createFleet()
  const [one, other] = await fleet.addMany(2, (app, { clock }) => {
    for (let job = 0; job < 16; job++) app.job(`job-${job}`, '* * * * *', () => clock.sleep(90_000))
  })
  await fleet.advance('30s')
  await fleet.operator.instances.drain(one!.app.instance!)
  await fleet.advance('12s')
  const running = fleet.handled.filter(({ member }) => member === one)
  const before = fleet.handled.length
  await fleet.advance('5m')
  assert.deepEqual(new Set(fleet.handled.slice(before).map(({ member }) => member)), new Set([other]))
  // What it had begun, it finished.
  assert.ok(running.length > 0 && running.every(({ how }) => how === 'returned'))
  await fleet.operator.instances.drain(one!.app.instance!, false)
  await fleet.advance('12s')
  const after = fleet.handled.length
  await fleet.advance('5m')
  assert.ok(fleet.handled.slice(after).some(({ member }) => member === one))
  fleet.end()
})

test('when the whole fleet is drained, due fires wait, and start when one instance is released', async () => {
  const fleet = await createFleet()
  const alone = await fleet.add((app) => app.job('bill', { cron: '1 0 * * *', misfire: { grace: '1h' } }, () => {}))
  await fleet.operator.instances.drain(alone.app.instance!)
  await fleet.advance('10m')
  assert.equal(fleet.handled.length, 0)
  await fleet.operator.instances.drain(alone.app.instance!, false)
  await fleet.advance('12s')
  assert.equal(fleet.handled.length, 1)
  fleet.end()
})

async function endings(fleet: Fleet): Promise<unknown[]> {
  const { items } = await fleet.operator.runs.list()
  return items.map(({ state, reason }) => (reason === 'completed' ? state : reason)).reverse()
}

async function states(fleet: Fleet): Promise<string[]> {
  return (await fleet.operator.instances.list()).map(({ state }) => state).sort()
}

test('a process that crashes while it stops leaves no timer of the real clock behind', async () => {
  const timers = (): number => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length
  const fleet = await createFleet()
  const member = await fleet.add((app, { clock }) => app.job('bill', '* * * * *', () => clock.sleep(60_000)))
  await fleet.advance('30s')
  const before = timers()
  void member.app.stop()
  await fleet.advance('1s')
  member.crash()
  assert.equal(timers(), before)
  fleet.end()
})
