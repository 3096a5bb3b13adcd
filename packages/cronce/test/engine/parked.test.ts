import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parkUntil } from '../../src/engine/parked.ts'
import { createFleet, NEW_YEAR } from './fleet.ts'

const FIRE = { schedule: 'bill', dueAt: NEW_YEAR }
const HOUR = 3_600_000

test('a parked run outlives the crash of its instance, a deploy and a fleet without anybody, and is completed once', async () => {
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
  assert.equal(fleet.handled.length, 1, 'nobody has run it again')
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
