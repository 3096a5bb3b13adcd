import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { AlertsOptions } from '../../src/alerts.ts'
import type { Declare, Member } from '../engine/fleet.ts'
import { type WatchedFleet, watchedFleet } from './fleet.ts'

const DAY_MS = 86_400_000
/** One of these is what a look asks while nothing is wrong. */
const LOOKS = ['listEnds', 'listSchedules', 'listRecords'] as const
const WATCH = { clock: false, silent: false, overdue: false, late: false, missed: false } as const

/** Three instances with a job that fails until it is repaired. */
async function brokenFleet(alerts: AlertsOptions = {}): Promise<WatchedFleet & { repair(): void }> {
  let isBroken = true
  const declare: Declare = (app) =>
    app.job('report', '* * * * *', () => {
      if (isBroken) throw new Error('no')
    })
  const fleet = await watchedFleet()
  for (let count = 0; count < 3; count++) await fleet.watched(declare, { watch: WATCH, alerts })
  const repair = (): void => {
    isBroken = false
  }
  return { ...fleet, repair }
}

/** The instance that has looked for what ended: only the watching one does. */
function watcherOf({ members }: WatchedFleet): Member {
  const looks = ({ link }: Member): number => link.calls.get('listEnds') ?? 0
  return members.toSorted((one, other) => looks(other) - looks(one))[0]!
}

describe('a watching instance', () => {
  test('goes on after a look that was never answered', async () => {
    const fleet = await brokenFleet()
    for (const { link } of fleet.members) link.fail('listEnds', { kind: 'request-lost' })
    await fleet.advance('30m')
    assert.deepEqual(fleet.fired(), ['failing'])
    fleet.repair()
    await fleet.advance('20m')
    assert.deepEqual(fleet.resolved(), ['failing'])
    fleet.end()
  })

  test('that was drained in a look does not end what its successor has reported meanwhile', async () => {
    const fleet = await watchedFleet()
    let isBroken = false
    const declare: Declare = (app) =>
      app.job('report', '* * * * *', () => {
        if (isBroken) throw new Error('no')
      })
    const options = { watch: WATCH, lease: 600_000, settings: { watchMs: 15_000 } }
    for (let count = 0; count < 2; count++) await fleet.watched(declare, options)
    await fleet.advance('2m')
    const watcher = watcherOf(fleet)
    const back = watcher.link.disturb(() => ({ kind: 'throws' }))
    await fleet.advance('90s')
    back()
    for (const call of LOOKS) watcher.link.fail(call, { kind: 'slow', answerMs: 4 * 60_000 })
    await fleet.advance('20s')
    const live = await fleet.operator.instances.list()
    await fleet.operator.instances.drain(live.find(({ id }) => id.startsWith(`${watcher.name}.`))!.id)
    isBroken = true
    await fleet.advance('230s')
    assert.deepEqual(fleet.fired(), ['failing'])
    await fleet.advance('5m')
    assert.deepEqual(fleet.titles(), ['cronce firing: failing, report (app shop)'])
    fleet.end()
  })
})

describe('the clock of the store is set back by a day', () => {
  test('before a message is sent: it is sent all the same', async () => {
    const fleet = await brokenFleet({ gather: '5m' })
    for (let second = 0; second < 3_600 && fleet.events('alert.fired').length === 0; second++) await fleet.advance('1s')
    assert.deepEqual(fleet.titles(), [])
    fleet.stepStore(-DAY_MS)
    await fleet.advance('10m')
    assert.deepEqual(fleet.fired(), ['failing'])
    fleet.end()
  })

  test('after a problem was over: the alert ends within minutes', async () => {
    const fleet = await brokenFleet()
    await fleet.advance('20m')
    fleet.repair()
    await fleet.advance('2m')
    fleet.stepStore(-DAY_MS)
    await fleet.advance('20m')
    assert.deepEqual(fleet.resolved(), ['failing'])
    fleet.end()
  })

  test('an alert that goes on is repeated as before', async () => {
    const fleet = await brokenFleet()
    await fleet.advance('20m')
    fleet.stepStore(-DAY_MS)
    await fleet.advance('5h')
    assert.deepEqual(
      fleet.messages.map(({ kind }) => kind),
      ['firing', 'repeat'],
    )
    fleet.end()
  })
})
