import assert from 'node:assert/strict'
import { test } from 'node:test'
import { collect, startFleet, until } from './fleet.ts'
import { fireName, firstInstants, type Line } from './order.ts'

const FIRES = 4

/** Processes are called `HOST/LETTER`. */
const hostOf = ({ process }: Line): string => process.split('-')[0]!

test('processes of three hosts run each second of a job once per host, and a killed one is replaced by its neighbour', async (context) => {
  const fleet = await startFleet(context)
  const jobs = {
    sweep: {
      does: 'note' as const,
      every: '1s' as const,
      limit: FIRES,
      hosts: 'each' as const,
      misfire: 'all' as const,
    },
    backup: { does: 'note' as const, every: '1s' as const, limit: FIRES, on: { role: 'db' }, misfire: 'all' as const },
  }
  const start = (host: string, letter: string) =>
    fleet.start({ name: `${host}-${letter}`, jobs, options: { labels: { host, role: host === 'h1' ? 'db' : 'web' } } })
  const members = ['h1', 'h2', 'h3'].flatMap((host) => [start(host, 'a'), start(host, 'b')])
  await Promise.all(members.map(({ started }) => started))
  await members[0]!.kill()

  const schedules = await until('all have fired', async () => {
    const { items } = await fleet.client.schedules.list()
    return items.length === 4 && items.every(({ state }) => state === 'finished') && items
  })

  assert.deepEqual(schedules.map(({ name }) => name).sort(), ['backup', 'sweep@h1', 'sweep@h2', 'sweep@h3'])
  const due = schedules
    .flatMap(({ name: schedule, createdAt }) =>
      firstInstants(createdAt, 1_000, FIRES).map((dueAt) => fireName({ schedule, dueAt })),
    )
    .sort()
  const ended = fleet.witnesses().filter(({ what }) => what === 'ended')
  assert.deepEqual([...new Set(ended.map(fireName))].sort(), due, 'each was run')
  for (const line of ended) {
    if (line.schedule === 'backup') assert.equal(hostOf(line), 'h1', 'only h1 has role=db')
    else assert.equal(line.schedule, `sweep@${hostOf(line)}`)
  }
  const fires = await collect(fleet.client.fires.all())
  assert.deepEqual(fires.map(fireName).sort(), due, 'each is on record once')
})
