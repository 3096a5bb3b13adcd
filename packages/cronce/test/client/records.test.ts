import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ending } from '../../src/model/outcome.ts'
import { STALE } from '../../src/policy/decision.ts'
import { settle } from '../../src/policy/end/settle.ts'
import { type Bench, DAY, MINUTE, NOON, openClient, toArray } from './open-client.ts'

const HOUR = 60 * MINUTE

async function openHourly(options: Parameters<typeof openClient>[0] = {}): Promise<Bench> {
  const bench = await openClient(options)
  await bench.client.schedules.create('acme', { job: 'billing', cron: '0 * * * *', tenant: 'acme' })
  return bench
}

async function settleRun({ decide }: Bench, token: string, reason: 'completed' | 'error'): Promise<void> {
  const error = reason === 'error' ? { name: 'Error', message: 'no', code: null, stack: null } : null
  const settlement = { token, ending: ending(reason), error, result: { done: true }, retryable: true, handBack: null }
  await decide('acme', (state, context) => {
    const decision = settle(state, settlement, context)
    assert.notEqual(decision, STALE)
    return decision as Exclude<typeof decision, typeof STALE>
  })
}

describe('fires and runs', () => {
  test('are shown in every state, from open to ended', async () => {
    const bench = await openHourly()
    const { client, clock } = bench
    clock.now += 250
    const [started] = await bench.work('acme')
    const { token } = started!.record
    const running = await client.runs.get('acme', token)
    assert.deepEqual([running.state, running.attempt, running.latenessMs], ['running', 1, 250])
    assert.equal(running.durationMs, null)
    assert.equal((await client.fires.get({ schedule: 'acme', dueAt: NOON })).state, 'open')
    const [open] = (await client.schedules.get('acme')).open
    assert.deepEqual([open?.state, open?.token, open?.instance], ['running', token, 'worker'])

    clock.now += 1_000
    await settleRun(bench, token, 'completed')
    const ended = await client.runs.get('acme', BigInt(token))
    assert.deepEqual([ended.state, ended.reason, ended.durationMs], ['succeeded', 'completed', 1_000])
    assert.deepEqual(ended.result, { done: true })
    const fire = await client.fires.get({ schedule: 'acme', dueAt: new Date(NOON) })
    assert.deepEqual([fire.state, fire.attempt, fire.endedAt], ['succeeded', 1, clock.now])
    assert.deepEqual((await client.fires.list({ outcome: 'succeeded' })).items, [fire])
    assert.deepEqual(await toArray(client.runs.all({ fire })), [ended])
    assert.deepEqual(JSON.parse(JSON.stringify(ended)), ended)
  })

  test('that have ended are shown in overviews', async () => {
    const bench = await openHourly()
    const { client, clock } = bench
    for (const reason of ['error', 'completed'] as const) {
      const [started] = await bench.work('acme')
      clock.now += 1_000
      await settleRun(bench, started!.record.token, reason)
      clock.now = NOON + HOUR
    }
    const latest = await client.fires.latest({ schedules: ['acme', 'nobody'] })
    assert.deepEqual(
      latest.map(({ dueAt, outcome, startedAt, endedAt }) => [dueAt, outcome, startedAt! - dueAt, endedAt - dueAt]),
      [
        [NOON + HOUR, 'succeeded', 0, 1_000],
        [NOON, 'failed', 0, 1_000],
      ],
    )
    assert.deepEqual(await client.fires.latest({ schedules: ['acme'], limit: 1 }), latest.slice(0, 1))
    const hours = [
      { hour: NOON, outcome: 'failed', count: 1 },
      { hour: NOON + HOUR, outcome: 'succeeded', count: 1 },
    ]
    assert.deepEqual(await client.fires.count({ from: new Date(NOON) }), hours)
    assert.deepEqual(await client.fires.count({ from: NOON, to: NOON + 1 }), hours.slice(0, 1))
    const schedules = Array.from({ length: 101 }, (_, index) => `s${index}`)
    await assert.rejects(client.fires.latest({ schedules }), { code: 'OPTION_INVALID' })
    await assert.rejects(client.fires.latest({ schedules: ['acme'], limit: 0 }), { code: 'OPTION_INVALID' })
  })

  test('that are not on record are an error with a code', async () => {
    const { client } = await openHourly()
    await assert.rejects(client.fires.get({ schedule: 'acme', dueAt: 0 }), {
      code: 'FIRE_NOT_FOUND',
      message: 'There is no record of a fire of "acme" due 1970-01-01T00:00:00.000Z.',
    })
    await assert.rejects(client.runs.get('acme', '7'), { code: 'RUN_NOT_FOUND' })
    await assert.rejects(client.runs.cancel('acme', '7'), { code: 'RUN_NOT_OPEN' })
    await assert.rejects(client.fires.cancel({ schedule: 'acme', dueAt: 0 }), { code: 'FIRE_NOT_OPEN' })
    await assert.rejects(client.fires.retry({ schedule: 'acme', dueAt: 0 }), { code: 'FIRE_NOT_FOUND' })
  })

  test('are cancelled by token or by fire', async () => {
    const bench = await openHourly()
    const { client } = bench
    const [started] = await bench.work('acme')
    const run = await client.runs.cancel('acme', started!.record.token, { author: 'ann', note: 'wrong month' })
    assert.equal(run.state, 'cancelling')
    assert.match(run.cancel!.detail!, /ann.*wrong month/)
    assert.equal((await client.schedules.get('acme')).open[0]?.state, 'cancelling')

    const { fire } = await client.schedules.trigger('acme', { overlap: 'ignore' })
    const cancelled = await client.fires.cancel(fire, { note: 'not now' })
    assert.deepEqual([cancelled.state, cancelled.reason], ['cancelled', 'cancelled-by-operator'])
    await assert.rejects(client.fires.cancel(fire), { code: 'FIRE_NOT_OPEN' })
  })

  test('that have ended are run again as another round', async () => {
    const bench = await openHourly()
    const { client } = bench
    const fire = { schedule: 'acme', dueAt: NOON }
    const [first] = await bench.work('acme')
    await assert.rejects(client.fires.retry(fire), { code: 'FIRE_OPEN' })
    await settleRun(bench, first!.record.token, 'error')
    const again = await client.fires.retry(fire)
    assert.deepEqual([again.state, again.round], ['open', 2])
    const [second] = await bench.work('acme')
    await settleRun(bench, second!.record.token, 'completed')
    await assert.rejects(client.fires.retry(fire), (error: { code: string; hint: string }) => /force/.test(error.hint))
    assert.equal((await client.fires.retry(fire, { force: true })).round, 3)
    assert.equal((await toArray(client.runs.all({ schedule: 'acme' }))).length, 2)
  })

  test('that were triggered with an input, null included, are run again with it, and others with that of the schedule', async () => {
    const bench = await openClient()
    const { client, work } = bench
    await client.schedules.create('acme', { job: 'billing', input: { tenant: 'all' } })
    const inputs = []
    for (const wish of [{}, { input: null }, { input: 'ann' }, { input: null, author: 'ann' }]) {
      const { fire } = await client.schedules.trigger('acme', wish)
      for (let round = 1; round <= 3; round++) {
        if (round > 1) await client.fires.retry(fire)
        const [started] = await work('acme')
        inputs.push(started!.input)
        await settleRun(bench, started!.record.token, 'error')
      }
    }
    const all = { tenant: 'all' }
    assert.deepEqual(inputs, [all, all, all, null, null, null, 'ann', 'ann', 'ann', null, null, null])
  })

  test('that were missed as a range are found by each of their instants, and taken out one by one', async () => {
    const bench = await openHourly()
    const { client, clock, work } = bench
    clock.now += 20 * HOUR + MINUTE
    await work('acme')
    const dueAt = NOON + 7 * HOUR
    const range = await client.fires.get({ schedule: 'acme', dueAt })
    assert.equal(range.state, 'missed')
    assert.ok(range.range!.count > 5)
    await assert.rejects(client.fires.get({ schedule: 'acme', dueAt: dueAt + 1 }), { code: 'FIRE_NOT_FOUND' })

    const taken = await client.fires.retry({ schedule: 'acme', dueAt })
    assert.deepEqual([taken.dueAt, taken.state, taken.range], [dueAt, 'open', null])
    const all = await toArray(client.fires.all({ schedule: 'acme', order: 'earliest' }))
    assert.equal(
      all.reduce((sum, fire) => sum + (fire.range?.count ?? 1), 0),
      21,
    )
  })
})

describe('a backfill', () => {
  test('reports what it would do, and does it only when confirmed', async () => {
    const { client, clock, work } = await openHourly()
    clock.now += 10 * HOUR + MINUTE
    await work('acme')
    const stretch = { from: NOON, to: NOON + 5 * HOUR }
    const dry = await client.schedules.backfill('acme', { ...stretch, dryRun: true })
    assert.equal(dry.id, null)
    assert.deepEqual((await client.schedules.get('acme')).backfills, [])

    const asked = await client.schedules.backfill('acme', { ...stretch, author: 'ann' })
    assert.deepEqual(asked.preview, dry.preview)
    const [backfill] = (await client.schedules.get('acme')).backfills
    assert.deepEqual([backfill?.id, backfill?.author, backfill?.fromAt], [asked.id, 'ann', NOON])
  })

  test('that is too old is refused, dry or not', async () => {
    const { client } = await openHourly()
    const old = { from: NOON - 400 * DAY, to: NOON - 399 * DAY }
    for (const dryRun of [true, false]) {
      await assert.rejects(client.schedules.backfill('acme', { ...old, dryRun }), { code: 'BACKFILL_TOO_OLD' })
    }
  })
})

describe('steps', () => {
  test('of unknown end are resolved by an operator, once', async () => {
    const bench = await openHourly()
    const { client, store } = bench
    const [started] = await bench.work('acme')
    const { token } = started!.record
    const fire = { schedule: 'acme', dueAt: NOON, nonce: '' }
    await store.step({ kind: 'begin', fire, step: 'charge', token, rerun: false })
    await assert.rejects(client.steps.resolve(fire, 'charge', { result: 1 }), { code: 'STEP_RUNNING' })
    await settleRun(bench, token, 'error')

    await assert.rejects(client.steps.resolve(fire, 'charg', { result: 1 }), { code: 'STEP_NOT_FOUND' })
    for (const wrong of [{}, { failed: false }, { failed: true, result: 1 }, { result: undefined }]) {
      await assert.rejects(client.steps.resolve(fire, 'charge', wrong as never), { code: 'OPTION_CONFLICT' })
    }
    await assert.rejects(client.steps.resolve(fire, 'charge', { result: 'x'.repeat(70_000) }), {
      code: 'INPUT_TOO_LARGE',
    })
    const by = { author: 'ada', note: 'seen in the bank', origin: 'cli' } as const
    await client.steps.resolve(fire, 'charge', { result: { id: 'ch_1' } }, by)
    const [step] = await client.steps.list(fire)
    assert.deepEqual([step?.state, step?.result], ['done', { id: 'ch_1' }])
    await assert.rejects(client.steps.resolve(fire, 'charge', { failed: true }), { code: 'STEP_ENDED' })
    const { items } = await client.activity.list({ schedule: 'acme' })
    const resolved = items.filter(({ action }) => action === 'resolve')
    assert.deepEqual(
      resolved.map(({ author, note, origin, changed }) => ({ author, note, origin, changed })),
      [{ ...by, changed: { dueAt: NOON, nonce: '', step: 'charge', failed: false } }],
      'one line, without the result, for the change that was made',
    )
  })
})

describe('instances', () => {
  test('are listed, and drained on demand', async () => {
    const { client } = await openHourly()
    const [before] = await client.instances.list()
    assert.deepEqual([before?.id, before?.state, before?.drain], ['worker', 'live', false])
    await client.instances.drain('worker')
    assert.equal((await client.instances.list())[0]?.drain, true)
    await client.instances.drain('worker', false)
    assert.equal((await client.instances.list())[0]?.drain, false)
    await assert.rejects(client.instances.drain('nobody'), { code: 'INSTANCE_NOT_FOUND' })
  })

  test('whose lease has expired are silent until a peer declares them dead', async () => {
    const { client, clock } = await openHourly()
    clock.now += 400 * DAY
    assert.equal((await client.instances.list())[0]?.state, 'silent')
  })
})

describe('deployments', () => {
  test('are activated by command', async () => {
    const { client, store, events } = await openHourly()
    await assert.rejects(client.deployments.get('shop'), { code: 'APP_NOT_FOUND' })
    const seen = { explicit: true, declares: ['billing'], firstReadyAt: NOON, readyAt: NOON, goneAt: null }
    const flags = { onProbation: false, lost: false }
    const deployments = [
      { id: 'd1', number: 1, ...seen, ...flags },
      { id: 'd2', number: 2, ...seen, ...flags },
    ]
    const none = { activated: null, tidiedFor: null, retired: [], refused: [] }
    const stored = deployments.map((each) => ({ ...each, cleared: false }))
    await store.saveApp({ name: 'app', version: 1, active: 'd2', ...none, deployments: stored })
    const about = { app: 'app', active: 'd2', activated: null, refused: [] }
    assert.deepEqual(await client.deployments.get('app'), { ...about, deployments })
    const rolledBack = await client.deployments.activate('app', 'd1')
    assert.deepEqual([rolledBack.active, rolledBack.activated], ['d1', 'd1'])
    assert.deepEqual(
      rolledBack.deployments.map(({ id, number }) => [id, number]),
      [
        ['d2', 2],
        ['d1', 3],
      ],
    )
    assert.deepEqual(await client.deployments.get('app'), rolledBack)
    assert.deepEqual(events.at(-1), { type: 'deployment.activated', app: 'app', deployment: 'd1', number: 3 })
    events.length = 0
    await client.deployments.activate('app', 'd1')
    assert.deepEqual(events, [])
    await assert.rejects(client.deployments.activate('app', 'd2'), { code: 'DEPLOYMENT_NOT_LIVE' })
    await assert.rejects(client.deployments.activate('app', 'd9'), { code: 'DEPLOYMENT_NOT_FOUND' })
  })
})

describe('a tenant', () => {
  test('is exported with all that is stored about it, and nothing else', async () => {
    const bench = await openHourly()
    const { client, store, work } = bench
    await client.schedules.create('other', { job: 'billing', cron: '0 * * * *', tenant: 'other' })
    const [started] = await work('acme')
    const fire = { schedule: 'acme', dueAt: NOON, nonce: '' }
    await store.step({ kind: 'begin', fire, step: 'charge', token: started!.record.token, rerun: false })
    const records = await toArray(client.tenants.export('acme'))
    assert.deepEqual(
      records.map(({ type }) => type),
      ['schedule', 'fire', 'step', 'run'],
    )
    assert.equal(JSON.stringify(records).includes('other'), false)
  })

  test('is erased with all that is stored about it, running or not, and nothing else', async () => {
    const bench = await openHourly()
    const { client, work } = bench
    await client.schedules.create('other', { job: 'billing', cron: '0 * * * *', tenant: 'other' })
    await work('acme')
    await work('other')
    assert.deepEqual(await client.tenants.erase('acme'), { schedules: 1 })
    assert.deepEqual(await toArray(client.tenants.export('acme')), [])
    assert.deepEqual(await toArray(client.fires.all({ schedule: 'acme' })), [])
    assert.deepEqual(await toArray(client.runs.all({ schedule: 'acme' })), [])
    assert.equal((await toArray(client.tenants.export('other'))).length, 3)
    assert.deepEqual(await client.tenants.erase('acme'), { schedules: 0 })
  })

  test('keeps its records of a schedule that moves to another tenant: only it exports them, and erase leaves them', async () => {
    const bench = await openHourly()
    const { client, work } = bench
    const [started] = await work('acme')
    await client.schedules.put('acme', { job: 'billing', cron: '0 * * * *', tenant: 'other' })
    await settleRun(bench, started!.record.token, 'completed')
    const typesOf = async (tenant: string): Promise<string[]> =>
      (await toArray(client.tenants.export(tenant))).map(({ type }) => type)
    assert.deepEqual(await typesOf('acme'), ['fire', 'run'])
    assert.deepEqual(await typesOf('other'), ['schedule'])
    assert.deepEqual(await client.tenants.erase('acme'), { schedules: 0 })
    assert.deepEqual([await typesOf('acme'), await typesOf('other')], [['fire', 'run'], ['schedule']])
    await client.tenants.erase('other')
    assert.deepEqual([await typesOf('acme'), await typesOf('other')], [[], []])
  })

  test('is exported and erased also of what schedules left behind that it had before', async () => {
    const { client, work } = await openHourly()
    await work('acme')
    await client.schedules.remove('acme', { force: true })
    const left = await toArray(client.tenants.export('acme'))
    assert.deepEqual(
      left.map(({ type }) => type),
      ['fire', 'run'],
    )
    await client.tenants.erase('acme')
    assert.deepEqual(await toArray(client.tenants.export('acme')), [])
    assert.deepEqual(await toArray(client.fires.all({ schedule: 'acme' })), [])
  })
})
