import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { AppRecord, DeploymentRecord } from '../../src/model/app.ts'
import type { Json } from '../../src/model/json.ts'
import { JobThresholds } from '../../src/watch/job-thresholds.ts'
import { THRESHOLDS } from '../../src/watch/rules/thresholds.ts'
import type { App } from '../engine/fleet.ts'
import { watchedFleet } from './fleet.ts'

const fail = (): never => {
  throw new Error('no')
}

describe('the option watch of a job', () => {
  test('counts if another process of the app watches, also for schedules that a client made', async () => {
    const fleet = await watchedFleet()
    await fleet.add((app) => app.job('report', { cron: '* * * * *', watch: { failing: false } }, fail))
    await fleet.watched((app) => app.job('mail', {}, () => {}), { watch: { silent: false } })
    await fleet.operator.schedules.create('daily', { job: 'report', cron: '* * * * *' })
    await fleet.advance('20m')
    assert.deepEqual(fleet.titles(), [])
    fleet.end()
  })

  test('moves a threshold, too', async () => {
    const fleet = await watchedFleet()
    await fleet.add((app) => app.job('report', { cron: '* * * * *', watch: { failing: 10 } }, fail))
    await fleet.watched((app) => app.job('mail', {}, () => {}), { watch: { silent: false } })
    await fleet.advance('9m')
    assert.deepEqual(fleet.titles(), [])
    await fleet.advance('10m')
    assert.deepEqual(fleet.fired(), ['failing'])
    fleet.end()
  })

  test('is that of the release that was deployed last', async () => {
    const fleet = await watchedFleet()
    const declare = (count: number) => (app: App) =>
      app.job('report', { cron: '* * * * *', watch: { failing: count } }, fail)
    const first = await fleet.add(declare(1_000))
    await fleet.watched((app) => app.job('mail', {}, () => {}), { watch: { silent: false } })
    await fleet.advance('10m')
    assert.deepEqual(fleet.titles(), [])
    await first.app.stop()
    await fleet.add(declare(3), { deployment: 'v2' })
    await fleet.advance('10m')
    assert.deepEqual(fleet.fired(), ['failing'])
    fleet.end()
  })

  test('is recorded once by each process, even if two of one release differ', async () => {
    const fleet = await watchedFleet()
    for (const failing of [5, 6]) await fleet.add((app) => app.job('report', { watch: { failing } }, () => {}))
    await fleet.advance('5m')
    const record = () => fleet.source.data.namespaces.get('default')!.apps.get('shop')!
    const { version } = record()
    await fleet.advance('30m')
    assert.equal(record().version, version)
    assert.deepEqual(record().deployments[0]!.watch, { report: { failing: 6 } })
    fleet.end()
  })

  test('is removed with the option', async () => {
    const fleet = await watchedFleet()
    const first = await fleet.add((app) => app.job('report', { watch: { failing: 5 } }, () => {}))
    await first.app.stop()
    await fleet.add((app) => app.job('report', {}, () => {}))
    const [deployment] = fleet.source.data.namespaces.get('default')!.apps.get('shop')!.deployments
    assert.equal(deployment!.watch, undefined)
    fleet.end()
  })

  test('is found by the name of the job on a host, and what is not understood is left out', () => {
    const deployment = (number: number, watch: Readonly<Record<string, Json>>, lost = false) =>
      ({ number, declares: ['mail', 'report@*'], watch, lost }) as unknown as DeploymentRecord
    const deployments = [
      deployment(2, { report: { failing: 7 }, mail: { 'rule-of-a-later-version': 1 } }),
      deployment(1, { report: { failing: 8 } }),
      deployment(3, { report: { failing: 9 } }, true),
    ]
    const thresholds = new JobThresholds(THRESHOLDS)
    thresholds.adopt({ version: 4, deployments } as unknown as AppRecord)
    assert.deepEqual(thresholds.of('report@web-1').failing, { count: 7 })
    assert.equal(thresholds.of('mail'), THRESHOLDS)
    assert.equal(thresholds.of('other'), THRESHOLDS)
  })
})
