import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet, type Fleet, type Member } from './fleet.ts'

const web = (fleet: Fleet): Member =>
  fleet.make((app) => {
    for (let number = 0; number < 250; number++) app.job(`web-${number}`, {}, () => {})
  })
const worker = (fleet: Fleet): Member => fleet.make((app) => app.job('bill', '* * * * *', () => {}))

const stateOf = async (fleet: Fleet): Promise<string> => (await fleet.operator.schedules.get('bill')).state

test('processes of one deployment with different jobs never retire jobs of each other, whichever starts first', async () => {
  for (const afterMs of [1, 5, 10, 20, 40, 80]) {
    const latency = (random: () => number) => ({ requestMs: 2 + 5 * random(), answerMs: 2 + 5 * random() })
    const fleet = await createFleet({ seed: afterMs + 1, latency })
    const first = web(fleet).app.start()
    await fleet.advance(afterMs)
    await fleet.world.until(Promise.all([first, worker(fleet).app.start()]))
    await fleet.advance('5m')
    assert.equal(await stateOf(fleet), 'active', `${afterMs} ms after`)
    assert.deepEqual(fleet.events('schedule.retired'), [])
    fleet.end()
  }
})

test('a role of a deployment may be away for as long as it likes: what it declared belongs to the deployment', async () => {
  for (const awayMs of [30_000, 600_000]) {
    const fleet = await createFleet()
    const first = worker(fleet)
    await fleet.world.until(Promise.all([web(fleet).app.start(), first.app.start()]))
    await fleet.advance('1m')
    first.pause()
    await fleet.advance(awayMs)
    await fleet.world.until(web(fleet).app.start())
    assert.equal(await stateOf(fleet), 'active')
    first.resume()
    await fleet.advance('1m')
    const before = fleet.handled.length
    await fleet.advance('5m')
    assert.deepEqual([await stateOf(fleet), fleet.handled.length - before], ['active', 5])
    fleet.end()
  }
})

for (const end of ['stop', 'crash'] as const) {
  test(`a job that left the code stays while the deployment is called the same, and goes with the next id: after a ${end}`, async () => {
    const fleet = await createFleet()
    const old = await fleet.add((app) => app.job('bill', '* * * * *', () => {}).job('mail', '* * * * *', () => {}))
    await fleet.advance('1m')
    if (end === 'stop') await fleet.world.until(old.app.stop())
    else old.crash()
    const next = await fleet.add((app) => app.job('mail', '* * * * *', () => {}))
    await fleet.advance('5m')
    assert.equal(await stateOf(fleet), 'active')
    await fleet.add((app) => app.job('mail', '* * * * *', () => {}), { deployment: 'v2' })
    await fleet.world.until(next.app.stop())
    await fleet.advance('3m')
    assert.equal(await stateOf(fleet), 'retired')
    fleet.end()
  })
}
