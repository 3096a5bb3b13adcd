import assert from 'node:assert/strict'
import { test } from 'node:test'
import { collect, startFleet, until } from './fleet.ts'
import { fireName, firstInstants } from './order.ts'

const SCHEDULES = 60
const SECONDS = 3

test('four processes on one file run every second of 60 schedules once', async (context) => {
  const fleet = await startFleet(context)
  const jobs = { beat: { does: 'note' as const } }
  const members = ['a', 'b', 'c', 'd'].map((name) => fleet.start({ name, jobs }))
  await Promise.all(members.map(({ started }) => started))
  const names = Array.from({ length: SCHEDULES }, (_, number) => `beat-${number}`)
  await fleet.client.schedules.createMany(
    names.map((name) => [
      name,
      { job: 'beat', every: '1s', limit: SECONDS, overlap: 'queue-all', misfire: { late: 'all', limit: 1_000 } },
    ]),
  )

  const schedules = await until('all have fired', async () => {
    const { items } = await fleet.client.schedules.list({ prefix: 'beat-', limit: SCHEDULES })
    return items.every(({ state }) => state === 'finished') && items
  })

  const due = schedules
    .flatMap(({ name: schedule, createdAt }) =>
      firstInstants(createdAt, 1_000, SECONDS).map((dueAt) => fireName({ schedule, dueAt })),
    )
    .sort()
  assert.equal(due.length, SCHEDULES * SECONDS)
  const lines = fleet.witnesses()
  const started = lines.filter(({ what }) => what === 'started')
  assert.deepEqual(started.map(fireName).sort(), due, 'each was started once')
  assert.deepEqual(
    lines
      .filter(({ what }) => what === 'ended')
      .map(fireName)
      .sort(),
    due,
    'and ended once',
  )
  const fires = await collect(fleet.client.fires.all({ job: 'beat' }))
  assert.deepEqual(fires.map(fireName).sort(), due, 'each is on record once')
  assert.deepEqual(new Set(fires.map(({ state, attempt }) => `${state} ${attempt}`)), new Set(['succeeded 1']))
  assert.ok(new Set(started.map(({ process }) => process)).size > 1, 'more than one process took part')
})
