import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Run } from '../../src/run/run.ts'
import { createFleet, type Declare, type Fleet, type Member, NEW_YEAR, type Tx } from './fleet.ts'

/** Two instances, of which one runs the job and is paused in the middle of it for longer than its lease. */
async function sleeper(
  handle: (run: Run<unknown, Tx>, member: Member) => Promise<unknown>,
): Promise<{ fleet: Fleet; paused: Member; other: Member }> {
  const fleet = await createFleet()
  const declare: Declare = (app, member) =>
    app.job('bill', { cron: '1 * * * *', timeout: { grace: '1s' } }, (run) => handle(run, member))
  const [one, two] = await fleet.addMany(2, declare)
  await fleet.advance('1m1s')
  const paused = fleet.handled[0]!.member
  paused.pause()
  await fleet.advance('1m')
  paused.resume()
  await fleet.advance('1m')
  return { fleet, paused, other: paused === one ? two! : one! }
}

test('an instance that was paused for longer than its lease loses its runs, reports it, and goes on under a new id', async () => {
  const { fleet, paused, other } = await sleeper((_, { clock }) => clock.sleep(20_000))
  const [first, second] = fleet.handled
  assert.equal(second!.member, other)
  assert.equal(second!.how, 'returned')
  assert.equal(first!.signal.aborted, true)
  assert.ok(['RUN_FENCED', 'LEASE_LOST'].includes(first!.signal.reason.code))
  const [fenced] = fleet.events('instance.fenced', paused)
  assert.equal(fenced!.instance, first!.instance)
  assert.equal(paused.app.instance, fenced!.successor)
  const states = (await fleet.operator.instances.list()).map(({ id, state }) => [id === first!.instance, state])
  assert.deepEqual(
    states.toSorted(),
    [
      [true, 'dead'],
      [false, 'live'],
      [false, 'live'],
    ].toSorted(),
  )
  await fleet.advance('1h')
  assert.equal(new Set(fleet.handled.map(({ dueAt }) => dueAt)).size, 2)
  fleet.end()
})

test('the settlement of a run that was overtaken is refused', async () => {
  // It does not look at its signal.
  const { fleet, paused } = await sleeper((run, { clock }) => clock.sleep(20_000).then(() => run.attempt))
  assert.deepEqual(
    fleet.events('run.fenced', paused).map(({ refused }) => refused),
    ['settle'],
  )
  const { items } = await fleet.operator.runs.list({ schedule: 'bill' })
  assert.deepEqual(
    items.map(({ attempt, reason, result }) => [attempt, reason, result]),
    [
      [2, 'completed', 2],
      [1, 'crashed', null],
    ],
  )
  fleet.end()
})

test('a step of a run that was overtaken does not start', async () => {
  const done: number[] = []
  const errors: unknown[] = []
  const { fleet } = await sleeper(async (run, { clock }) => {
    await clock.sleep(20_000)
    try {
      await run.once('charge', () => done.push(run.attempt))
    } catch (error) {
      errors.push((error as { code?: unknown }).code)
      throw error
    }
  })
  assert.deepEqual(done, [2])
  assert.equal(errors.length, 1)
  assert.ok(errors[0] === 'LEASE_LOST' || errors[0] === 'RUN_FENCED')
  fleet.end()
})

test('the transaction of a run that was overtaken is rolled back', async () => {
  const errors: unknown[] = []
  const { fleet } = await sleeper(async (run, { clock }) => {
    await clock.sleep(20_000)
    try {
      await run.transaction((tx) => tx.set(`paid by ${run.attempt}`, true))
    } catch (error) {
      errors.push((error as { code?: unknown }).code)
      throw error
    }
  })
  assert.deepEqual([...fleet.source.data.effects], [['paid by 2', true]])
  assert.equal(errors.length, 1)
  fleet.end()
})

test('a transaction that was open while its instance was paused is rolled back', async () => {
  const { fleet } = await sleeper(async (run, { clock }) => {
    await run.transaction(async (tx) => {
      tx.set(`paid by ${run.attempt}`, true)
      await clock.sleep(20_000)
    })
  })
  assert.deepEqual([...fleet.source.data.effects], [['paid by 2', true]])
  assert.equal(fleet.events('run.fenced').filter(({ refused }) => refused === 'transaction').length, 1)
  fleet.end()
})

for (const how of ['stopped', 'suspended'] as const) {
  test(`a lease that ran out unnoticed (${how}) starts no step, although no peer has taken over`, async () => {
    const fleet = await createFleet()
    const charged: number[] = []
    const codes: unknown[] = []
    await fleet.add((app, member) =>
      app.job('bill', '1 0 * * *', async (run) => {
        if (run.attempt === 1) await member.block(40_000, how)
        try {
          await run.once('charge', () => charged.push(run.attempt))
        } catch (error) {
          codes.push((error as { code?: unknown }).code)
          throw error
        }
      }),
    )
    await fleet.advance('3m')
    assert.deepEqual([charged, codes], [[2], ['LEASE_LOST']])
    fleet.end()
  })

  test(`a lease that ran out unnoticed (${how}) commits no transaction, although no peer has taken over`, async () => {
    const fleet = await createFleet()
    await fleet.add((app, member) =>
      app.job('bill', '1 0 * * *', (run) =>
        run.transaction(async (tx) => {
          if (run.attempt === 1) await member.block(40_000, how)
          tx.set(`paid by ${run.attempt}`, true)
        }),
      ),
    )
    await fleet.advance('3m')
    assert.deepEqual([...fleet.source.data.effects.keys()], ['paid by 2'])
    fleet.end()
  })
}

test('a handler that holds the event loop for longer than the lease is fenced as a paused process is', async () => {
  const fleet = await createFleet()
  const charged: number[] = []
  const codes: unknown[] = []
  await fleet.addMany(2, (app, member) =>
    app.job('bill', '1 0 * * *', async (run) => {
      if (run.attempt === 1) await member.block(40_000)
      // Right away: no timer has reported yet that the lease has expired.
      try {
        await run.once('charge', () => charged.push(run.attempt))
      } catch (error) {
        codes.push((error as { code?: unknown }).code)
        throw error
      }
    }),
  )
  await fleet.advance('3m')
  assert.deepEqual([charged, codes], [[2], ['LEASE_LOST']])
  assert.deepEqual(
    (await fleet.operator.runs.list()).items.map(({ reason }) => reason),
    ['completed', 'crashed'],
  )
  fleet.end()
})

test('a claim whose answer comes after the lease has run out is not started', async () => {
  const fleet = await createFleet()
  const [one, two] = await fleet.addMany(2, (app) => app.job('bill', '1 0 * * *', () => {}))
  for (const member of [one!, two!]) {
    member.at('claim:answered', () => {
      if (fleet.handled.length > 0 || fleet.members.some(({ state }) => state === 'paused')) return
      member.pause()
      fleet.world.at(fleet.world.now() + 14_500, () => member.resume())
    })
  }
  await fleet.advance('10m')
  // The lease has not expired, but is no longer trusted: the run is handed back, at no cost, and runs again.
  const { items } = await fleet.operator.runs.list()
  assert.deepEqual(items.map(({ reason }) => reason).reverse(), ['handed-back', 'completed'])
  assert.equal(fleet.handled.length, 1)
  assert.equal(fleet.events('instance.died').length, 0)
  fleet.end()
})

test('a pause shorter than the lease changes nothing', async () => {
  const fleet = await createFleet()
  await fleet.addMany(2, (app, { clock }) => app.job('bill', '1 0 * * *', () => clock.sleep(20_000)))
  await fleet.advance('1m1s')
  const { member } = fleet.handled[0]!
  member.pause()
  await fleet.advance('8s')
  member.resume()
  await fleet.advance('1m')
  assert.deepEqual(
    fleet.handled.map(({ how, signal }) => [how, signal.aborted]),
    [['returned', false]],
  )
  assert.deepEqual(fleet.events('instance.died'), [])
  fleet.end()
})

test('an expired lease that no peer took over may still be renewed with the same tokens', async () => {
  const fleet = await createFleet()
  const alone = await fleet.add((app, { clock }) => app.job('bill', '1 0 * * *', () => clock.sleep(20_000)))
  await fleet.advance('1m1s')
  alone.pause()
  await fleet.advance('10m')
  alone.resume()
  await fleet.advance('1m')
  const fire = await fleet.operator.fires.get({ schedule: 'bill', dueAt: NEW_YEAR + 60_000 })
  assert.deepEqual([fire.state, fire.attempt], ['succeeded', 1])
  assert.equal(fleet.events('instance.fenced').length, 0)
  fleet.end()
})

test('an observer that was itself paused does not declare others dead for what it has not seen', async () => {
  const fleet = await createFleet()
  const [one, other] = await fleet.addMany(2, (app) => app.job('bill', '* * * * *', () => {}))
  await fleet.advance('30s')
  other!.pause()
  // So that one has seen everything of the other.
  await fleet.advance('11s')
  one!.pause()
  await fleet.advance('10m')
  one!.resume()
  await fleet.advance('10s')
  assert.deepEqual(fleet.events('instance.died'), [])
  await fleet.advance('20s')
  assert.deepEqual(
    fleet.events('instance.died').map(({ by }) => by),
    ['lease'],
  )
  fleet.end()
})

test('an instance that lags takes less until it is well again, and then everything', async () => {
  const fleet = await createFleet()
  let most = 0
  let running = 0
  const alone = await fleet.add(
    (app, { clock }) => {
      for (let job = 0; job < 16; job++) {
        app.job(`job-${job}`, { cron: '*/10 * * * *', misfire: { grace: '10m' } }, async () => {
          most = Math.max(most, ++running)
          await clock.sleep(120_000)
          running--
        })
      }
    },
    { concurrency: 16 },
  )
  await fleet.advance('8m32s')
  assert.equal(most, 16)
  for (let pause = 0; pause < 4; pause++) {
    alone.pause()
    await fleet.advance('20s')
    alone.resume()
    await fleet.advance('1s')
  }
  most = 0
  await fleet.advance('15s')
  assert.ok(most > 0 && most < 16, `${most} at a time`)
  // It renews in time again: what it had no room for is taken, though nothing else happened.
  await fleet.advance('90s')
  assert.equal(most, 16)
  fleet.end()
})
