import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Cronce } from 'cronce'
import { testKit } from 'cronce/testing'
import { createHandler, type Decision } from '../src/index.ts'
import { apiOf, ask as askHandler, codeOf, eventually } from './kit.ts'

const DAY_MS = 86_400_000

describe('access over HTTP', () => {
  test('lists what the caller may do, and nothing else', async (context) => {
    let decision: Decision = { level: 'operate', author: 'ada' }
    const { ask } = apiOf(context, { access: () => decision })
    const operator = (await ask('GET', '/api/v1/access')).body
    assert.deepEqual([operator.level, operator.author], ['operate', 'ada'])
    assert.ok(operator.operations.includes('pauseSchedule') && operator.operations.includes('listFires'))
    decision = 'read'
    const reader = (await ask('GET', '/api/v1/access')).body
    assert.deepEqual([reader.level, reader.author], ['read', null])
    assert.ok(reader.operations.includes('listFires'))
    assert.ok(!reader.operations.includes('pauseSchedule') && !reader.operations.includes('triggerSchedule'))
    assert.ok(!operator.operations.includes('receiveFire'), 'deliveries are for other programs')
  })
})

describe('the audit report over HTTP', () => {
  test('is what the file of the option audit has now, for callers who see all schedules', async (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'cronce-audit-'))
    context.after(() => rmSync(folder, { recursive: true }))
    const audit = join(folder, 'audit.sarif')
    let decision: Decision = 'read'
    const { ask } = apiOf(context, { audit, access: () => decision })
    const look = async () => (await ask('GET', '/api/v1/audit')).body
    assert.match((await look()).problem, /no file/)
    writeFileSync(audit, '{ "runs"')
    assert.match((await look()).problem, /not JSON/)
    writeFileSync(audit, ' '.repeat(8 * 1024 * 1024 + 1))
    assert.match((await look()).problem, /8388609 bytes/)
    const report = { version: '2.1.0', runs: [{ results: [{ ruleId: 'overlap' }] }] }
    writeFileSync(audit, JSON.stringify(report))
    const found = await look()
    assert.deepEqual([found.report, found.problem], [report, null])
    assert.ok(Math.abs(found.writtenAt - Date.now()) < DAY_MS)
    decision = { level: 'read', visible: () => true }
    assert.equal(codeOf(await ask('GET', '/api/v1/audit')), '403 ACCESS_RIGHT_MISSING')
    const without = await apiOf(context).ask('GET', '/api/v1/audit')
    assert.deepEqual(without.body, { report: null, writtenAt: null, problem: null })
  })
})

describe('late runs over HTTP', () => {
  test('are those that started as late as was asked for, in pages of the runs that were read', async (context) => {
    const kit = testKit()
    const app = kit.app()
    app.job('slow', { every: '1m', overlap: 'queue' }, () => kit.clock.sleep(100_000))
    await app.start()
    await kit.advance('10m')
    const handler = createHandler(app as unknown as Cronce, { access: () => 'read', readTimeout: 600_000 })
    context.after(async () => {
      const stopping = app.stop()
      await kit.advance('5m')
      await stopping
    })
    const { items: all } = (await askHandler(handler, 'GET', '/api/v1/runs')).body
    const lateness = all.map(({ latenessMs }: { latenessMs: number }) => latenessMs)
    const late = lateness.filter((ms: number) => ms >= 30_000)
    assert.ok(late.length > 0 && late.length < all.length, `late by ${lateness}`)
    const found = (await askHandler(handler, 'GET', '/api/v1/runs?lateBy=30000')).body
    assert.deepEqual(
      found.items.map(({ latenessMs }: { latenessMs: number }) => latenessMs),
      late,
    )
    const [first] = (await askHandler(handler, 'GET', '/api/v1/runs?lateBy=30000&limit=1')).body.items
    assert.equal(first?.latenessMs, lateness[0] >= 30_000 ? lateness[0] : undefined)
  })
})

describe('strips over HTTP', () => {
  test('have the latest fires of each schedule, with the duration of the last run', async (context) => {
    const { app, ask } = apiOf(context)
    let isFailing = false
    app.job('mail', {}, async () => {
      if (isFailing) throw new Error('no')
    })
    await app.start()
    await app.schedules.trigger('mail', { dedupe: 'one' })
    await eventually(async () => (await app.runs.list({ outcome: 'succeeded' })).items.length === 1)
    isFailing = true
    await app.schedules.trigger('mail', { dedupe: 'two' })
    await eventually(async () => (await app.fires.list({ outcome: 'failed' })).items.length === 1)
    const names = encodeURIComponent(JSON.stringify(['mail', 'nobody']))
    const { items } = (await ask('GET', `/api/v1/strips?names=${names}`)).body
    assert.deepEqual(
      items.map(({ schedule, fires }: { schedule: string; fires: { state: string }[] }) => [
        schedule,
        fires.map(({ state }) => state),
      ]),
      [
        ['mail', ['failed', 'succeeded']],
        ['nobody', []],
      ],
    )
    assert.equal(typeof items[0].fires[1].durationMs, 'number')
    assert.equal(items[0].usualMs, items[0].fires[1].durationMs)
    assert.equal((await ask('GET', `/api/v1/strips?names=${names}&limit=1`)).body.items[0].fires.length, 1)
  })

  test('are for 1 to 50 schedules', async (context) => {
    const { ask } = apiOf(context)
    for (const names of ['mail', '[]', '[1]', JSON.stringify(Array(51).fill('a'))]) {
      const asked = await ask('GET', `/api/v1/strips?names=${encodeURIComponent(names)}`)
      assert.equal(codeOf(asked), '400 OPTION_INVALID')
    }
  })
})

describe('the past over HTTP', () => {
  test('is in buckets with the worst outcome of each, and in counts by hour', async () => {
    const kit = testKit({ now: '2027-01-01T00:00:00Z' })
    const start = kit.now()
    const app = kit.app()
    app.job('mail', { every: '10m' }, (run) => {
      if (Number(run.fire.dueAt) === start + 100 * 60_000) throw new Error('no')
    })
    await app.start()
    await kit.advance('3h')
    await app.schedules.pause('mail')
    await kit.advance('1h')
    await app.schedules.resume('mail')
    await kit.advance('1h')
    const handler = createHandler(app, { access: () => 'read', logger: false })
    const path = `/api/v1/schedules/mail/buckets?from=${start + 1}&to=${start + 5 * 3_600_000 + 1}&buckets=5`
    const { body } = await askHandler(handler, 'GET', path)
    const told = body.items.map(({ worst, counts }: { worst: string; counts: Record<string, number> }) => {
      return [worst, counts['succeeded'], counts['failed'], counts['skipped']]
    })
    assert.deepEqual(told, [
      ['succeeded', 6, 0, 0],
      ['failed', 5, 1, 0],
      ['succeeded', 6, 0, 0],
      ['skipped', 0, 0, 6],
      ['succeeded', 6, 0, 0],
    ])
    assert.deepEqual([body.cut, body.readFrom], [false, start + 1])
    const counts = await askHandler(handler, 'GET', `/api/v1/counts?from=${start}&to=${start + 2 * 3_600_000}`)
    assert.deepEqual(counts.body.items, [
      { hour: start, outcome: 'succeeded', count: 6 },
      { hour: start + 3_600_000, outcome: 'failed', count: 1 },
      { hour: start + 3_600_000, outcome: 'succeeded', count: 5 },
    ])
    for (const wrong of ['schedules/mail/buckets?from=5&to=5', `counts?from=0&to=${start}`])
      assert.equal(codeOf(await askHandler(handler, 'GET', `/api/v1/${wrong}`)), '400 OPTION_INVALID')
    const stopping = app.stop()
    await kit.advance('1m')
    await stopping
  })
})

describe('the calendar over HTTP', () => {
  test('counts fires by hour, and finds those that start together', async (context) => {
    const { ask } = apiOf(context)
    for (const name of ['a', 'b', 'c'])
      await ask('PUT', `/api/v1/schedules/${name}`, { body: { job: 'j', cron: '0 3 * * *', tz: 'UTC' } })
    await ask('PUT', '/api/v1/schedules/d', { body: { job: 'j', cron: '30 4 * * *', tz: 'UTC' } })
    const from = Math.ceil(Date.now() / DAY_MS) * DAY_MS
    const { hours, crowds, cut } = (await ask('GET', `/api/v1/calendar?from=${from}&to=${from + DAY_MS}`)).body
    assert.deepEqual(hours, [
      { at: from + 3 * 3_600_000, count: 3 },
      { at: from + 4 * 3_600_000, count: 1 },
    ])
    assert.deepEqual(crowds, [{ dueAt: from + 3 * 3_600_000, count: 3, schedules: ['a', 'b', 'c'] }])
    assert.equal(cut, false)
  })

  test('does not compute without a bound: a schedule due every second leaves room for the others', async (context) => {
    const { ask } = apiOf(context)
    await ask('PUT', '/api/v1/schedules/often', { body: { job: 'j', every: '1s' } })
    await ask('PUT', '/api/v1/schedules/rare', { body: { job: 'j', cron: '0 3 * * *', tz: 'UTC' } })
    const { hours, cut } = (await ask('GET', '/api/v1/calendar')).body
    assert.equal(cut, true)
    const far = hours.filter(({ at }: { at: number }) => at > Date.now() + 2 * DAY_MS)
    assert.ok(far.length >= 11, 'the rare one is there to the end')
    assert.equal(codeOf(await ask('GET', '/api/v1/calendar?from=0&to=9999999999999')), '400 OPTION_INVALID')
  })
})

describe('the overview over HTTP', () => {
  test('has the fires of a day by half hour, and they are all that it counts', async (context) => {
    const { app, ask } = apiOf(context)
    app.job('mail', {}, async () => {})
    await app.start()
    await app.schedules.trigger('mail')
    await eventually(async () => (await app.fires.list({ outcome: 'succeeded' })).items.length === 1)
    const { slots, fires } = (await ask('GET', '/api/v1/overview')).body
    assert.ok(slots.length === 48 || slots.length === 49)
    const sum = slots.reduce((total: number, slot: { succeeded: number }) => total + slot.succeeded, 0)
    assert.deepEqual([sum, fires.succeeded], [1, 1])
  })
})
