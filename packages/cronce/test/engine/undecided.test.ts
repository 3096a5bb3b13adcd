import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Definition } from '../../src/model/schedule.ts'
import { createFleet, type Fleet } from './fleet.ts'

const NOWHERE = 'Europe/Nowhere'

/** As somebody with newer time zone data would: there the zone exists. */
async function putElsewhere({ source }: Fleet, id: string): Promise<void> {
  const store = await source.open({ namespace: 'default', adopt: false, production: false, warn: () => {} })
  const { schedules, epoch } = await store.load([id])
  const known = schedules[0]!
  const trigger = { ...known.definition.trigger, tz: NOWHERE } as Definition['trigger']
  const definition = { ...known.definition, trigger }
  const state = { ...known, version: known.version + 1, revision: known.revision + 1, definition }
  const nothing = { notBefore: null, creates: [], updates: [], runs: [], limits: [], trim: null }
  const { results } = await store.apply([{ id, version: known.version, epoch, state, ...nothing }])
  assert.equal(results[0]?.kind, 'applied')
}

test('a schedule that nobody here can plan keeps no other from running, and is told once for each version', async () => {
  const fleet = await createFleet()
  await fleet.add((app) => app.job('good', '* * * * *', () => {}))
  await fleet.operator.schedules.create('bad', { job: 'good', cron: '* * * * *' })
  await fleet.advance('30s')
  await putElsewhere(fleet, 'bad')
  const before = fleet.handled.length
  await fleet.advance('5m')
  const after = fleet.handled.slice(before)
  assert.deepEqual([after.length, new Set(after.map(({ schedule }) => schedule))], [5, new Set(['good'])])
  assert.deepEqual(fleet.events('store.failed'), [])
  const [told, ...more] = fleet.events('schedule.failed')
  assert.deepEqual([told?.schedule, more], ['bad', []])
  assert.match(told!.error.message, new RegExp(NOWHERE))
  fleet.end()
})
