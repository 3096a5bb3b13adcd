import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet, type Declare, type Fleet } from './fleet.ts'

const every =
  (minutes: number): Declare =>
  (app) =>
    app.job('bill', `*/${minutes} * * * *`, () => {})

const expressionOf = async (fleet: Fleet): Promise<unknown> => {
  const { trigger } = await fleet.operator.schedules.get('bill')
  return trigger?.kind === 'cron' ? trigger.expression : trigger
}

for (const probes of [false, true]) {
  const title = probes ? 'whose death was noticed at once' : 'that was silent for a lease'

  test(`a process ${title} finds a newer release when it goes on, and does not replace it`, async () => {
    const fleet = await createFleet({ probes })
    const oldest = await fleet.add(every(1), { deployment: 'v0' })
    const old = await fleet.add(every(2), { deployment: 'v1' })
    await fleet.advance('70s')
    // Its hold-down is over while the process of v1 is paused, so that process reads the record as soon as it goes on.
    await fleet.world.until(oldest.app.stop())
    await fleet.advance('20s')
    old.isSessionLost = true
    old.pause()
    await fleet.advance('1s')
    await fleet.add(every(3), { deployment: 'v2' })
    await fleet.advance('3m')
    assert.equal(await expressionOf(fleet), '*/3 * * * *')
    old.isSessionLost = false
    old.link.fail('beat', { kind: 'slow', requestMs: 500 })
    old.resume()
    await fleet.advance('3m')
    assert.equal(fleet.events('instance.fenced', old).length, 1, 'it was declared dead')
    assert.equal(fleet.source.data.namespaces.get('default')?.apps.get('shop')?.active, 'v2')
    assert.equal(await expressionOf(fleet), '*/3 * * * *')
    fleet.end()
  })
}

test('a release that died early counts after a whole hold-down in which its process was not declared dead', async () => {
  const fleet = await createFleet({ probes: true })
  await fleet.add(every(2), { deployment: 'v1' })
  const early = await fleet.add(every(3), { deployment: 'v2' })
  await fleet.advance('10s')
  early.crash()
  await fleet.advance('3m')
  assert.equal(await expressionOf(fleet), '*/2 * * * *')
  const again = await fleet.add(every(3), { deployment: 'v2' })
  await fleet.advance('25s')
  again.isSessionLost = true
  await fleet.advance('15s')
  again.isSessionLost = false
  const fenced = fleet.told.filter(({ member, event }) => member === again && event.type === 'instance.fenced')
  assert.ok(fenced.length > 0, 'it was declared dead')
  await fleet.advance('40s')
  assert.equal(await expressionOf(fleet), '*/2 * * * *', 'the hold-down is not over')
  await fleet.advance('1m')
  assert.equal(await expressionOf(fleet), '*/3 * * * *')
  fleet.end()
})

test('a process that was declared dead and reads the record before it joins again has not been live for the hold-down', async () => {
  const fleet = await createFleet({ probes: true })
  await fleet.add(every(2), { deployment: 'v1' })
  const early = await fleet.add(every(3), { deployment: 'v2' })
  await fleet.advance('10s')
  early.crash()
  await fleet.advance('3m')
  const again = await fleet.add(every(3), { deployment: 'v2' })
  await fleet.advance('30s')
  again.isSessionLost = true
  again.pause()
  await fleet.advance('2m')
  again.isSessionLost = false
  again.link.fail('beat', { kind: 'slow', requestMs: 500 })
  again.resume()
  await fleet.advance('50s')
  assert.equal(fleet.events('instance.fenced', again).length, 1, 'it was declared dead')
  assert.equal(await expressionOf(fleet), '*/2 * * * *', 'the hold-down is not over')
  await fleet.advance('1m')
  assert.equal(await expressionOf(fleet), '*/3 * * * *')
  fleet.end()
})
