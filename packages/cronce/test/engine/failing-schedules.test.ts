import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Definition } from '../../src/model/schedule.ts'
import { createFleet, type Declare, type Fleet } from './fleet.ts'

const NOWHERE = 'Europe/Nowhere'

/** Like an instance with newer time zone data, where the zone exists. */
async function putElsewhere({ source }: Fleet, ...ids: readonly string[]): Promise<void> {
  const store = await source.open({ namespace: 'default', adopt: false, production: false, warn: () => {} })
  const { schedules, epoch } = await store.load(ids)
  const changes = schedules.map((known) => {
    const trigger = { ...known.definition.trigger, tz: NOWHERE } as Definition['trigger']
    const definition = { ...known.definition, trigger }
    const state = { ...known, version: known.version + 1, revision: known.revision + 1, definition }
    const nothing = { notBefore: null, creates: [], reopens: [], history: [], rewrites: [], limits: [], trim: null }
    return { id: known.id, version: known.version, epoch, state, ...nothing }
  })
  const { results } = await store.apply(changes)
  assert.ok(results.length === ids.length && results.every(({ kind }) => kind === 'applied'))
}

test('a schedule that no instance here can plan delays no other, and is reported once for each version', async () => {
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

test('however many of them there are, later schedules run', async () => {
  const fleet = await createFleet()
  await fleet.add((app) => app.job('good', '* * * * *', () => {}))
  const many = Array.from({ length: 600 }, (_, number) => `bad-${number}`)
  await fleet.operator.schedules.createMany(many.map((id) => [id, { job: 'good', cron: '*/2 * * * *' }]))
  await fleet.advance('70s')
  await putElsewhere(fleet, ...many)
  await fleet.advance('2m')
  const before = fleet.handled.length
  await fleet.advance('5m')
  const after = fleet.handled.slice(before)
  assert.deepEqual([after.length, new Set(after.map(({ schedule }) => schedule))], [5, new Set(['good'])])
  for (const member of fleet.members) member.crash()
})

/** Everything about it is later than this runtime: its zone, and what was due by it. */
async function fleetBehind() {
  const fleet = await createFleet()
  const declare: Declare = (app, { clock }) =>
    app
      .job('good', '* * * * *', () => clock.sleep(1_000))
      .job('bad', { cron: '* * * * *', jitter: '5s', misfire: 'all' }, () => clock.sleep(20_000))
  const first = await fleet.add(declare, { deployment: 'v2' })
  await fleet.advance('70s')
  return { fleet, first, declare }
}

const good = (fleet: Fleet): number => fleet.handled.filter(({ schedule }) => schedule === 'good').length

test('a release that does not know the zone of the one before it starts, and what it declares counts', async () => {
  const { fleet, first, declare } = await fleetBehind()
  await putElsewhere(fleet, 'bad')
  first.crash()
  await fleet.advance('5m')
  await fleet.add(declare, { deployment: 'v1' })
  await fleet.advance('5m')
  const { trigger } = await fleet.operator.schedules.get('bad')
  assert.equal(JSON.stringify(trigger).includes(NOWHERE), false)
  const before = fleet.handled.length
  await fleet.advance('2m')
  assert.deepEqual(new Set(fleet.handled.slice(before).map(({ schedule }) => schedule)), new Set(['good', 'bad']))
  for (const member of fleet.members) member.crash()
})

test('runs of a schedule that no instance here can plan are settled and recovered like all others', async () => {
  const { fleet, first, declare } = await fleetBehind()
  await fleet.add(declare, { deployment: 'v2' })
  await putElsewhere(fleet, 'bad')
  await fleet.advance('25s')
  const { items } = await fleet.operator.runs.list({ schedule: 'bad' })
  assert.ok(items.length > 0 && items.every(({ state }) => state === 'succeeded'), JSON.stringify(items))
  first.crash()
  await fleet.advance('1m')
  const before = good(fleet)
  await fleet.advance('3m')
  assert.equal(good(fleet) - before, 3)
  assert.deepEqual(fleet.events('store.failed'), [])
  await fleet.operator.schedules.pause('bad')
  for (const member of fleet.members) member.crash()
})
