import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parkUntil } from '../../src/engine/run/parked.ts'
import { NOBODY } from '../../src/model/schedule.ts'
import { after, claim, creation, schedule } from '../../src/testing/conformance/samples.ts'
import { createFleet, NEW_YEAR } from './fleet.ts'

const FIRE = { schedule: 'bill', dueAt: NEW_YEAR }
const HOUR = 3_600_000

test('a parked run outlives the crash of its instance, a deploy and an empty fleet, and is completed once', async () => {
  const fleet = await createFleet()
  const [first, second] = await fleet.addMany(2, (app) => app.job('bill', '0 0 * * *', () => parkUntil(HOUR)))
  await fleet.advance('1s')
  assert.equal(fleet.handled.length, 1)
  const { token } = fleet.handled[0]!
  first!.crash()
  second!.crash()
  await fleet.advance('10m')
  await fleet.add((app) => app.job('bill', '0 0 * * *', () => parkUntil(HOUR)))
  await fleet.advance('10m')
  assert.equal(fleet.handled.length, 1, 'no instance has run it again')
  const run = await fleet.operator.runs.complete('bill', token, { outcome: 'succeeded', result: 'paid' })
  assert.deepEqual([run.state, run.result], ['succeeded', 'paid'])
  await fleet.advance('2h')
  assert.equal(fleet.handled.length, 1)
  assert.equal((await fleet.operator.fires.get(FIRE)).state, 'succeeded')
  assert.equal(fleet.events('run.parked').length, 1)
  assert.equal(fleet.events('run.fenced').length, 0)
  fleet.end()
})

test('without a call-back the deadline passes, and another run follows; the late call-back is refused', async () => {
  const fleet = await createFleet()
  await fleet.add((app) => app.job('bill', { cron: '0 0 * * *', retry: 1 }, () => parkUntil(HOUR)))
  await fleet.advance('90m')
  assert.equal(fleet.handled.length, 2)
  const [first, second] = fleet.handled
  await assert.rejects(fleet.operator.runs.complete('bill', first!.token, { outcome: 'succeeded' }), {
    code: 'RUN_NOT_OPEN',
  })
  await fleet.operator.runs.complete('bill', second!.token, { outcome: 'succeeded' })
  const { items } = await fleet.operator.runs.list({ schedule: 'bill' })
  assert.deepEqual(items.map(({ attempt, reason }) => [attempt, reason]).sort(), [
    [1, 'timeout'],
    [2, 'completed'],
  ])
  fleet.end()
})

test('a parked run takes no room on its instance, and still counts against the limits of the fleet', async () => {
  const fleet = await createFleet()
  const concurrency = 1
  await fleet.add(
    (app) => {
      app.job('bill', { cron: '0 0 * * *', group: { name: 'bank', limit: 1 } }, () => parkUntil(HOUR))
      app.job('same group', { cron: '1 0 * * *', group: { name: 'bank', limit: 1 } }, () => {})
      app.job('other', { cron: '1 0 * * *' }, () => {})
    },
    { concurrency },
  )
  await fleet.advance('5m')
  assert.deepEqual(fleet.handled.map(({ schedule }) => schedule).sort(), ['bill', 'other'])
  await fleet.operator.runs.complete('bill', fleet.handled.find(({ schedule }) => schedule === 'bill')!.token, {
    outcome: 'succeeded',
  })
  await fleet.advance('2m')
  assert.equal(fleet.handled.length, 3)
  fleet.end()
})

test('an error that asks to be left alone for a while is retried no earlier', async () => {
  const fleet = await createFleet()
  await fleet.add((app) =>
    app.job('bill', { cron: '0 0 * * *', retry: { attempts: 2, backoff: { base: '1s', jitter: 0 } } }, (run) => {
      if (run.attempt === 1) throw Object.assign(new Error('busy'), { retryAfterMs: 600_000 })
      if (run.attempt === 2) throw Object.assign(new Error('nonsense'), { retryAfterMs: Number.NaN })
    }),
  )
  await fleet.advance('9m')
  assert.equal(fleet.handled.length, 1)
  await fleet.advance('2m')
  assert.equal(fleet.handled.length, 3)
  fleet.end()
})

test('a parked run survives a store that loses it: an instance that parked it, or saw it, writes it again', async () => {
  for (const isSeen of [false, true]) {
    const fleet = await createFleet({ losesWrites: true })
    const job = { cron: '0 0 * * *', guarantee: 'at-most-once' } as const
    const [first] = await fleet.addMany(2, (app) => app.job('bill', job, () => parkUntil(10 * HOUR)))
    let goBack = (): void => {}
    for (const member of fleet.members) {
      member.at('run:returned', () => {
        goBack = fleet.keep()
      })
    }
    await fleet.advance('1s')
    const { token } = fleet.handled[0]!
    if (isSeen) await fleet.advance('1m')
    goBack()
    await fleet.advance('5m')
    assert.equal(fleet.handled.length, 1, 'it was not run again')
    const run = await fleet.operator.runs.complete('bill', token, { outcome: 'succeeded' })
    assert.equal(run.state, 'succeeded')
    assert.ok(first !== undefined)
    fleet.end()
  }
})

test('a call-back that a store loses is known to the instance that received it', async () => {
  const fleet = await createFleet({ losesWrites: true })
  const [member] = await fleet.addMany(1, (app) =>
    app.job('bill', { cron: '0 0 * * *', retry: 1 }, () => parkUntil(HOUR)),
  )
  await fleet.advance('10s')
  const goBack = fleet.keep()
  const completing = member!.app.runs.complete('bill', fleet.handled[0]!.token, { outcome: 'succeeded', result: 7 })
  await fleet.advance('1s')
  await completing
  goBack()
  await fleet.advance('3h')
  assert.equal(fleet.handled.length, 1)
  assert.equal((await fleet.operator.fires.get(FIRE)).state, 'succeeded')
  fleet.end()
})

test('a parked run of a job that has left the code ends when its time is up, and frees what it held', async () => {
  const fleet = await createFleet()
  const group = { name: 'bank', limit: 1 }
  const old = await fleet.add((app) => app.job('bill', { cron: '0 0 * * *', group }, () => parkUntil(HOUR)))
  await fleet.advance('10s')
  void old.app.stop()
  await fleet.advance('1m')
  await fleet.add((app) => app.job('other', { cron: '30 * * * *', group, overlap: 'queue' }, () => {}), {
    deployment: 'v2',
  })
  await fleet.advance('3h')
  const fire = await fleet.operator.fires.get(FIRE)
  assert.deepEqual([fire.state, fire.reason], ['failed', 'timeout'])
  assert.ok(fleet.handled.some(({ schedule }) => schedule === 'other'))
  fleet.end()
})

test('parked runs behind more than one sweep looks at end when their time is up, though their job has left the code', async () => {
  const fleet = await createFleet()
  const store = await fleet.source.open({ namespace: 'default', adopt: false, production: false, warn: () => {} })
  const park = async (id: string, dueAt: number, parkedUntil: number, count = 1): Promise<void> => {
    const { definition } = schedule(id)
    let state = schedule(id, { version: 0, definition: { ...definition, trigger: null } })
    const made = Array.from({ length: count }, (_, index) => {
      const begun = claim(state, { instance: NOBODY, dueAt: dueAt + index })
      state = after(begun)
      return begun
    })
    const open = state.open.map((fire) => ({ ...fire, run: { ...fire.run!, parkedUntil } }))
    const creates = made.flatMap((begun) => begun.creates)
    await store.apply([creation({ ...state, version: 1, open }, { creates, epoch: store.info.epoch })])
  }
  // Before and after all others, whichever way they are listed.
  await park('first', NEW_YEAR - 20_000, NEW_YEAR + HOUR)
  for (let many = 0; many < 21; many++) await park(`many-${many}`, NEW_YEAR - 15_000, NEW_YEAR + 100 * HOUR, 500)
  await park('last', NEW_YEAR, NEW_YEAR + HOUR)
  await fleet.add((app) => app.job('other', {}, () => {}), { lease: '5m' })
  await fleet.advance('6h')
  const { items } = await fleet.operator.fires.list({ outcome: 'failed' })
  assert.deepEqual(items.map(({ schedule, reason }) => [schedule, reason]).sort(), [
    ['first', 'timeout'],
    ['last', 'timeout'],
  ])
  fleet.end()
})

test('middleware that drops its result does not make a success of a parked run', async () => {
  const fleet = await createFleet()
  await fleet.add((app) => {
    app.use(async (_run, next) => {
      await next()
    })
    app.job('bill', '0 0 * * *', () => parkUntil(HOUR))
  })
  await fleet.advance('10s')
  assert.equal((await fleet.operator.fires.get(FIRE)).state, 'open')
  fleet.end()
})

test('work that ran elsewhere for longer than the misfire window is still retried', async () => {
  const fleet = await createFleet()
  await fleet.add((app) =>
    app.job('bill', { cron: '0 0 1 1 *', retry: 1, misfire: { window: '1h' } }, () => parkUntil(2 * HOUR)),
  )
  await fleet.advance('150m')
  assert.equal(fleet.handled.length, 2)
  fleet.end()
})
