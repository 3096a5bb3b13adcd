import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Server, startPostgres } from '../../../../scripts/servers/index.ts'
import { isNewerToken } from '../../src/model/token.ts'
import { collect, type Member, until } from './fleet.ts'
import { type PostgresFleet, startPostgresFleet } from './postgres-fleet.ts'

const { CRONCE_LONG } = process.env
const skip = CRONCE_LONG === '1' ? false : 'takes long: set CRONCE_LONG=1'

let server: Server
before(async () => {
  server = await startPostgres()
})
after(() => server.stop())

const HOLD = { hold: { does: 'hold' as const } }

/** A triggered run that holds, the process it is on, and the others. */
async function hold(fleet: PostgresFleet, members: readonly Member[], schedule = 'held') {
  await fleet.client.schedules.create(schedule, { job: 'hold' })
  await fleet.client.schedules.trigger(schedule)
  const line = await until('it runs', () => fleet.witnesses().find((line) => line.schedule === schedule))
  const holder = members.find(({ name }) => name === line.process)!
  return { line, holder, others: members.filter((member) => member !== holder) }
}

async function diedBy(others: readonly Member[], id: string): Promise<string> {
  const died = await until('a survivor declares it dead', () =>
    others.flatMap(({ events }) => events).find((event) => event.type === 'instance.died' && event.instance === id),
  )
  return died.type === 'instance.died' ? died.by : ''
}

async function secondAttempt(fleet: PostgresFleet, schedule: string) {
  const runs = await until('it runs again', async () => {
    const all = await collect(fleet.client.runs.all({ schedule }))
    return all.length > 1 && all.sort((a, b) => a.attempt - b.attempt)
  })
  return [runs[0]!, runs[1]!] as const
}

test('the run of a killed process is taken over because its session has ended, long before its lease expires', async (context) => {
  const fleet = await startPostgresFleet(context, server)
  // A lease that cannot expire within this test, so no takeover is due to expiry.
  const order = { postgres: fleet.postgres, options: { lease: '10m' }, jobs: HOLD } as const
  const members = ['a', 'b', 'c'].map((name) => fleet.start({ ...order, name }))
  await Promise.all(members.map(({ started }) => started))
  const { holder, others } = await hold(fleet, members)
  const id = await holder.started
  await watched(fleet)

  const killedAt = performance.now()
  await holder.kill()

  assert.equal(await diedBy(others, id), 'probe')
  const diedMs = performance.now() - killedAt
  const [first, second] = await secondAttempt(fleet, 'held')
  context.diagnostic(
    `declared dead ${diedMs.toFixed(0)} ms after kill -9, run again after ${(performance.now() - killedAt).toFixed(0)} ms`,
  )
  assert.deepEqual([first.instance, first.state, first.reason], [id, 'abandoned', 'crashed'])
  assert.deepEqual([second.attempt, second.state], [2, 'running'])
  assert.ok(isNewerToken(second.token, first.token))
  fleet.openGate()
  await until('it has succeeded', async () => {
    const [fire] = await collect(fleet.client.fires.all({ schedule: 'held' }))
    return fire?.state === 'succeeded'
  })
})

test('behind PgBouncer in transaction mode there are no sessions, and the lease decides', {
  skip,
}, async (context) => {
  const fleet = await startPostgresFleet(context, server, { poolSize: 2 })
  const order = { postgres: fleet.postgres, options: { lease: '2s' }, jobs: HOLD } as const
  const members = ['a', 'b'].map((name) => fleet.start({ ...order, name }))
  await Promise.all(members.map(({ started }) => started))
  const { holder, others } = await hold(fleet, members)
  const id = await holder.started
  await holder.kill()
  assert.equal(await diedBy(others, id), 'lease')
  const [first, second] = await secondAttempt(fleet, 'held')
  assert.deepEqual([first.state, second.attempt], ['abandoned', 2])
  fleet.openGate()
})

test('a process that is asked to stop hands its runs back, and they go on elsewhere at once', async (context) => {
  const fleet = await startPostgresFleet(context, server)
  // No instance would look by itself during this test: the others must be woken for a run that is handed back.
  const order = { postgres: fleet.postgres, options: { lease: '10m', drain: '200ms' }, jobs: HOLD } as const
  const members = ['a', 'b'].map((name) => fleet.start({ ...order, name }))
  await Promise.all(members.map(({ started }) => started))
  const { holder, others } = await hold(fleet, members)
  holder.signal('SIGTERM')
  const { signal } = await holder.ended
  assert.equal(signal, 'SIGTERM')
  await others[0]!.event('run.started', ({ schedule }) => schedule === 'held')
  const [first, second] = await secondAttempt(fleet, 'held')
  assert.deepEqual([first.state, first.reason], ['cancelled', 'handed-back'])
  assert.deepEqual([second.instance, second.state], [await others[0]!.started, 'running'])
  fleet.openGate()
})

test('a long run is watched with at most 3 connections for each process, and vacuum goes on behind it', {
  skip,
}, async (context) => {
  const fleet = await startPostgresFleet(context, server)
  const start = (name: string) => {
    const url = new URL(fleet.postgres)
    url.searchParams.set('application_name', name)
    return fleet.start({ name, postgres: url.href, jobs: { ...HOLD, beat: { does: 'note', every: '100ms' } } })
  }
  const members = ['a', 'b', 'c'].map(start)
  await Promise.all(members.map(({ started }) => started))
  await hold(fleet, members)
  await watched(fleet)

  let most = 0
  for (let turn = 0; turn < 3; turn++) {
    const { rows } = await fleet.sql.query('select txid_current()::text as now')
    await until('no snapshot needs the old rows', async () => {
      const backends = await fleet.sql.query(
        `select application_name as name, count(*)::int as connections,
                bool_or(backend_xmin is not null and backend_xmin::text::bigint <= $1::text::bigint % 4294967296) as old
           from pg_stat_activity where datname = current_database() and application_name in ('a', 'b', 'c') group by 1`,
        [rows[0].now],
      )
      most = Math.max(most, ...backends.rows.map(({ connections }) => connections))
      return backends.rows.every(({ old }) => !old)
    })
  }
  assert.ok(most > 0 && most <= 3, `${most} connections`)
  fleet.openGate()
})

/** Until one session waits for the lock of another. */
async function watched(fleet: PostgresFleet): Promise<void> {
  await until('it is watched', async () => {
    const { rows } = await fleet.sql.query(
      `select 1 from pg_locks where locktype = 'advisory' and not granted
          and database = (select oid from pg_database where datname = current_database())`,
    )
    return rows.length > 0
  })
}
