import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet } from './fleet.ts'

test('a lock that nobody wanted for a day is forgotten, one that is held is not, and tokens go on growing', async () => {
  const fleet = await createFleet()
  const { app } = await fleet.add((app) => app.job('idle', {}, () => {}), { lease: '5m' })
  const tokens: bigint[] = []
  const names = Array.from({ length: 210 }, (_, order) => `order:${order}`)
  for (const name of names) await app.lock(name, ({ token }) => void tokens.push(token))
  const held = Promise.withResolvers<void>()
  const holding = app.lock('held', () => held.promise)
  await fleet.advance('1m')
  const known = async (): Promise<number> =>
    (await fleet.operator.schedules.list({ prefix: 'cronce:lock:', limit: 1_000 })).items.length
  assert.equal(await known(), names.length + 1)
  await fleet.advance('20h')
  assert.equal(await known(), names.length + 1)
  await fleet.advance('8h')
  assert.equal(await known(), 1)
  const again = await app.lock(names[0]!, ({ token }) => token)
  assert.ok(tokens.every((token) => again > token))
  held.resolve()
  await holding
  fleet.end()
})
