import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ScheduleView } from '../../src/client/views.ts'
import type { FireEnd } from '../../src/model/record.ts'
import { duplicate } from '../../src/watch/rules/duplicate.ts'
import { watchedFleet } from './fleet.ts'

const MINUTE_MS = 60_000
const NAME = 'cronce:heartbeat:shop'

const nothing = (): void => {}

describe('silent, for the heartbeat of the app', () => {
  test('fires if it does not come for two periods, since nothing has room for it, and resolves when it does', async () => {
    const fleet = await watchedFleet()
    let open: () => void = nothing
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    await fleet.watched((app) => app.job('long', {}, () => gate), { heartbeat: '1m', concurrency: 1 })
    await fleet.advance('20m')
    assert.deepEqual(fleet.titles(), [])
    await fleet.operator.schedules.trigger('long')
    await fleet.advance('8m')
    assert.deepEqual(fleet.fired(), ['silent'])
    assert.match(fleet.messages[0]!.text, /^- cronce:heartbeat:shop: no heartbeat for \d+ min, one is due every 60 s/)
    assert.equal(fleet.messages[0]!.command, `cronce runs ${NAME}`)
    open()
    await fleet.advance('8m')
    assert.deepEqual(fleet.resolved(), ['silent'])
    assert.equal(fleet.messages.length, 2)
    fleet.end()
  })

  test('fires if the only process that had it has ended, although another one watches', async () => {
    const fleet = await watchedFleet()
    const only = await fleet.watched((app) => app.job('mail', {}, nothing), { heartbeat: '1m' })
    await fleet.watched((app) => app.job('report', '*/5 * * * *', nothing), { watch: { fleet: { deaths: 3 } } })
    await fleet.advance('10m')
    assert.deepEqual(fleet.titles(), [])
    only.crash()
    await fleet.advance('10m')
    assert.ok(fleet.fired().includes('silent'), fleet.titles().join())
    fleet.end()
  })

  test('does not fire for a first one to come, nor for a planned deploy', async () => {
    const fleet = await watchedFleet()
    const declare = (app: Parameters<Parameters<typeof fleet.watched>[0]>[0]) => app.job('report', {}, nothing)
    const first = await fleet.watched(declare, { heartbeat: '10m' })
    await fleet.advance('35m')
    await first.app.stop()
    await fleet.advance('5m')
    await fleet.watched(declare, { heartbeat: '10m', deployment: 'v2' })
    await fleet.advance('35m')
    assert.deepEqual(fleet.titles(), [])
    fleet.end()
  })

  test('is looked for even if the pages of all schedules take an hour', async () => {
    const fleet = await watchedFleet({ isQuiet: true })
    const later = { job: 'report', at: fleet.now() + 365 * 24 * 60 * MINUTE_MS }
    const many = Array.from({ length: 5_000 }, (_, index) => [`a${index}`, later] as const)
    await fleet.watched((app) => app.job('report', {}, () => new Promise<void>(nothing)), {
      heartbeat: '1m',
      concurrency: 1,
    })
    await fleet.operator.schedules.createMany(many)
    await fleet.advance('5m')
    await fleet.operator.schedules.trigger('report')
    await fleet.advance('10m')
    assert.deepEqual(fleet.fired(), ['silent'])
    fleet.end()
  })

  test('costs the watchdog no further call while it comes', async () => {
    const fleet = await watchedFleet()
    const member = await fleet.watched((app) => app.job('report', {}, nothing), { heartbeat: '1m' })
    await fleet.advance('10m')
    const looks = ['listSchedules', 'listEnds', 'listLatest'] as const
    const count = () => looks.reduce((sum, name) => sum + (member.link.calls.get(name) ?? 0), 0)
    const before = count()
    await fleet.advance('30m')
    assert.equal(count() - before, 30)
    fleet.end()
  })
})

describe('duplicate', () => {
  test('fires if an old server in another namespace writes the heartbeat of the app, and resolves when it stops', async () => {
    const fleet = await watchedFleet()
    const old = { namespace: 'old', alerts: undefined, heartbeat: '1m' } as const
    const forgotten = await fleet.add((app) => app.job('report', '*/5 * * * *', nothing), old)
    await fleet.watched((app) => app.job('report', '*/5 * * * *', nothing), { heartbeat: '1m' })
    await fleet.advance('30m')
    assert.deepEqual(fleet.fired(), ['duplicate'])
    assert.match(
      fleet.messages[0]!.text,
      /^- cronce:heartbeat:shop: the namespace old of the same store writes it as well/,
    )
    assert.equal(fleet.messages[0]!.severity, 'critical')
    await forgotten.app.stop()
    await fleet.advance('15m')
    assert.deepEqual(fleet.resolved(), ['duplicate'])
    assert.equal(fleet.messages.length, 2)
    fleet.end()
  })

  test('both fleets find each other, and the watcher that takes over does not report it again', async () => {
    const fleet = await watchedFleet()
    const declare = (app: Parameters<Parameters<typeof fleet.watched>[0]>[0]) => app.job('report', {}, nothing)
    const instances = await Promise.all([1, 2].map(() => fleet.watched(declare, { heartbeat: '1m' })))
    await fleet.watched(declare, { heartbeat: '1m', namespace: 'copy' })
    await fleet.advance('20m')
    assert.deepEqual(fleet.messages.map(({ namespace, rule }) => `${namespace} ${rule}`).sort(), [
      'copy duplicate',
      'default duplicate',
    ])
    instances[0]!.crash()
    await fleet.advance('20m')
    instances[1]!.crash()
    await fleet.watched(declare, { heartbeat: '1m' })
    await fleet.advance('20m')
    assert.deepEqual(fleet.fired(), ['duplicate', 'duplicate'])
    fleet.end()
  })

  test('does not fire for a rolling deploy, an app of another name, nor a namespace that this one follows', async () => {
    const fleet = await watchedFleet()
    const declare = (app: Parameters<Parameters<typeof fleet.watched>[0]>[0]) => app.job('report', {}, nothing)
    await fleet.watched(declare, { heartbeat: '1m', namespace: 'staging', app: 'other' })
    const before = await fleet.add(declare, { heartbeat: '1m', namespace: 'before' })
    await fleet.advance('10m')
    await before.app.stop()
    const first = await fleet.watched(declare, { heartbeat: '1m' })
    await fleet.advance('10m')
    await fleet.watched(declare, { heartbeat: '1m', deployment: 'v2' })
    await fleet.advance('5m')
    await first.app.stop()
    await fleet.advance('20m')
    assert.deepEqual(fleet.titles(), [])
    fleet.end()
  })

  test('does not fire if the app switches it off', async () => {
    const fleet = await watchedFleet()
    const declare = (app: Parameters<Parameters<typeof fleet.watched>[0]>[0]) => app.job('report', {}, nothing)
    await fleet.add(declare, { heartbeat: '1m', namespace: 'old' })
    await fleet.watched(declare, { heartbeat: '1m', watch: { duplicate: false } })
    await fleet.advance('20m')
    assert.deepEqual(fleet.titles(), [])
    fleet.end()
  })
})

describe('duplicate, for work of app.detect()', () => {
  test('fires if a second host executes it, stays one alert, and resolves once it is executed once', async () => {
    const fleet = await watchedFleet()
    await fleet.watched((app) => app.job('report', {}, nothing))
    const hosts = [fleet.make(nothing), fleet.make(nothing)]
    const execute = async (count: number): Promise<void> => {
      for (const { app } of hosts.slice(0, count))
        await fleet.world.until(app.detect('nightly', { window: '1m' }, nothing))
      await fleet.advance(20 * MINUTE_MS)
    }
    await execute(1)
    assert.deepEqual(fleet.titles(), [])
    for (let round = 0; round < 4; round++) await execute(2)
    assert.deepEqual(fleet.fired(), ['duplicate'])
    assert.match(
      fleet.messages[0]!.text,
      /^- cronce:detect:nightly: executed again within its window, by process \d+ on /,
    )
    assert.equal(fleet.messages[0]!.command, 'cronce duplicates')
    await execute(1)
    assert.deepEqual(fleet.resolved(), ['duplicate'])
    assert.equal(fleet.messages.length, 2)
    fleet.end()
  })

  test('is over a day after the last execution, and not before', () => {
    const schedule = { name: 'cronce:detect:nightly', job: 'cronce:detect' } as ScheduleView
    const history = [{ outcome: 'skipped', reason: 'overlap', endedAt: 0 } as FireEnd]
    const after = (hours: number) =>
      duplicate({ now: hours * 60 * MINUTE_MS, schedule, history, ends: null, instances: [] })
    assert.deepEqual([after(25), after(27)], ['unknown', 'fine'])
  })
})
