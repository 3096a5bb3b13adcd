import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { watchedFleet } from './fleet.ts'

describe('failing', () => {
  test('fires after three failed fires in a row, once, and resolves with the next success', async () => {
    const fleet = await watchedFleet()
    let isBroken = true
    await fleet.watched((app) =>
      app.job('report', '* * * * *', () => {
        if (isBroken) throw new Error('password=hunter2')
      }),
    )
    await fleet.advance('30m')
    assert.deepEqual(fleet.fired(), ['failing'])
    assert.equal(fleet.messages.length, 1)
    assert.match(fleet.messages[0]!.text, /^- report: \d fires in a row failed/)
    assert.equal(fleet.messages[0]!.command, 'cronce show report')
    assert.doesNotMatch(JSON.stringify(fleet.messages), /hunter2/)
    isBroken = false
    await fleet.advance('10m')
    assert.deepEqual(fleet.resolved(), ['failing'])
    assert.equal(fleet.messages.length, 2)
    fleet.end()
  })

  test('does not fire for a job that fails now and then', async () => {
    const fleet = await watchedFleet()
    let count = 0
    await fleet.watched((app) =>
      app.job('report', '* * * * *', () => {
        if (count++ % 3 !== 0) throw new Error('no')
      }),
    )
    await fleet.advance('30m')
    assert.deepEqual(fleet.messages, [])
    fleet.end()
  })
})
