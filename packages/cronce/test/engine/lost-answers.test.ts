import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Run } from '../../src/run/run.ts'
import { createFleet, type Declare, type Fleet, type Member, NEW_YEAR, type Tx } from './fleet.ts'

const DUE = NEW_YEAR + 60_000

/** One instance and one fire, a minute from now. */
async function one(
  disturb: (member: Member) => void,
  handle: (run: Run<unknown, Tx>, member: Member) => unknown = () => 'paid',
  options: object = {},
): Promise<Fleet> {
  const fleet = await createFleet()
  const declare: Declare = (app, member) =>
    app.job('bill', { cron: '1 0 * * *', ...options }, (run) => handle(run, member))
  const member = await fleet.add(declare)
  await fleet.advance('30s')
  disturb(member)
  await fleet.advance('5m')
  return fleet
}

for (const kind of ['applied-then-throws', 'answer-lost'] as const) {
  test(`a claim that was applied but not answered (${kind}) is found by reading, and runs once`, async () => {
    const fleet = await one(({ link }) => link.fail('claim', { kind }))
    assert.equal(fleet.handled.length, 1)
    assert.deepEqual(await reasons(fleet), ['completed'])
    assert.deepEqual(
      fleet.events('run.started').map(({ attempt }) => attempt),
      [1],
    )
    fleet.end()
  })

  test(`a settlement that was applied but not answered (${kind}) is settled once and reported once`, async () => {
    const fleet = await one(({ link }) =>
      link.disturb(({ name }) => (name === 'apply' && fleetIsFirst(link) ? { kind } : null)),
    )
    assert.deepEqual(await reasons(fleet), ['completed'])
    assert.deepEqual(
      fleet.events('run.ended').map(({ outcome }) => outcome),
      ['succeeded'],
    )
    assert.deepEqual(
      fleet.events('fire.ended').map(({ outcome }) => outcome),
      ['succeeded'],
    )
    assert.deepEqual(fleet.events('run.fenced'), [])
    fleet.end()
  })
}

test('a lost answer about a run that was cancelled meanwhile does not count as fencing', async () => {
  const fleet = await createFleet()
  const member = await fleet.add((app, { clock }) =>
    app.job('bill', '1 0 * * *', async (run) => {
      await clock.sleep(600_000, run.signal)
      run.signal.throwIfAborted()
    }),
  )
  await fleet.advance('1m1s')
  await fleet.operator.runs.cancel('bill', fleet.handled[0]!.token)
  member.link.fail('apply', { kind: 'applied-then-throws' })
  await fleet.advance('1m')
  assert.deepEqual(await reasons(fleet), ['cancelled-by-operator'])
  assert.deepEqual(
    fleet.events('run.ended').map(({ reason }) => reason),
    ['cancelled-by-operator'],
  )
  assert.deepEqual(fleet.events('run.fenced'), [])
  fleet.end()
})

test('a claim that lands after its sender has given up is handed back by the heartbeats, at no cost, and run once', async () => {
  const fleet = await one(({ link }) => link.fail('claim', { kind: 'slow', requestMs: 10_050 }))
  // The read after the deadline found nothing, and the next claim was independent: whichever was first, the fire ran
  // once.
  assert.equal(fleet.handled.length, 1)
  const fire = await fleet.operator.fires.get({ schedule: 'bill', dueAt: DUE })
  assert.equal(fire.state, 'succeeded')
  fleet.end()
})

test('a claim that lands after it was given up is found by the heartbeats and handed back', async () => {
  const fleet = await createFleet()
  const member = await fleet.add((app) =>
    app.job('pay', { cron: '1 0 * * *', guarantee: 'at-most-once' }, () => 'paid'),
  )
  await fleet.advance('30s')
  // The claim takes twelve seconds; meanwhile only heartbeats of this instance get through.
  let isDown = false
  let isDone = false
  member.link.disturb(({ name }) => {
    if (name === 'claim' && !isDone) {
      isDone = true
      isDown = true
      fleet.world.at(fleet.world.now() + 14_000, () => {
        isDown = false
      })
      return { kind: 'slow', requestMs: 12_000 }
    }
    return isDown && name !== 'beat' ? { kind: 'throws' } : null
  })
  await fleet.advance('5m')
  assert.deepEqual(await reasons(fleet), ['handed-back', 'completed'])
  assert.equal(fleet.handled.length, 1)
  fleet.end()
})

test('a lost answer to a claim does not hold a fire when its instance dies of it', async () => {
  const fleet = await createFleet()
  const declare: Declare = (app) => app.job('bill', '1 0 * * *', () => {})
  const members = await fleet.addMany(2, declare)
  await fleet.advance('30s')
  for (const member of members) {
    member.link.disturb(({ name }) => {
      if (name !== 'claim' || members.some(({ state }) => state === 'crashed')) return null
      fleet.world.at(fleet.world.now(), () => member.crash())
      return { kind: 'answer-lost' }
    })
  }
  await fleet.advance('5m')
  assert.deepEqual(
    fleet.handled.map(({ attempt }) => attempt),
    [2],
  )
  fleet.end()
})

for (const kind of ['applied-then-throws', 'answer-lost'] as const) {
  test(`a transaction that was committed but not answered (${kind}) is known to be`, async () => {
    const fleet = await one(
      ({ link }) => link.fail('transact', { kind }),
      (run) => run.transaction((tx) => tx.set('paid', ((tx.get('paid') as number | undefined) ?? 0) + 1)),
      { guarantee: 'exactly-once' },
    )
    assert.equal(fleet.source.data.effects.get('paid'), 1)
    assert.deepEqual(await reasons(fleet), ['completed'])
    assert.deepEqual(
      fleet.events('fire.ended').map(({ outcome }) => outcome),
      ['succeeded'],
    )
    fleet.end()
  })
}

for (const fault of [{ kind: 'throws' }, { kind: 'request-lost' }] as const) {
  test(`a transaction that never reached the store (${fault.kind}) failed, and its retry commits once`, async () => {
    const fleet = await one(
      ({ link }) => link.fail('transact', fault),
      (run) => run.transaction((tx) => tx.set('paid', ((tx.get('paid') as number | undefined) ?? 0) + 1)),
      { guarantee: 'exactly-once', retry: 1 },
    )
    assert.equal(fleet.source.data.effects.get('paid'), 1)
    assert.deepEqual(await reasons(fleet), ['error', 'completed'])
    fleet.end()
  })
}

test('a transaction that lands after its run was given up does not start, and changes nothing', async () => {
  const called: number[] = []
  const fleet = await one(
    ({ link }) => link.fail('transact', { kind: 'slow', requestMs: 30_000 }),
    async (run, { clock }) => {
      const work = (tx: Tx): void => {
        called.push(run.attempt)
        tx.set(`paid by attempt ${run.attempt}`, true)
      }
      try {
        await run.transaction(work)
      } catch (error) {
        // Still running, with a token that counts, when it lands.
        await clock.sleep(60_000)
        throw error
      }
    },
    { guarantee: 'exactly-once', retry: 1 },
  )
  assert.deepEqual(called, [2])
  assert.deepEqual([...fleet.source.data.effects.keys()], ['paid by attempt 2'])
  assert.deepEqual(await reasons(fleet), ['error', 'completed'])
  fleet.end()
})

test('a settlement that never arrived, and was overtaken meanwhile, is not reported as if it had', async () => {
  const fleet = await createFleet()
  await fleet.addMany(2, (app, { clock }) =>
    app.job('bill', '1 0 * * *', (run) => clock.sleep(5_000).then(() => run.attempt)),
  )
  await fleet.advance('1m1s')
  const { member } = fleet.handled[0]!
  // It can read, but not write.
  const heal = member.link.disturb(({ name }) => (name === 'apply' || name === 'beat' ? { kind: 'throws' } : null))
  await fleet.advance('1m')
  heal()
  await fleet.advance('1m')
  assert.deepEqual(await reasons(fleet), ['crashed', 'completed'])
  assert.deepEqual(fleet.events('run.ended', member), [])
  assert.equal(fleet.events('run.fenced', member).length, 1)
  fleet.end()
})

test('a lost answer to the beginning of a step does not make the step unknown', async () => {
  let charged = 0
  const fleet = await one(
    ({ link }) => link.fail('step', { kind: 'applied-then-throws' }, 1),
    (run) => run.once('charge', () => ++charged),
  )
  assert.equal(charged, 1)
  assert.deepEqual(await reasons(fleet), ['completed'])
  fleet.end()
})

test('a lost answer to the end of a step does not repeat the step', async () => {
  let charged = 0
  const fleet = await one(
    () => {},
    async (run, { link }) => {
      await run.once('charge', () => {
        link.fail('step', { kind: 'answer-lost' })
        return ++charged
      })
      assert.equal(await run.once('charge', () => ++charged), 1)
    },
  )
  assert.equal(charged, 1)
  assert.deepEqual(await reasons(fleet), ['completed'])
  fleet.end()
})

test('a claim that is answered when its claimant has been declared dead and has joined anew is not started', async () => {
  const fleet = await createFleet()
  const member = await fleet.add((app, { clock }) =>
    app.job('bill', '1 0 * * *', (run) => clock.sleep(30_000, run.signal)).job('call', {}, () => {}),
  )
  const store = await fleet.source.open({ namespace: 'default', adopt: false, production: false, warn: () => {} })
  await fleet.advance('50s')
  member.link.fail('claim', { kind: 'slow', answerMs: 5_000 })
  await fleet.advance('11s')
  const [instance] = (await store.listInstances()).instances
  assert.ok(await store.mark({ kind: 'dead', instance: instance!.id, renewals: instance!.renewals, hint: true }))
  // Forces a heartbeat, so that it learns of its death before the claim is answered.
  await fleet.operator.schedules.trigger('call')
  await fleet.advance('1m')
  assert.equal(fleet.events('instance.fenced').length, 1)
  assert.deepEqual(
    fleet.handled.filter(({ schedule }) => schedule === 'bill').map(({ attempt, how }) => [attempt, how]),
    [[2, 'returned']],
  )
  fleet.end()
})

for (const kind of ['request-lost', 'answer-lost'] as const) {
  test(`one heartbeat without an answer (${kind}) costs no run its lease`, async () => {
    for (const running of [true, false]) {
      const fleet = await createFleet()
      const cron = running ? '1 0 * * *' : '0 5 * * *'
      const member = await fleet.add((app, { clock }) => app.job('bill', cron, () => clock.sleep(300_000)))
      await fleet.advance('80s')
      member.link.fail('beat', { kind })
      await fleet.advance('1m')
      assert.deepEqual(fleet.events('lease.lost'), [])
      assert.equal(fleet.events('lease.doubted').length, 1)
      fleet.end()
    }
  })
}

test('late answers to heartbeats renew the lease from when they were requested', async () => {
  const fleet = await createFleet()
  const member = await fleet.add((app, { clock }) => app.job('bill', '1 0 * * *', () => clock.sleep(600_000)))
  await fleet.advance('80s')
  member.link.disturb(({ name }) => (name === 'beat' ? { kind: 'slow', requestMs: 1_000, answerMs: 3_500 } : null))
  await fleet.advance('5m')
  assert.deepEqual(fleet.events('lease.lost'), [])
  fleet.end()
})

test('what was settled before the store failed in the middle of a batch is reported once', async () => {
  const fleet = await createFleet()
  const member = await fleet.add((app, { clock }) => {
    for (const job of ['one', 'two', 'three']) app.job(job, '1 0 * * *', () => clock.sleep(5_000))
  })
  await fleet.advance('62s')
  let settled = 0
  let failed = 0
  member.link.disturb(({ name }) => {
    // The first settles alone; the others end meanwhile, and share a write.
    if (name === 'apply' && settled < 2 && ++settled > 0) return { kind: 'slow', requestMs: 500 }
    return name === 'load' && settled === 2 && failed++ === 0 ? { kind: 'throws' } : null
  })
  fleet.world.at(fleet.world.now() + 3_800, () => void fleet.operator.schedules.pause('three'))
  await fleet.advance('1m')
  assert.deepEqual([settled, failed > 0], [2, true])
  assert.deepEqual(
    fleet.events('run.ended').map(({ schedule }) => schedule),
    ['one', 'two', 'three'],
  )
  fleet.end()
})

test('a store that does not answer is asked again, for every call', async () => {
  for (const name of [
    'beat',
    'due',
    'claim',
    'load',
    'apply',
    'listRecords',
    'listInstances',
    'loadApp',
    'prune',
  ] as const) {
    const fleet = await createFleet()
    const [first] = await fleet.addMany(2, (app) => app.job('bill', '* * * * *', () => {}))
    await fleet.advance('30s')
    first!.link.fail(name, { kind: 'request-lost' }, 3)
    await fleet.advance('10m')
    const before = fleet.handled.length
    // Alone, so that it has to do everything itself.
    fleet.members[1]!.crash()
    await fleet.advance('10m')
    assert.equal(fleet.handled.length - before, 10, name)
    fleet.end()
  }
})

async function reasons(fleet: Fleet): Promise<unknown[]> {
  const { items } = await fleet.operator.runs.list()
  return items.map(({ reason }) => reason).reverse()
}

/** Whether this is the first write after the fire was claimed: its settlement. */
function fleetIsFirst({ calls }: Member['link']): boolean {
  return calls.get('claim') === 1 && calls.get('apply') === 2
}
