import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet } from './fleet.ts'

const nothing = (): void => {}

for (const method of ['beat', 'loadApp', 'load'] as const) {
  test(`an app that is a candidate may be stopped while it is starting (${method} is slow)`, async () => {
    const fleet = await createFleet()
    const member = await fleet.add((app) => app.job('bill', '0 3 * * *', nothing))
    member.app.elect('cache')
    const stopped = member.app.stop()
    await fleet.advance('5s')
    await stopped

    const end = member.link.disturb(({ name }) => (name === method ? { kind: 'slow', answerMs: 400 } : null))
    const starting = member.app.start()
    await fleet.advance('50ms')
    const stopping = member.app.stop()
    await fleet.advance('30s')
    await Promise.all([starting, stopping])
    end()
    // An unhandled rejection is reported after this turn, and fails the test.
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(member.app.isLeader('cache'), false)

    const again = member.app.start()
    await fleet.advance('30s')
    await again
    assert.equal(member.app.isLeader('cache'), true)
    fleet.end()
  })
}
