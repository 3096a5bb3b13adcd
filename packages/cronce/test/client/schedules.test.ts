import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { NewSchedule } from '../../src/client/schedule-options.ts'
import type { StandardSchema } from '../../src/client/standard-schema.ts'
import { DAY, MINUTE, NOON, openClient, toArray } from './open-client.ts'

const HOURLY: NewSchedule = { job: 'billing', cron: '0 * * * *' }
const HOUR = 60 * MINUTE

describe('a schedule', () => {
  test('is created once, and is what was written', async () => {
    const { client, events } = await openClient()
    const created = await client.schedules.create('acme', { ...HOURLY, tenant: 'acme', retry: 3 })
    assert.equal(created.name, 'acme')
    assert.equal(created.job, 'billing')
    assert.equal(created.state, 'active')
    assert.equal(created.nextAt, NOON)
    assert.equal(created.policy.retry.attempts, 3)
    assert.equal(created.app, null)
    assert.deepEqual(created.warnings, [])
    const { warnings: _, ...view } = created
    assert.deepEqual(await client.schedules.get('acme'), view)
    assert.deepEqual(events, [{ type: 'schedule.created', schedule: 'acme', job: 'billing' }])

    await assert.rejects(client.schedules.create('acme', HOURLY), { code: 'SCHEDULE_EXISTS', hint: /put/ })
  })

  test('names its job', async () => {
    const { client } = await openClient()
    const nameless = { cron: '* * * * *' } as NewSchedule
    await assert.rejects(client.schedules.create('acme', nameless), { code: 'OPTION_INVALID', message: /option job/ })
    const nothing = undefined as unknown as NewSchedule
    await assert.rejects(client.schedules.create('acme', nothing), { code: 'OPTION_INVALID' })
  })

  test('reports what was changed about it on the way', async () => {
    const { client } = await openClient()
    const { warnings } = await client.schedules.create('acme', { ...HOURLY, retention: '1h' })
    assert.equal(warnings.length, 1)
  })

  test('is made with a warning if no live instance has its job', async () => {
    const { client } = await openClient()
    const { warnings } = await client.schedules.create('acme', { ...HOURLY, job: 'biling' })
    assert.deepEqual(warnings, ['No live instance has the job "biling"; did you mean billing?'])
  })

  test('is put whether it is there or not, and stays as it is when nothing differs', async () => {
    const { client, events } = await openClient()
    await client.schedules.put('acme', { ...HOURLY, cron: '30 * * * *' })
    const same = await client.schedules.put('acme', { ...HOURLY, cron: '30 * * * *' })
    assert.equal(same.revision, 1)
    const other = await client.schedules.put('acme', { ...HOURLY, cron: '45 * * * *' })
    assert.equal(other.revision, 2)
    assert.equal(other.nextAt, NOON + 45 * MINUTE)
    assert.deepEqual(
      events.map(({ type }) => type),
      ['schedule.created', 'schedule.changed'],
    )
  })

  test('reaches the instances at once', async () => {
    const { client, store } = await openClient()
    let told = 0
    const stop = store.watch(() => told++)
    await client.schedules.create('acme', HOURLY)
    await client.schedules.createMany([['other', HOURLY]])
    await client.schedules.trigger('acme')
    await new Promise(setImmediate)
    stop()
    assert.equal(told, 3)
  })

  test('is replaced only if it exists, and the error suggests which was meant', async () => {
    const { client } = await openClient()
    await client.schedules.create('acme-billing', HOURLY)
    await assert.rejects(client.schedules.replace('acme-biling', HOURLY), {
      code: 'SCHEDULE_NOT_FOUND',
      message: /"acme-biling"/,
      hint: 'Did you mean acme-billing?',
    })
    const replaced = await client.schedules.replace('acme-billing', { ...HOURLY, input: { plan: 'pro' } })
    assert.deepEqual(replaced.input, { plan: 'pro' })
  })

  test('that does not exist is reported by every command', async () => {
    const { client } = await openClient()
    const { schedules, fires, runs } = client
    const fire = { schedule: 'gone', dueAt: NOON }
    const commands = [
      schedules.get('gone'),
      schedules.remove('gone'),
      schedules.pause('gone'),
      schedules.resume('gone'),
      schedules.trigger('gone'),
      schedules.skipNext('gone', { dueAt: NOON }),
      schedules.backfill('gone', { from: 0, to: 1 }),
      fires.retry(fire),
      fires.cancel(fire),
      runs.cancel('gone', '1'),
    ]
    for (const command of commands) await assert.rejects(command, { code: 'SCHEDULE_NOT_FOUND', hint: /List/ })
    assert.equal(await schedules.find('gone'), null)
  })

  test('has options that every command checks', async () => {
    const { client } = await openClient()
    await client.schedules.create('acme', HOURLY)
    const refused: [Promise<unknown>, string][] = [
      [client.schedules.pause('acme', { notes: 'x' } as never), 'OPTION_UNKNOWN'],
      [client.schedules.pause('acme', { note: 'x'.repeat(1_001) }), 'OPTION_INVALID'],
      [client.schedules.pause('acme', { missed: 'none' as never }), 'OPTION_INVALID'],
      [client.schedules.pause('acme', { until: NOON }), 'OPTION_INVALID'],
      [client.schedules.resume('acme', 'all' as never), 'OPTION_INVALID'],
      [client.schedules.remove('acme', { force: 1 as never }), 'OPTION_INVALID'],
      [client.schedules.trigger('acme', { inputs: 1 } as never), 'OPTION_UNKNOWN'],
      [client.schedules.trigger('acme', { dedupe: 'x'.repeat(201) }), 'NAME_INVALID'],
      [client.schedules.trigger('acme', { overlap: 'skip' as never }), 'OPTION_INVALID'],
      [client.schedules.skipNext('acme', {} as never), 'OPTION_INVALID'],
      [client.schedules.backfill('acme', { from: 1, to: 0 }), 'OPTION_CONFLICT'],
      [client.schedules.list({ limit: 1_001 }), 'OPTION_INVALID'],
      [client.schedules.list({ limit: 0 }), 'OPTION_INVALID'],
      [client.schedules.list({ state: 'running' as never }), 'OPTION_INVALID'],
      [client.schedules.list({ after: 5 as never }), 'OPTION_INVALID'],
      [client.schedules.create('acme', HOURLY, { transaction: 1 } as never), 'OPTION_UNKNOWN'],
      [client.schedules.get(''), 'NAME_INVALID'],
      [client.fires.list({ outcome: 'done' as never }), 'OPTION_INVALID'],
      [client.fires.get({ schedule: 'acme' } as never), 'OPTION_INVALID'],
      [client.fires.get(null as never), 'OPTION_INVALID'],
      [client.runs.get('acme', 'x'), 'OPTION_INVALID'],
      [client.instances.drain('', true), 'NAME_INVALID'],
    ]
    for (const [command, code] of refused) await assert.rejects(command, { code })
  })

  test('needs a store with transactions to be exactly-once', async () => {
    const { client } = await openClient({
      wrap: (store) => ({ ...store, info: { ...store.info, transactions: false } }),
    })
    await assert.rejects(client.schedules.create('acme', { ...HOURLY, guarantee: 'exactly-once' }), {
      code: 'STORE_CANNOT_TRANSACT',
    })
  })

  test('has the policies of its job where it sets none', async () => {
    const { client } = await openClient({ defaultsOf: (job) => (job === 'billing' ? { timeout: '1h' } : undefined) })
    const { policy } = await client.schedules.create('acme', HOURLY)
    assert.equal(policy.timeout.runMs, HOUR)
    const other = await client.schedules.create('other', { ...HOURLY, job: 'other' })
    assert.equal(other.policy.timeout.runMs, null)
  })

  test("has an input that fits its job's schema", async () => {
    const wanted: StandardSchema = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (value) => (typeof value === 'string' ? { value } : { issues: [{ message: 'expected a text' }] }),
      },
    }
    const { client } = await openClient({ inputSchemaOf: (job) => (job === 'billing' ? wanted : undefined) })
    const unfit = { code: 'INPUT_INVALID', message: /expected a text/ }
    await assert.rejects(client.schedules.create('acme', { ...HOURLY, input: 5 }), unfit)
    await assert.rejects(client.schedules.create('acme', HOURLY), unfit)
    await client.schedules.create('acme', { ...HOURLY, input: 'x' })
    await assert.rejects(client.schedules.trigger('acme', { input: null }), unfit)
    await client.schedules.trigger('acme')

    // A schedule that is only triggered may leave the input to the trigger call.
    await client.schedules.create('manual', { job: 'billing' })
    await assert.rejects(client.schedules.trigger('manual'), unfit)
    await client.schedules.trigger('manual', { input: 'x' })
  })

  test('is created in a transaction of its user, or not at all', async () => {
    const { client, source, events } = await openClient()
    const lost = source.transaction(async (tx) => {
      await client.schedules.create('acme', HOURLY, { tx })
      throw new Error('rolled back')
    })
    await assert.rejects(lost, /rolled back/)
    assert.equal(await client.schedules.find('acme'), null)

    await source.transaction(async (tx) => {
      await client.schedules.create('acme', HOURLY, { tx })
    })
    assert.equal((await client.schedules.get('acme')).nextAt, NOON)
    assert.deepEqual(events, [])
  })

  test('is removed, and can be made again', async () => {
    const { client, events } = await openClient()
    await client.schedules.create('acme', { job: 'billing' })
    await client.schedules.remove('acme')
    assert.equal(await client.schedules.find('acme'), null)
    await client.schedules.create('acme', { job: 'billing' })
    assert.deepEqual(
      events.map(({ type }) => type),
      ['schedule.created', 'schedule.removed', 'schedule.created'],
    )
  })

  test('that was made again is changed although its predecessor left an instant on record', async () => {
    const { client, clock } = await openClient()
    const dueAt = NOON + 30 * MINUTE
    await client.schedules.create('acme', { ...HOURLY, cron: '30 * * * *' })
    await client.schedules.skipNext('acme', { dueAt })
    await client.schedules.remove('acme')
    await client.schedules.create('acme', { ...HOURLY, cron: '30 * * * *' })
    clock.now = dueAt + 1
    const paused = await client.schedules.pause('acme')
    assert.deepEqual([paused.state, paused.nextAt], ['paused', dueAt + HOUR])
    assert.equal((await client.fires.get({ schedule: 'acme', dueAt })).reason, 'skipped-by-operator')
  })

  test('that runs is removed by force only', async () => {
    const { client, work } = await openClient()
    await client.schedules.create('acme', HOURLY)
    assert.equal((await work('acme')).length, 1)
    await assert.rejects(client.schedules.remove('acme'), (error: { code: string; hint: string }) => {
      assert.match(error.code, /^[A-Z_]+$/)
      return error.hint.length > 0
    })
    await client.schedules.remove('acme', { force: true })
    assert.equal(await client.schedules.find('acme'), null)
  })
})

describe('a pause', () => {
  test('records the author and the note, and ends when an operator resumes', async () => {
    const { client, clock } = await openClient()
    await client.schedules.create('acme', { ...HOURLY, cron: '30 * * * *' })
    const paused = await client.schedules.pause('acme', { note: 'migration', author: 'ann', until: NOON + 90 * MINUTE })
    assert.equal(paused.state, 'paused')
    const until = { untilAt: NOON + 90 * MINUTE, note: 'migration', author: 'ann', missed: 'skip' }
    assert.deepEqual(paused.pause, { at: NOON, ...until })
    assert.equal((await client.schedules.list({ state: 'paused' })).items.length, 1)

    clock.now += HOUR
    const resumed = await client.schedules.resume('acme')
    assert.equal(resumed.state, 'active')
    assert.equal(resumed.nextAt, NOON + 90 * MINUTE)
    const { items } = await client.fires.list({ schedule: 'acme' })
    assert.deepEqual(
      items.map(({ dueAt, state, reason }) => ({ dueAt, state, reason })),
      [{ dueAt: NOON + 30 * MINUTE, state: 'skipped', reason: 'paused' }],
    )
    assert.equal((await client.schedules.resume('acme')).state, 'active')
  })

  test('ends as chosen when it was paused, unless resume overrides it', async () => {
    const { client, clock } = await openClient()
    for (const name of ['as-meant', 'otherwise']) {
      await client.schedules.create(name, { ...HOURLY, cron: '30 * * * *' })
      await client.schedules.pause(name, { missed: 'latest' })
    }
    clock.now += HOUR
    assert.equal((await client.schedules.resume('as-meant')).open.length, 1)
    assert.equal((await client.schedules.resume('otherwise', { missed: 'skip' })).open.length, 0)
  })

  test('that was long is resumed however many instants fell into it', async () => {
    const { client, clock } = await openClient()
    await client.schedules.create('acme', { job: 'billing', every: '1s', start: NOON + 1 })
    await client.schedules.pause('acme')
    clock.now += DAY
    const resumed = await client.schedules.resume('acme', { missed: 'latest' })
    assert.equal(resumed.pause, null)
    assert.equal(resumed.open.length, 1)
    const skipped = await toArray(client.fires.all({ schedule: 'acme', outcome: 'skipped' }))
    const count = skipped.reduce((sum, { range }) => sum + (range?.count ?? 1), 0)
    assert.equal(count, 86_399)
    assert.ok(skipped.length < 20)
  })
})

describe('the next instant', () => {
  test('is skipped only if it is the one that was seen', async () => {
    const { client } = await openClient()
    await client.schedules.create('acme', { ...HOURLY, cron: '30 * * * *' })
    const dueAt = NOON + 30 * MINUTE
    await assert.rejects(client.schedules.skipNext('acme', { dueAt: NOON }), { code: 'NEXT_CHANGED' })
    assert.equal((await client.schedules.skipNext('acme', { dueAt })).nextAt, dueAt + HOUR)
    await assert.rejects(client.schedules.skipNext('acme', { dueAt }), { code: 'NEXT_CHANGED' })
    const fire = await client.fires.get({ schedule: 'acme', dueAt })
    assert.equal(fire.reason, 'skipped-by-operator')
  })
})

describe('lists', () => {
  test('go by page, or all at once', async () => {
    const { client } = await openClient()
    for (let index = 0; index < 25; index++) {
      const tenant = index % 2 === 0 ? 'even' : 'odd'
      await client.schedules.create(`s${String(index).padStart(2, '0')}`, { ...HOURLY, tenant })
    }
    const first = await client.schedules.list({ limit: 10 })
    const second = await client.schedules.list({ limit: 10, after: first.next! })
    const third = await client.schedules.list({ limit: 10, after: second.next! })
    const names = [first, second, third].flatMap(({ items }) => items.map(({ name }) => name))
    assert.deepEqual(
      names,
      (await toArray(client.schedules.all())).map(({ name }) => name),
    )
    assert.equal(names.length, 25)
    assert.equal(third.next, null)
    assert.equal((await toArray(client.schedules.all({ tenant: 'odd' }))).length, 12)
    assert.equal((await client.schedules.list({ prefix: 's1' })).items.length, 10)
    assert.equal((await client.schedules.list({ job: 'other' })).items.length, 0)
    await assert.rejects(client.schedules.list({ after: 'nonsense' }), { code: 'CURSOR_INVALID' })
  })
})
