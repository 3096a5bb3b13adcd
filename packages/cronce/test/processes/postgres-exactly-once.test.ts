import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Server, startPostgres } from '../../../../scripts/servers/index.ts'
import { collect, type Member, until } from './fleet.ts'
import { fireName, firstInstants } from './order.ts'
import { startPostgresFleet } from './postgres-fleet.ts'

/** In `npm test` a tenth of the fires, and each kind of fault once. */
const { CRONCE_LONG } = process.env
const [SCHEDULES, FIRES] = CRONCE_LONG === '1' ? [100, 10] : [20, 5]
const EVERY_MS = 1_000

let server: Server
before(async () => {
  server = await startPostgres()
})
after(() => server.stop())

test(`${SCHEDULES * FIRES} fires insert one row each: under kill -9, pauses beyond the lease, and restarts of the server`, async (context) => {
  const fleet = await startPostgresFleet(context, server)
  const { postgres } = fleet
  const order = { postgres, options: { lease: '2s' }, jobs: { insert: { does: 'insert' as const } } } as const
  let starts = 0
  const start = (): Member => fleet.start({ ...order, name: `p${++starts}` })
  const members = [start(), start(), start()]
  const gone: Member[] = []
  await Promise.all(members.map(({ started }) => started))
  // A transaction that lost its server is an error of the handler, which is tried again; that of a process that died is a crash.
  const retry = { attempts: 50, crashes: 100, backoff: { base: 50, cap: 200 } } as const
  const policy = {
    guarantee: 'exactly-once',
    overlap: 'queue-all',
    misfire: { late: 'all', limit: 1_000 },
    retry,
  } as const
  await fleet.client.schedules.createMany(
    Array.from({ length: SCHEDULES }, (_, number) => [
      `insert-${number}`,
      { job: 'insert', every: EVERY_MS, limit: FIRES, ...policy },
    ]),
  )
  const rows = async (): Promise<string[]> => {
    const found = await fleet.sql.query('select schedule, due_at from effects').catch(() => ({ rows: [] }))
    return found.rows.map(({ schedule, due_at }) => fireName({ schedule, dueAt: Number(due_at) }))
  }

  const countRows = async (): Promise<number> => {
    const found = await fleet.sql.query('select count(*) as count from effects').catch(() => null)
    return Number(found?.rows[0].count ?? 0)
  }

  const kill = async (): Promise<void> => {
    const place = await until('one is in the middle of a run', () => placeOfBusy(members, fleet.witnesses()))
    const victim = members[place]!
    await victim.kill()
    gone.push(victim)
    members[place] = start()
  }
  const pause = async (): Promise<void> => {
    const sleeper =
      members[await until('one is in the middle of a run', () => placeOfBusy(members, fleet.witnesses()))]!
    sleeper.signal('SIGSTOP')
    const id = await sleeper.started
    const others = members.filter((member) => member !== sleeper)
    await until('it is declared dead', () =>
      others.some(({ events }) => events.some((event) => event.type === 'instance.died' && event.instance === id)),
    )
    sleeper.signal('SIGCONT')
  }
  const restart = (signal: NodeJS.Signals) => async (): Promise<void> => {
    await server.halt(signal)
    await server.restart()
  }
  const all = [kill, restart('SIGKILL'), pause, restart('SIGINT'), kill, restart('SIGQUIT'), kill]
  const faults = CRONCE_LONG === '1' ? all : all.slice(0, 3)
  for (const [number, fault] of faults.entries()) {
    const enough = ((number + 1) * SCHEDULES * FIRES) / (faults.length + 2)
    await until('more is done', async () => (await countRows()) >= enough)
    await fault()
  }
  const schedules = await until('all is done', async () => {
    const { items } = await fleet.client.schedules.list({ prefix: 'insert-', limit: SCHEDULES })
    return items.every(({ state }) => state === 'finished') && items
  })

  const due = schedules
    .flatMap(({ name: schedule, createdAt }) =>
      firstInstants(createdAt, EVERY_MS, FIRES).map((dueAt) => fireName({ schedule, dueAt })),
    )
    .sort()
  assert.equal(due.length, SCHEDULES * FIRES)
  const fires = await collect(fleet.client.fires.all({ job: 'insert' }))
  const unhappy = fires.filter(({ state }) => state !== 'succeeded')
  assert.deepEqual(unhappy, [], 'all have succeeded')
  assert.deepEqual(fires.map(fireName).sort(), due, 'each is on record once')
  assert.deepEqual((await rows()).sort(), due, 'each has one row')
  const retried = fires.filter(({ attempt }) => attempt > 1).length
  assert.ok(retried > 0, 'no process was killed during a run')
  const events = members.concat(gone).flatMap((member) => member.events)
  const died = events.flatMap((event) => (event.type === 'instance.died' ? [event.by] : []))
  context.diagnostic(`declared dead by: ${died.join(', ')}`)
  context.diagnostic(`${retried} of ${fires.length} fires took more than one attempt`)
})

/** Where the process is that is in the middle of the most runs. */
function placeOfBusy(
  members: readonly Member[],
  lines: readonly { what: string; process: string; token: string; schedule: string }[],
): number | null {
  const underWay = members.map(({ name }) => {
    const own = lines.filter(({ process }) => process === name)
    const ended = new Set(
      own.filter(({ what }) => what === 'ended').map(({ schedule, token }) => `${schedule} ${token}`),
    )
    return own.filter(({ what, schedule, token }) => what === 'started' && !ended.has(`${schedule} ${token}`)).length
  })
  const most = Math.max(...underWay)
  return most > 0 ? underWay.indexOf(most) : null
}
