import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { collect, type Fleet, type Member, startFleet, until } from './fleet.ts'
import { fireName, firstInstants } from './order.ts'

const SCHEDULES = 20
const FIRES = 10
const { CRONCE_LONG } = process.env
const KILLS = CRONCE_LONG === '1' ? 4 : 2

test('200 fires insert one row each into the table of the user, however often processes are killed', async (context) => {
  const fleet = await startFleet(context)
  const user = new DatabaseSync(fleet.file, { timeout: 5_000 })
  context.after(() => user.close())
  user.exec('create table effects (schedule text not null, due_at integer not null)')
  const rows = (): string[] =>
    user
      .prepare('select schedule, due_at from effects')
      .all()
      .map(({ schedule, due_at }) => fireName({ schedule: String(schedule), dueAt: Number(due_at) }))
  const start = (number: number): Member =>
    fleet.start({ name: `p${number}`, jobs: { insert: { does: 'insert', guarantee: 'exactly-once' } } })
  let members = [start(0), start(1), start(2)]
  await Promise.all(members.map(({ started }) => started))
  const names = Array.from({ length: SCHEDULES }, (_, number) => `insert-${number}`)
  const policy = {
    guarantee: 'exactly-once',
    overlap: 'queue-all',
    misfire: { late: 'all', limit: 1_000 },
    retry: { crashes: 100 },
  } as const
  await fleet.client.schedules.createMany(
    names.map((name) => [name, { job: 'insert', every: '100ms', limit: FIRES, ...policy }]),
  )

  for (let kills = 0; kills < KILLS; kills++) {
    const enough = (kills + 1) * ((SCHEDULES * FIRES) / (KILLS + 2))
    await until('more is done', () => rows().length >= enough)
    const victim = await until('one is in the middle of several runs', () =>
      members.find(({ name }) => underWay(fleet, name) > 1),
    )
    await victim.kill()
    members = members.map((member) => (member === victim ? start(3 + kills) : member))
  }
  const schedules = await until('all is done', async () => {
    const { items } = await fleet.client.schedules.list({ prefix: 'insert-', limit: SCHEDULES })
    return items.every(({ state }) => state === 'finished') && items
  })

  const due = schedules
    .flatMap(({ name: schedule, createdAt }) =>
      firstInstants(createdAt, 100, FIRES).map((dueAt) => fireName({ schedule, dueAt })),
    )
    .sort()
  assert.equal(due.length, SCHEDULES * FIRES)
  assert.deepEqual(rows().sort(), due)
  const fires = await collect(fleet.client.fires.all({ job: 'insert' }))
  assert.deepEqual(fires.map(fireName).sort(), due)
  assert.deepEqual(new Set(fires.map(({ state }) => state)), new Set(['succeeded']))
  const crashed = await collect(fleet.client.runs.all({ job: 'insert', outcome: 'abandoned' }))
  assert.ok(crashed.length > 0, 'the kills hit runs')
})

/** Runs that a process has begun and not ended, by its own witness. */
function underWay(fleet: Fleet, name: string): number {
  const lines = fleet.witnesses().filter(({ process }) => process === name)
  return 2 * lines.filter(({ what }) => what === 'started').length - lines.length
}
