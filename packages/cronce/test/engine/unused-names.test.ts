import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleet } from './fleet.ts'

const { CRONCE_LONG } = process.env
const skip = CRONCE_LONG === '1' ? false : 'takes long: set CRONCE_LONG=1'

test('a lock that was not used for a day is deleted, one that is held is not, and tokens go on growing', async () => {
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

test('names beyond the limit of one sweep are deleted as well', { skip }, async () => {
  const fleet = await createFleet()
  const { app } = await fleet.add((app) => app.job('idle', {}, () => {}), { lease: '5m' })
  const known = async (prefix: string): Promise<number> =>
    (await fleet.operator.schedules.list({ prefix: `cronce:lock:${prefix}`, limit: 1_000 })).items.length
  for (let name = 0; name < 20; name++) await app.lock(`z${name}`, () => {})
  await fleet.advance('20h')
  // In use when those of `z` may go, and before them in every list.
  for (let name = 0; name < 10_050; name++) await app.lock(`a${name}`, () => {})
  assert.equal(await known('z'), 20)
  await fleet.advance('12h')
  assert.deepEqual([await known('z'), await known('a')], [0, 1_000])
  fleet.end()
})
