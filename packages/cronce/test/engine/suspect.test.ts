import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet, type Declare } from './fleet.ts'

test('a fire whose instances died twice begins as soon as one of the others is idle', async () => {
  const fleet = await createFleet()
  let crashes = 0
  const declare: Declare = (app, member) => {
    app.job('poison', '0 0 * * *', async () => {
      if (crashes++ >= 2) return
      member.crash()
      await member.delivered()
    })
    // Everybody is busy for most of every second, and idle for the rest.
    for (let job = 0; job < 8; job++) app.job(`busy-${job}`, '* * * * * *', () => member.clock.sleep(900))
  }
  await fleet.addMany(5, declare, { lease: '2s' })
  await fleet.advance('30s')
  const poison = fleet.handled.filter(({ schedule }) => schedule === 'poison')
  assert.deepEqual(
    poison.map(({ attempt }) => attempt),
    [1, 2, 3],
  )
  fleet.end()
})
