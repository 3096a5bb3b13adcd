import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JobOptions } from '../../src/app/job.ts'
import type { Run } from '../../src/run/run.ts'
import { createFleet, type Fleet, type Member, NEW_YEAR, type Tx } from './fleet.ts'

const DUE = NEW_YEAR + 60_000

async function fleetWith(
  options: JobOptions,
  handle: (run: Run<unknown, Tx>, member: Member) => unknown,
  count = 2,
): Promise<Fleet> {
  const fleet = await createFleet()
  // So that no heartbeat coincides with a due time.
  await fleet.advance('2500ms')
  await fleet.addMany(count, (app, member) => app.job('bill', options, (run) => handle(run, member)))
  return fleet
}

/** Ends when its signal is aborted, as a handler should. */
async function obedient(run: Run<unknown, Tx>, { clock }: Member): Promise<void> {
  await clock.sleep(3_600_000, run.signal)
  run.signal.throwIfAborted()
}

test('a run that takes too long is aborted, and has failed by timeout', async () => {
  const fleet = await fleetWith({ cron: '1 0 * * *', timeout: '30s' }, obedient)
  await fleet.advance('5m')
  const [run] = fleet.handled
  assert.equal(run!.signal.reason.code, 'RUN_TIMEOUT')
  assert.equal(run!.endedAt, DUE + 30_000)
  assert.deepEqual(await endings(fleet), [['failed', 'timeout']])
  assert.deepEqual(fleet.events('run.overran'), [])
  fleet.end()
})

test('a run that ignores its timeout is given up after the grace, and its fire goes on without it', async () => {
  const options = { cron: '1 0 * * *', timeout: { run: '30s', grace: '5s' }, retry: { attempts: 1 } } as const
  const fleet = await fleetWith(options, async (run, { clock }) => {
    if (run.attempt === 1) await clock.sleep(600_000)
    return run.attempt
  })
  await fleet.advance('5m')
  assert.equal(fleet.events('run.overran').length, 1)
  assert.deepEqual(await endings(fleet), [
    ['failed', 'timeout'],
    ['succeeded', 'completed'],
  ])
  assert.ok(fleet.handled[1]!.startedAt >= DUE + 35_000)
  assert.equal(fleet.handled[0]!.how, 'runs')
  await fleet.advance('10m')
  // It ends after all, and its end has no effect.
  assert.equal(fleet.handled[0]!.how, 'returned')
  assert.equal((await endings(fleet)).length, 2)
  fleet.end()
})

test('a run that an operator cancels is aborted within moments, on any instance', async () => {
  const fleet = await fleetWith({ cron: '1 0 * * *' }, obedient)
  await fleet.advance('1m10s')
  const [run] = fleet.handled
  await fleet.operator.runs.cancel('bill', run!.token, { author: 'ann', note: 'wrong day' })
  await fleet.advance('1s')
  assert.equal(run!.signal.reason.code, 'RUN_CANCELLED')
  assert.deepEqual(await endings(fleet), [['cancelled', 'cancelled-by-operator']])
  assert.equal(fleet.events('run.cancelled').length, 1)
  const fire = await fleet.operator.fires.get({ schedule: 'bill', dueAt: DUE })
  assert.deepEqual([fire.state, fire.detail], ['cancelled', 'by ann: wrong day'])
  fleet.end()
})

test('a cancelled run that finishes nevertheless has succeeded', async () => {
  const fleet = await fleetWith({ cron: '1 0 * * *' }, (_, { clock }) => clock.sleep(75_000).then(() => 'done'))
  await fleet.advance('2m10s')
  await fleet.operator.runs.cancel('bill', fleet.handled[0]!.token)
  await fleet.advance('1m')
  assert.deepEqual(await endings(fleet), [['succeeded', 'completed']])
  fleet.end()
})

test('a cancelled run that ignores its signal ends for the fleet after its grace, and its end is refused', async () => {
  const fleet = await fleetWith({ cron: '1 0 * * *', timeout: { grace: '20s' } }, (run, { clock }) =>
    clock.sleep(120_000).then(() => run.once('charge', () => {})),
  )
  await fleet.advance('1m10s')
  const [run] = fleet.handled
  await fleet.operator.runs.cancel('bill', run!.token)
  await fleet.advance('19s')
  assert.deepEqual(await endings(fleet), [['cancelling', null]])
  await fleet.advance('3s')
  assert.deepEqual(await endings(fleet), [['cancelled', 'cancelled-by-operator']])
  await fleet.advance('3m')
  assert.equal(run!.how, 'threw')
  assert.equal(fleet.events('run.overran').length, 1)
  fleet.end()
})

test('a cancelled run of an instance that is silent is revoked by another one after its grace', async () => {
  const fleet = await createFleet()
  await fleet.addMany(2, (app, { clock }) => app.job('bill', '1 0 * * *', () => clock.sleep(3_600_000)), {
    lease: '10m',
  })
  await fleet.advance('1m10s')
  const [run] = fleet.handled
  run!.member.pause()
  await fleet.operator.runs.cancel('bill', run!.token)
  await fleet.advance('15s')
  assert.deepEqual(await endings(fleet), [['cancelled', 'cancelled-by-operator']])
  fleet.end()
})

test('replace asks the old run to end, and the new one starts as soon as that has settled', async () => {
  const fleet = await fleetWith({ cron: '1,3 0 * * *', overlap: 'replace' }, async (run, { clock }) => {
    if (run.fire.dueAt !== DUE) return
    await clock.sleep(3_600_000, run.signal)
    await clock.sleep(2_000)
    run.signal.throwIfAborted()
  })
  await fleet.advance('5m')
  const [old, young] = fleet.handled
  assert.equal(old!.signal.reason.code, 'RUN_REPLACED')
  assert.equal(young!.dueAt, DUE + 120_000)
  assert.ok(young!.startedAt >= old!.endedAt!)
  assert.ok(young!.startedAt - young!.dueAt < 3_000, `${young!.startedAt - young!.dueAt} ms late`)
  assert.deepEqual(await endings(fleet), [
    ['cancelled', 'replaced'],
    ['succeeded', 'completed'],
  ])
  fleet.end()
})

test('replace does not wait longer than the grace for a run that ignores its signal', async () => {
  const options: JobOptions = { cron: '1,3 0 * * *', overlap: 'replace', timeout: { grace: '20s' } }
  const fleet = await fleetWith(options, (run, { clock }) =>
    run.fire.dueAt === DUE ? clock.sleep(600_000) : undefined,
  )
  await fleet.advance('5m')
  const [, young] = fleet.handled
  const waited = young!.startedAt - young!.dueAt
  assert.ok(waited >= 20_000 && waited < 25_000, `${waited} ms`)
  await fleet.advance('10m')
  assert.deepEqual(await endings(fleet), [
    ['cancelled', 'replaced'],
    ['succeeded', 'completed'],
  ])
  fleet.end()
})

test('skip, queue and queue-all hold between instances', async () => {
  const counts: Record<string, number> = {}
  for (const overlap of ['skip', 'queue', 'queue-all'] as const) {
    const fleet = await fleetWith({ cron: '* * * * *', overlap }, (_, { clock }) => clock.sleep(150_000), 3)
    await fleet.advance('11m30s')
    const busy = fleet.handled.map(({ startedAt, endedAt }) => [startedAt, endedAt ?? fleet.now()] as const)
    for (const [index, [startedAt]] of busy.entries()) {
      if (index > 0) assert.ok(startedAt >= busy[index - 1]![1], `${overlap}: two at a time`)
    }
    counts[overlap] = fleet.handled.length
    fleet.end()
  }
  // Started at minutes 1, 4, 7, 10; every two and a half minutes where something waits.
  assert.deepEqual(counts, { skip: 4, queue: 5, 'queue-all': 5 })
})

test('a run without a timeout is reported as stuck every hour, and named in the skips that it causes', async () => {
  const fleet = await createFleet()
  await fleet.addMany(1, (app, { clock }) =>
    app
      .job('bill', '0 * * * *', () => clock.sleep(4 * 3_600_000))
      .job('other', '20 0 * * *', () => clock.sleep(4 * 3_600_000)),
  )
  await fleet.advance('3h30m')
  const stuck = fleet.events('run.stuck').filter(({ schedule }) => schedule === 'bill')
  assert.deepEqual(
    stuck.map(({ runningMs }) => Math.floor(runningMs / 3_600_000)),
    [1, 2, 3],
  )
  const [run] = fleet.handled
  const skips = fleet.events('fire.skipped')
  assert.equal(skips.length, 3)
  for (const { reason, detail } of skips) {
    assert.equal(reason, 'overlap')
    assert.ok(detail!.includes(String(run!.token)) && detail!.includes(run!.instance), detail!)
  }
  fleet.end()
})

test('a run with a timeout is never stuck', async () => {
  const fleet = await fleetWith({ cron: '0 0 * * *', timeout: '3h' }, obedient)
  await fleet.advance('2h30m')
  assert.deepEqual(fleet.events('run.stuck'), [])
  fleet.end()
})

async function endings(fleet: Fleet): Promise<unknown[]> {
  const { items } = await fleet.operator.runs.list()
  return items.map(({ state, reason }) => [state, reason]).reverse()
}
